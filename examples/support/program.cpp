// SPDX-License-Identifier: MIT
#include "support/program.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "support/input_error.hpp"

namespace support {

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return;
  const std::string reason = std::strerror(errno);
  throw input_error("<stdout>", {}, "cannot be written: " + reason, "check where the output goes");
}

int finish(const std::string& name, const std::function<std::string()>& run) {
  try {
    print(run());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), one_line(error.what()).c_str());
    return 2;
  }
}

int finish(const options& command_line, int argc, const char* const* argv,
           const std::function<std::string()>& run) {
  return finish(command_line.program(), [&] {
    const std::string answer = command_line.parse(argc, argv);
    return answer.empty() ? run() : answer;
  });
}

}  // namespace support
