# SPDX-License-Identifier: MIT
#
# Writes the .npy files beside it, each by numpy itself: python3 make_npy.py
import numpy as np

x = np.array([-1.5, 0.25, 3.0, 65504.0, 2.0**-24])  # exact in half precision, the last one subnormal
table = np.array([[1, 10], [2, 20], [3, 30]])
np.save("little_f2.npy", x.astype("<f2"))
np.save("big_f2.npy", x.astype(">f2"))
np.save("little_f4.npy", x.astype("<f4"))
np.save("big_f8.npy", x.astype(">f8"))
np.save("not_finite_f2.npy", np.array([np.inf, -np.inf, np.nan], "<f2"))
np.save("i1.npy", np.array([-128, 127], "i1"))
np.save("big_i8.npy", np.array([-(2**62), 2**62], ">i8"))
np.save("u8.npy", np.array([0, 2**63], "<u8"))
np.save("bool.npy", np.array([True, False, True]))
np.save("table_c.npy", table.astype("<f8"))
np.save("table_fortran.npy", np.asfortranarray(table.astype("<i4")))
np.save("scalar.npy", np.array(2.5))
np.save("complex.npy", np.array([1j]))
np.save("text.npy", np.array(["word"]))
np.save("cube.npy", np.zeros((2, 2, 2)))
np.save("empty.npy", np.zeros(0))
for version in [(2, 0), (3, 0)]:
    with open(f"version{version[0]}.npy", "wb") as f:
        np.lib.format.write_array(f, x, version)
