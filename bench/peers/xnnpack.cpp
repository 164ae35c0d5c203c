// SPDX-License-Identifier: MIT
//
// XNNPACK's softmax operator, float, no thread pool; set up once for each shape and pair of places.
#include "peers/peer.hpp"

#include <xnnpack.h>

#include <cstdio>
#include <cstdlib>

namespace {

void check(xnn_status status) {
  if (status == xnn_status_success) return;
  std::fprintf(stderr, "XNNPACK: status %d\n", static_cast<int>(status));
  std::exit(1);
}

void softmax_rows(const float* x, float* out, std::size_t rows, std::size_t n) {
  static struct {
    const float* x = nullptr;
    float* out = nullptr;
    std::size_t rows = 0, n = 0;
    xnn_operator_t softmax = nullptr;
  } now;
  if (now.n != n) {
    if (now.softmax == nullptr) check(xnn_initialize(nullptr));
    if (now.softmax != nullptr) check(xnn_delete_operator(now.softmax));
    check(xnn_create_softmax_nc_f32(n, n, n, 0, &now.softmax));
    now.x = nullptr;
  }
  if (now.x != x || now.out != out || now.rows != rows || now.n != n) {
    check(xnn_setup_softmax_nc_f32(now.softmax, rows, x, out, nullptr));
    now.x = x, now.out = out, now.rows = rows, now.n = n;
  }
  check(xnn_run_operator(now.softmax, nullptr));
}

void softmax(const float* x, float* out, std::size_t n) { softmax_rows(x, out, 1, n); }

}  // namespace

namespace bench::peer_list {
CUMULUS_PEER_EXPORT const peer* xnnpack() {
  static constexpr peer all{"XNNPACK-" CUMULUS_XNNPACK_VERSION,
                            {.softmax = softmax, .softmax_rows = softmax_rows}};
  return &all;
}
}  // namespace bench::peer_list
