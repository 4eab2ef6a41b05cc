// SPDX-License-Identifier: Apache-2.0
#include "fuzz/entries.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  supple::fuzz::quasistatic_archive({reinterpret_cast<const char*>(data), size});
  return 0;
}
