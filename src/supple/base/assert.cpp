// SPDX-License-Identifier: Apache-2.0
#include "supple/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace supple {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "supple: assertion failed: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace supple
