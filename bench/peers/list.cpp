// SPDX-License-Identifier: MIT
#include "peers/peer.hpp"

#include <vector>

namespace bench::peer_list {
#define PEER(name) const peer* name();
#include "peer_names.inc"
#undef PEER
}  // namespace bench::peer_list

std::span<const bench::peer* const> bench::peers() {
  static const std::vector<const peer*> present = [] {
    std::vector<const peer*> all;
#define PEER(name) all.push_back(peer_list::name());
#include "peer_names.inc"
#undef PEER
    std::erase(all, nullptr);
    return all;
  }();
  return present;
}
