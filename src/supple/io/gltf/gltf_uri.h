// SPDX-License-Identifier: Apache-2.0
// URIs in glTF files: data inside (base64), or a path beside the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace supple {

struct DataUri {
  std::string media_type;  ///< such as "image/png"; may be empty
  std::string bytes;
};

bool is_data_uri(std::string_view uri);
/// The data of "data:TYPE;base64,…"; nothing when it is damaged or encoded otherwise.
std::optional<DataUri> decode_data_uri(std::string_view uri);
std::string encode_data_uri(std::string_view media_type, std::string_view bytes);

/// The path that a relative URI names, %-escapes resolved. Nothing for absolute paths, network addresses, and paths
/// that leave the folder: a file from a stranger decides nothing about what else is read here.
std::optional<std::string> relative_path(std::string_view uri);

}  // namespace supple
