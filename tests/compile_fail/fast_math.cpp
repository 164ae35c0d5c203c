// expect: error: .*cumulus needs IEEE arithmetic: build without -ffast-math
// flags: -ffast-math
#include <cumulus/exact/softmax.hpp>

// Compensated sums, and the vector exponential's rounding by an addition, are nothing under -ffast-math.
int main() {}
