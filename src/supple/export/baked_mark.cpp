// SPDX-License-Identifier: Apache-2.0
#include "supple/export/baked_mark.h"

#include "supple/base/to_size.h"
#include "supple/io/bytes.h"
#include "supple/io/gltf/gltf_content.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

namespace supple {
namespace {

constexpr const char* note = "supple_soft_motion";

/// "soft_00", as write_soft_glb names morph targets.
bool is_soft_target(std::string_view name) {
  constexpr std::string_view start = "soft_";
  return name.starts_with(start) && name.size() >= start.size() + 2 &&
         std::all_of(name.begin() + start.size(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool has_soft_targets(const GltfJson& mesh) {
  if (!mesh.is_object() || !mesh.contains("extras") || !mesh["extras"].is_object()) return false;
  const GltfJson& extras = mesh["extras"];
  if (!extras.contains("targetNames") || !extras["targetNames"].is_array()) return false;
  return std::any_of(extras["targetNames"].begin(), extras["targetNames"].end(), [](const GltfJson& name) {
    return name.is_string() && is_soft_target(name.get_ref<const std::string&>());
  });
}

bool has_note(const GltfJson& root) {
  if (!root.is_object() || !root.contains("asset") || !root["asset"].is_object()) return false;
  const GltfJson& asset = root["asset"];
  return asset.contains("extras") && asset["extras"].is_object() && asset["extras"].contains(note);
}

bool is_baked(const GltfJson& root) {
  if (has_note(root)) return true;
  if (!root.is_object() || !root.contains("meshes") || !root["meshes"].is_array()) return false;
  return std::any_of(root["meshes"].begin(), root["meshes"].end(), has_soft_targets);
}

/// The JSON of a file, without its binary part.
std::string json_text(std::ifstream& file) {
  constexpr std::size_t header = 20;  // of the container and of its first chunk
  std::string start(header, '\0');
  if (!file.read(start.data(), header)) return {};
  if (!start.starts_with("glTF")) return start + std::string(std::istreambuf_iterator<char>(file), {});
  std::uint32_t length = 0;
  ByteReader reader(start);
  reader.skip(12);
  reader.read(length);
  std::string text(length, '\0');
  return file.read(text.data(), length) ? text : std::string();
}

}  // namespace

void mark_as_baked(GltfDocument& document) {
  GltfJson& extras = document.content().root["asset"]["extras"];
  if (extras.is_null() || extras.is_object()) extras[note] = true;
}

bool is_baked(const GltfDocument& document) { return is_baked(document.content().root); }

bool is_baked_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const GltfJson root = GltfJson::parse(json_text(file), nullptr, false);
  return !root.is_discarded() && is_baked(root);
}

}  // namespace supple
