// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gltf_uri.h"

#include <array>
#include <cstdint>
#include <filesystem>

namespace supple {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> digit_values() {
  std::array<std::int8_t, 256> values{};
  for (auto& v : values) v = -1;
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  values[static_cast<unsigned char>('-')] = 62;  // the alphabet for URLs, which some exporters use
  values[static_cast<unsigned char>('_')] = 63;
  return values;
}

std::optional<std::string> decode_base64(std::string_view text) {
  static constexpr std::array<std::int8_t, 256> values = digit_values();
  while (text.ends_with('=')) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int value = values[static_cast<unsigned char>(c)];
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>(bits >> held & 255u));
  }
  return bytes;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low < 0) {
      result.push_back(text[i]);  // a lone % is somebody's file name
      continue;
    }
    result.push_back(static_cast<char>(16 * high + low));
    i += 2;
  }
  return result;
}

// "http:", "file:", "C:"
bool has_scheme(std::string_view uri) {
  const std::size_t colon = uri.find(':');
  return colon != std::string_view::npos && uri.find('/') > colon;
}

}  // namespace

bool is_data_uri(std::string_view uri) { return uri.starts_with("data:"); }

std::optional<DataUri> decode_data_uri(std::string_view uri) {
  if (!is_data_uri(uri)) return std::nullopt;
  const std::size_t comma = uri.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  std::string_view head = uri.substr(5, comma - 5);
  if (!head.ends_with(";base64")) return std::nullopt;
  head.remove_suffix(7);
  std::optional<std::string> bytes = decode_base64(uri.substr(comma + 1));
  if (!bytes) return std::nullopt;
  return DataUri{std::string(head.substr(0, head.find(';'))), std::move(*bytes)};
}

std::string encode_data_uri(std::string_view media_type, std::string_view bytes) {
  std::string text = "data:" + std::string(media_type) + ";base64,";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : std::uint32_t{0});
    for (std::size_t k = 0; k < 4; ++k) text.push_back(k <= count ? alphabet[bits >> (18 - 6 * k) & 63u] : '=');
  }
  return text;
}

std::optional<std::string> relative_path(std::string_view uri) {
  if (uri.empty() || has_scheme(uri)) return std::nullopt;
  std::string text = percent_decoded(uri);
  for (char& c : text)
    if (c == '\\') c = '/';
  if (text.find('\0') != std::string::npos || has_scheme(text)) return std::nullopt;
  const std::filesystem::path path = std::filesystem::path(text).lexically_normal();
  if (path.is_absolute() || path.empty() || *path.begin() == "..") return std::nullopt;
  return path.string();
}

}  // namespace supple
