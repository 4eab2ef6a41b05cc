// SPDX-License-Identifier: Apache-2.0
// Deterministic parallel loops: the same bits come out for any number of threads.
//
// Work is cut into chunks whose borders depend only on the size of the loop, never on the thread count. A loop body
// writes to its own place; a sum adds the chunks' partial sums in chunk order.
#pragma once

#include "supple/base/types.h"

#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

namespace supple {

/// Number of threads that parallel loops may use; 0 asks for all the machine has. Default: all.
void set_thread_count(int count);
int thread_count();

namespace detail {
/// A reference to a callable `void(std::int64_t chunk)`; keeps the threading library out of this header.
struct ChunkBody {
  const void* object;
  void (*call)(const void*, std::int64_t);
};
void run_chunks(std::int64_t chunks, ChunkBody body);
}  // namespace detail

/// Calls body(begin, end) for consecutive ranges of `grain` indices that cover [0, count).
template <class Body>
void parallel_ranges(std::int64_t count, std::int64_t grain, const Body& body) {
  if (count <= 0) return;
  const std::int64_t chunks = (count + grain - 1) / grain;
  if (chunks == 1) {
    body(std::int64_t{0}, count);
    return;
  }
  const auto run = [&](std::int64_t chunk) { body(chunk * grain, std::min(count, (chunk + 1) * grain)); };
  using Run = decltype(run);
  detail::run_chunks(chunks, {std::addressof(run), [](const void* object, std::int64_t chunk) {
                                (*static_cast<const std::remove_reference_t<Run>*>(object))(chunk);
                              }});
}

/// Calls body(i) for every i in [0, count).
template <class Body>
void parallel_for(std::int64_t count, std::int64_t grain, const Body& body) {
  parallel_ranges(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  });
}

/// Σ_chunks sum(begin, end), added in chunk order: identical for any thread count.
template <class Sum>
double parallel_sum(std::int64_t count, std::int64_t grain, const Sum& sum) {
  if (count <= 0) return 0.0;
  if (count <= grain) return sum(std::int64_t{0}, count);
  std::vector<double> partial(to_size((count + grain - 1) / grain));
  parallel_ranges(count, grain,
                  [&](std::int64_t begin, std::int64_t end) { partial[to_size(begin / grain)] = sum(begin, end); });
  double total = 0.0;
  for (const double value : partial) total += value;
  return total;
}

}  // namespace supple
