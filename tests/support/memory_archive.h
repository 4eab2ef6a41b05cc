// SPDX-License-Identifier: Apache-2.0
// Archives that are parsed from memory.
#pragma once

#include "supple/asset/archive.h"

#include <cstring>

namespace supple {

/// Aligned storage for bytes that are parsed in place.
inline Result<Archive> parse_archive(const std::string& bytes, std::vector<double>& storage) {
  storage.assign(bytes.size() / 8 + 1, 0.0);
  std::memcpy(storage.data(), bytes.data(), bytes.size());
  return Archive::parse({reinterpret_cast<const std::byte*>(storage.data()), bytes.size()}, "file.supple");
}

}  // namespace supple
