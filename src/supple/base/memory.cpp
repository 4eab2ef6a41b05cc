// SPDX-License-Identifier: Apache-2.0
#include "supple/base/memory.h"

#include <fmt/format.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace supple {

double memory_limit() {
  double limit = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE));
  for (const auto kind : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit set{};
    if (::getrlimit(kind, &set) == 0 && set.rlim_cur != RLIM_INFINITY)
      limit = std::min(limit, static_cast<double>(set.rlim_cur));
  }
  return limit;
}

Status check_memory(double bytes, std::string_view what, std::string_view way_out) {
  constexpr double gigabyte = 1e9;
  const double limit = memory_limit();
  if (bytes <= limit) return {};
  return input_error(fmt::format("{} take {:.3g} GB of memory, and there are {:.3g}; {}", what, bytes / gigabyte,
                                 limit / gigabyte, way_out));
}

}  // namespace supple
