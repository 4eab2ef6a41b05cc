// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gltf_content.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr double largest_count = 9007199254740992.0;  // 2^53: beyond it a JSON number need not be exact

std::optional<std::uint64_t> as_count(const GltfJson& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (!value.is_number()) return std::nullopt;
  // Some exporters write 12.0.
  const double number = value.get<double>();
  if (!(number >= 0) || number > largest_count || number != std::floor(number)) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

}  // namespace

const GltfJson& json_array(const GltfJson& object, const char* key, std::string_view where) {
  static const GltfJson none = GltfJson::array();
  const auto found = object.find(key);
  if (found == object.end()) return none;
  if (!found->is_array()) gltf_fault("'{}' of {} isn't a list; export the file again.", key, where);
  return *found;
}

const GltfJson& json_object(const GltfJson& object, const char* key, std::string_view where) {
  static const GltfJson none = GltfJson::object();
  const auto found = object.find(key);
  if (found == object.end()) return none;
  if (!found->is_object()) gltf_fault("'{}' of {} isn't an object; export the file again.", key, where);
  return *found;
}

std::string json_string(const GltfJson& object, const char* key, const std::string& otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

std::optional<std::uint64_t> json_count(const GltfJson& object, const char* key, std::string_view where) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  const std::optional<std::uint64_t> count = as_count(*found);
  if (!count) gltf_fault("'{}' of {} isn't a whole number; export the file again.", key, where);
  return count;
}

std::uint64_t require_count(const GltfJson& object, const char* key, std::string_view where) {
  const std::optional<std::uint64_t> count = json_count(object, key, where);
  if (!count) gltf_fault("{} has no '{}'; export the file again.", where, key);
  return *count;
}

std::optional<std::size_t> json_index(const GltfJson& object, const char* key, std::size_t size,
                                      std::string_view where) {
  const std::optional<std::uint64_t> index = json_count(object, key, where);
  if (!index) return std::nullopt;
  if (*index >= size)
    gltf_fault("'{}' of {} is {}, but there are only {}; export the file again.", key, where, *index, size);
  return to_size(*index);
}

std::size_t require_index(const GltfJson& object, const char* key, std::size_t size, std::string_view where) {
  const std::optional<std::size_t> index = json_index(object, key, size, where);
  if (!index) gltf_fault("{} has no '{}'; export the file again.", where, key);
  return *index;
}

std::size_t index_value(const GltfJson& value, std::size_t size, std::string_view where) {
  const std::optional<std::uint64_t> index = as_count(value);
  if (!index || *index >= size)
    gltf_fault("{} names something that doesn't exist ({}); export the file again.", where, value.dump());
  return to_size(*index);
}

std::vector<double> json_numbers(const GltfJson& object, const char* key, std::string_view where,
                                 std::optional<std::size_t> size) {
  const GltfJson& list = json_array(object, key, where);
  std::vector<double> numbers;
  numbers.reserve(list.size());
  for (const GltfJson& value : list) {
    const double number = value.is_number() ? value.get<double>() : std::nan("");
    if (!std::isfinite(number)) gltf_fault("'{}' of {} must be finite numbers; export the file again.", key, where);
    numbers.push_back(number);
  }
  if (size && !numbers.empty() && numbers.size() != *size)
    gltf_fault("'{}' of {} has {} numbers instead of {}; export the file again.", key, where, numbers.size(), *size);
  return numbers;
}

GltfJson& editable_array(GltfContent& content, const char* key) {
  GltfJson& array = content.root[key];
  if (array.is_null()) array = GltfJson::array();
  return array;
}

void forget_extension(GltfContent& content, std::string_view extension) {
  for (const char* key : {"extensionsUsed", "extensionsRequired"}) {
    const auto list = content.root.find(key);
    if (list == content.root.end() || !list->is_array()) continue;
    GltfJson kept = GltfJson::array();
    for (const GltfJson& name : *list)
      if (name != extension) kept.push_back(name);
    if (kept.empty())
      content.root.erase(key);
    else
      *list = std::move(kept);
  }
}

void require_extension(GltfContent& content, const char* extension) {
  for (const char* key : {"extensionsUsed", "extensionsRequired"}) {
    GltfJson& list = content.root[key];
    if (!list.is_array()) list = GltfJson::array();
    if (std::find(list.begin(), list.end(), extension) == list.end()) list.push_back(extension);
  }
}

std::size_t append_data(GltfContent& content, std::string_view bytes) {
  content.binary.append((4 - content.binary.size() % 4) % 4, '\0');
  const std::size_t start = content.binary.size();
  content.binary.append(bytes);
  return start;
}

std::size_t append_view(GltfContent& content, std::string_view bytes, int target) {
  GltfJson view = {{"buffer", 0}, {"byteOffset", append_data(content, bytes)}, {"byteLength", bytes.size()}};
  if (target != 0) view["target"] = target;
  GltfJson& views = editable_array(content, "bufferViews");
  views.push_back(std::move(view));
  return views.size() - 1;
}

}  // namespace supple
