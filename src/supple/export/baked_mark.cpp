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

/// "soft_spine_03", as write_soft_glb names helper bones.
bool is_helper_bone(std::string_view name) {
  const std::size_t last = name.rfind('_');
  return name.starts_with("soft_") && last > 4 && last != name.npos &&
         is_soft_target("soft_" + std::string(name.substr(last + 1)));
}

/// Which targets of the mesh are soft.
std::vector<char> soft_targets(const CharacterMesh& mesh) {
  std::vector<char> soft;
  for (const MorphTarget& target : mesh.targets) soft.push_back(is_soft_target(target.name) ? 1 : 0);
  return soft;
}

/// Zeros for the soft ones among weights that follow each other, key after key.
void silence(const std::vector<char>& soft, std::vector<double>& weights) {
  for (std::size_t k = 0; k < weights.size() && !soft.empty(); ++k)
    if (soft[k % soft.size()]) weights[k] = 0;
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

bool leave_out_soft_motion(RawCharacter& character) {
  bool found = false;
  for (CharacterMesh& mesh : character.meshes) {
    const std::vector<char> soft = soft_targets(mesh);
    if (std::count(soft.begin(), soft.end(), 1) == 0) continue;
    found = true;
    silence(soft, mesh.default_target_weights);
    for (Clip& clip : character.clips)
      for (Channel& channel : clip.channels)
        if (channel.target == ChannelTarget::weights && channel.joint == mesh.node) silence(soft, channel.values);
  }
  const auto is_soft = [&](const Channel& channel) {
    return channel.target != ChannelTarget::weights &&
           is_helper_bone(character.skeleton.joints[to_size(channel.joint)].name);
  };
  for (Clip& clip : character.clips) found = std::erase_if(clip.channels, is_soft) > 0 || found;
  return found;
}

bool has_helper_bones(const RawCharacter& character) {
  return std::any_of(character.skeleton.joints.begin(), character.skeleton.joints.end(),
                     [](const Joint& joint) { return is_helper_bone(joint.name); });
}

bool is_baked_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const GltfJson root = GltfJson::parse(json_text(file), nullptr, false);
  return !root.is_discarded() && is_baked(root);
}

}  // namespace supple
