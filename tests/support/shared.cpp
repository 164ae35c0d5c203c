// SPDX-License-Identifier: MIT
//
// No code: the target test_shared owns the precompiled header of the tests, and a target needs a source.
