// SPDX-License-Identifier: Apache-2.0
#include "supple/base/parallel.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <memory>
#include <thread>

namespace supple {
namespace {

int hardware_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

int& requested_threads() {
  static int count = hardware_threads();
  return count;
}

std::unique_ptr<tbb::global_control>& thread_limit() {
  static std::unique_ptr<tbb::global_control> limit;
  return limit;
}

}  // namespace

void set_thread_count(int count) {
  requested_threads() = count > 0 ? count : hardware_threads();
  // The old limit must go first: the smallest of all living limits is the one in force.
  thread_limit().reset();
  thread_limit() =
      std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, to_size(requested_threads()));
}

int thread_count() { return requested_threads(); }

namespace detail {

void run_chunks(std::int64_t chunks, ChunkBody body) {
  if (thread_count() == 1) {
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) body.call(body.object, chunk);
    return;
  }
  tbb::parallel_for(std::int64_t{0}, chunks, [&](std::int64_t chunk) { body.call(body.object, chunk); });
}

}  // namespace detail
}  // namespace supple
