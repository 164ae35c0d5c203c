// SPDX-License-Identifier: MIT
//
// States merged across the ranks of an MPI program.
// Layer 6 (interop): needs an MPI of version 3; the umbrella does not include it.
//
// A state travels as its sizes and numbers (core/serialise.hpp), so that one operation serves every size: central_moments,
// comoments and moment_tensor of any order and width, logsumexp_accumulator, softmax_mean.
#pragma once

#include <cumulus/core/serialise.hpp>
#include <cumulus/detail/core/require.hpp>
#include <algorithm>
#include <limits>
#include <mpi.h>
#include <utility>
#include <vector>

namespace cumulus::detail {

/// Where an MPI call returns its errors at all (MPI_ERRORS_RETURN), refuses with the text of it.
inline void require_mpi_success(const char* call, int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;  // MPI_Error_string ends the text with a 0 as well
  MPI_Error_string(code, text, &length);
  refuse({call, ": ", text});
}

/// The MPI_User_function of `into = from + into`, the order that MPI gives to what does not commute.
template <class State>
void merge_mpi_states(void* from, void* into, int* count, MPI_Datatype* type) {
  int size = 0;
  MPI_Type_size(*type, &size);
  auto* a = static_cast<const std::byte*>(from);
  auto* b = static_cast<std::byte*>(into);
  for (int i = 0; i < *count; ++i, a += size, b += size) {
    State sum = read_state<State>(a);
    sum += read_state<State>(b);
    write_state(sum, b);
  }
}

/// Refuses, on every rank, sizes that are not the same on all of them: MPI would read past the end of a message.
template <class State>
void require_same_mpi_sizes(MPI_Comm communicator, const State& state) {
  if constexpr (!std::is_trivially_copyable_v<State>) {  // else they are in the type
    std::vector<std::int64_t> ends;
    for (const index_t size : state.sizes())
      ends.push_back(size), ends.push_back(-std::int64_t(size));
    require_mpi_success("MPI_Allreduce",
                        MPI_Allreduce(MPI_IN_PLACE, ends.data(), static_cast<int>(ends.size()),
                                      MPI_INT64_T, MPI_MAX, communicator));
    for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
      if (ends[i] != -ends[i + 1])
        refuse(
            {"mpi: a state of size ", -ends[i + 1], " on one rank, of ", ends[i], " on another"});
    }
  }
}

}  // namespace cumulus::detail

namespace cumulus::mpi {

/// The MPI_Datatype and the MPI_Op of states with the sizes of one of them, freed at the end of their life. To be made after
/// MPI_Init and to end before MPI_Finalize.
///
/// Shape    buffers hold states as write_state writes them, state_bytes(state) each: for MPI_Reduce, MPI_Allreduce, MPI_Scan,
///          their nonblocking forms, or MPI_Send.
/// Edges    all states of a message have the sizes of `like`; those of other sizes are refused by pack().
/// Error    of the merge; MPI chooses the tree, so the last bits may depend on the number of ranks.
template <serialisable State>
class reduction {
 public:
  /// Makes the datatype and the operation for states with the sizes of `like`.
  explicit reduction(const State& like = State()) : sizes_(like.sizes()) {
    const std::size_t bytes = detail::state_bytes(like);
    if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      detail::refuse({"mpi::reduction: a state of ", bytes, " bytes, an MPI datatype counts to ",
                      std::numeric_limits<int>::max()});
    bytes_ = static_cast<int>(bytes);
    detail::require_mpi_success("MPI_Type_contiguous",
                                MPI_Type_contiguous(bytes_, MPI_BYTE, &type_));
    detail::require_mpi_success("MPI_Type_commit", MPI_Type_commit(&type_));
    detail::require_mpi_success("MPI_Op_create",
                                MPI_Op_create(&detail::merge_mpi_states<State>, 1, &merge_));
  }
  reduction(const reduction&) = delete;
  reduction& operator=(const reduction&) = delete;
  ~reduction() {
    if (merge_ != MPI_OP_NULL) MPI_Op_free(&merge_);
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }

  /// The datatype of one state.
  [[nodiscard]] MPI_Datatype datatype() const noexcept { return type_; }
  /// The operation that merges two states.
  [[nodiscard]] MPI_Op operation() const noexcept { return merge_; }

  /// A message of one state, and the state of a message.
  [[nodiscard]] std::vector<std::byte> pack(const State& state) const {
    const auto sizes = state.sizes();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] != sizes_[i])
        detail::refuse(
            {"mpi::reduction: made for a size of ", sizes_[i], ", the state has ", sizes[i]});
    }
    std::vector<std::byte> message(static_cast<std::size_t>(bytes_));
    detail::write_state(state, message.data());
    return message;
  }
  /// The state in a message that pack() made.
  [[nodiscard]] static State unpack(const std::vector<std::byte>& message) {
    return detail::read_state<State>(message.data());
  }

 private:
  decltype(std::declval<const State&>().sizes()) sizes_;
  int bytes_ = 0;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op merge_ = MPI_OP_NULL;
};

/// The sum of every rank's state, on every rank: a collective call, to be made by all ranks of the communicator.
///
/// Edges   states of unequal sizes are refused on every rank.
/// Cost    one MPI_Allreduce of state_bytes(state), and a small one before it where sizes are known only at run time.
template <serialisable State>
[[nodiscard]] State all_reduce(MPI_Comm communicator, const State& state) {
  detail::require_same_mpi_sizes(communicator, state);
  const reduction<State> r(state);
  std::vector<std::byte> message = r.pack(state);
  detail::require_mpi_success(
      "MPI_Allreduce",
      MPI_Allreduce(MPI_IN_PLACE, message.data(), 1, r.datatype(), r.operation(), communicator));
  return r.unpack(message);
}

/// The same on rank `root` alone; the others get their own state back.
template <serialisable State>
[[nodiscard]] State reduce(MPI_Comm communicator, const State& state, int root = 0) {
  detail::require_same_mpi_sizes(communicator, state);
  const reduction<State> r(state);
  const std::vector<std::byte> message = r.pack(state);
  std::vector<std::byte> sum = message;
  detail::require_mpi_success("MPI_Reduce", MPI_Reduce(message.data(), sum.data(), 1, r.datatype(),
                                                       r.operation(), root, communicator));
  int rank = 0;
  detail::require_mpi_success("MPI_Comm_rank", MPI_Comm_rank(communicator, &rank));
  return rank == root ? r.unpack(sum) : state;
}

}  // namespace cumulus::mpi
