// expect: error: (use of deleted function|call to deleted).*cumulus: the first argument holds bool or characters, which are no numbers
#include <cumulus/exact/softmax.hpp>
#include <string>

// The characters of a text are no numbers.
void call(const std::string& x) { cumulus::softmax(x); }
