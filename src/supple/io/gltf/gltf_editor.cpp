// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gltf_editor.h"

#include "supple/io/gltf/gltf_accessor.h"
#include "supple/io/gltf/gltf_clips.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

std::size_t checked(Index index, std::size_t size, std::string_view what) {
  if (index < 0 || to_size(index) >= size) gltf_fault("there is no {} {} to change.", what, index);
  return to_size(index);
}

// Zeros cost nothing: an accessor without data.
std::size_t append_zeros(GltfContent& content, std::size_t count) {
  const std::vector<double> zero(3, 0.0);
  GltfJson& accessors = editable_array(content, "accessors");
  accessors.push_back({{"componentType", static_cast<int>(ComponentType::single)},
                       {"count", count},
                       {"type", "VEC3"},
                       {"min", zero},
                       {"max", zero}});
  return accessors.size() - 1;
}

std::size_t append_vectors(GltfContent& content, const std::vector<std::vector<Vec3>>& vectors, std::size_t primitive,
                           std::size_t vertices, const PackedVectors& how) {
  if (primitive >= vectors.size() || vectors[primitive].empty()) return append_zeros(content, vertices);
  if (vectors[primitive].size() != vertices)
    gltf_fault("a morph target has {} displacements for {} vertices.", vectors[primitive].size(), vertices);
  constexpr std::string_view whose = "displacements of a morph target";
  if (how.bytes < 4) return append_packed(content, vectors[primitive], how, whose);
  return append_floats(content, flat_floats(vectors[primitive], whose), {"VEC3", gltf_vertex_target, how.with_range});
}

std::size_t vertex_count(const GltfContent& content, const GltfJson& primitive) {
  const GltfJson& attributes = json_object(primitive, "attributes", "a mesh");
  const auto position = json_index(attributes, "POSITION", accessor_count(content), "a mesh");
  return position ? accessor_shape(content, *position).count : 0;
}

std::size_t target_count(const GltfJson& mesh) {
  std::size_t count = 0;
  for (const GltfJson& primitive : json_array(mesh, "primitives"))
    count = std::max(count, json_array(primitive, "targets").size());
  return count;
}

/// Positions of all targets, then their normals: arrays of one kind follow each other.
void append_targets(GltfContent& content, std::size_t mesh, std::size_t p, std::span<const NewMorphTarget> targets,
                    MorphStorage storage) {
  const bool small = storage == MorphStorage::small;
  const std::size_t vertices = vertex_count(content, content.root["meshes"][mesh]["primitives"][p]);
  const GltfJson& primitive = content.root["meshes"][mesh]["primitives"][p];
  const bool has_normals = json_object(primitive, "attributes", "a mesh").contains("NORMAL");
  std::vector<GltfJson> added;
  for (const NewMorphTarget& target : targets)
    added.push_back({{"POSITION", append_vectors(content, target.displacements, p, vertices,
                                                 {small ? target.position_bytes : 4, true, target.normalized})}});
  for (std::size_t t = 0; t < targets.size(); ++t)
    if (has_normals && !targets[t].normal_changes.empty())
      added[t]["NORMAL"] =
          append_vectors(content, targets[t].normal_changes, p, vertices, {small ? 1u : 4u, false, true});
  for (GltfJson& json : added) content.root["meshes"][mesh]["primitives"][p]["targets"].push_back(std::move(json));
}

void pad(GltfJson& object, const char* key, std::size_t size) {
  GltfJson& list = object[key];
  if (!list.is_array()) list = GltfJson::array();
  while (list.size() < size) list.push_back(0.0);
}

void name_new_targets(GltfJson& mesh, std::size_t before, const std::vector<NewMorphTarget>& targets) {
  GltfJson& extras = mesh["extras"];
  if (!extras.is_object() && !extras.is_null()) return;  // somebody's own data
  GltfJson& names = extras["targetNames"];
  if (!names.is_array()) names = GltfJson::array();
  for (std::size_t t = names.size(); t < before; ++t) names.push_back(fmt::format("target_{}", t));
  for (const NewMorphTarget& target : targets) names.push_back(target.name);
}

bool shows_mesh(const GltfContent& content, std::size_t node, std::size_t mesh) {
  const GltfJson& nodes = json_array(content.root, "nodes");
  return json_index(nodes.at(node), "mesh", json_array(content.root, "meshes").size(), "a node") == mesh;
}

// Existing values, `before` per key, become `after` per key, the new ones zero.
std::size_t widened_output(GltfContent& content, std::size_t output, std::size_t before, std::size_t after) {
  const std::vector<double> values = accessor_numbers(content, output);
  std::vector<float> wide;
  for (std::size_t first = 0; first + before <= values.size(); first += before) {
    for (std::size_t k = 0; k < after; ++k) wide.push_back(k < before ? static_cast<float>(values[first + k]) : 0.0f);
  }
  return append_floats(content, wide, {});
}

// The sampler of a channel for that channel alone: a copy, where others use the same.
GltfJson& own_sampler(GltfJson& animation, std::size_t channel) {
  GltfJson& samplers = animation["samplers"];
  const std::size_t sampler = require_index(animation["channels"][channel], "sampler", samplers.size(), "a channel");
  std::size_t uses = 0;
  for (const GltfJson& other : animation["channels"])
    uses += json_index(other, "sampler", samplers.size(), "a channel") == sampler ? 1 : 0;
  if (uses == 1) return samplers[sampler];
  GltfJson copy = samplers[sampler];
  animation["channels"][channel]["sampler"] = samplers.size();
  samplers.push_back(std::move(copy));
  return samplers.back();
}

void widen_channels(GltfContent& content, std::size_t mesh, std::size_t before, std::size_t after) {
  if (before == 0 || json_array(content.root, "animations").empty()) return;
  for (GltfJson& animation : content.root["animations"]) {
    for (std::size_t c = 0; c < json_array(animation, "channels").size(); ++c) {
      const GltfJson& target = json_object(animation["channels"][c], "target", "a channel");
      const auto node = json_index(target, "node", json_array(content.root, "nodes").size(), "a channel");
      if (json_string(target, "path") != "weights" || !node || !shows_mesh(content, *node, mesh)) continue;
      GltfJson& sampler = own_sampler(animation, c);
      sampler["output"] = widened_output(content, sampler["output"].get<std::size_t>(), before, after);
    }
  }
}

// glTF animates translation, rotation and scale, never a matrix.
void make_animatable(GltfJson& node, const Transform& rest) {
  if (!node.contains("matrix")) return;
  node.erase("matrix");
  const auto numbers = [](const auto& vector) { return std::vector<double>(vector.begin(), vector.end()); };
  node["translation"] = numbers(rest.translation);
  node["rotation"] = numbers(Eigen::Vector4d(rest.rotation.normalized().coeffs()));
  node["scale"] = numbers(rest.scale);
}

std::vector<float> checked_times(const std::vector<double>& times) {
  const std::vector<float> result(times.begin(), times.end());
  if (result.empty()) gltf_fault("a channel needs at least one key.");
  for (std::size_t k = 0; k < result.size(); ++k)
    if (!std::isfinite(result[k]) || result[k] < 0 || (k > 0 && result[k] <= result[k - 1]))
      gltf_fault("the times of a channel must ascend from zero.");
  return result;
}

std::size_t matching_channel(const GltfJson& channels, std::size_t node) {
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const GltfJson& target = json_object(channels[c], "target", "a channel");
    if (json_string(target, "path") == "weights" && json_count(target, "node", "a channel") == node) return c;
  }
  return channels.size();
}

}  // namespace

Result<Index> own_mesh(GltfDocument& document, Index node_index) {
  GltfContent& content = document.content();
  return gltf_guarded(content.name, [&]() -> Result<Index> {
    const std::size_t node = checked(node_index, json_array(content.root, "nodes").size(), "node");
    const std::size_t meshes = json_array(content.root, "meshes").size();
    const std::size_t mesh = require_index(content.root["nodes"][node], "mesh", meshes, "the node");
    std::size_t uses = 0;
    for (std::size_t n = 0; n < content.root["nodes"].size(); ++n) uses += shows_mesh(content, n, mesh) ? 1 : 0;
    if (uses == 1) return static_cast<Index>(mesh);
    GltfJson copy = content.root["meshes"][mesh];
    content.root["meshes"].push_back(std::move(copy));
    content.root["nodes"][node]["mesh"] = meshes;
    return static_cast<Index>(meshes);
  });
}

Result<Index> add_morph_targets(GltfDocument& document, Index mesh_index, const std::vector<NewMorphTarget>& targets,
                                MorphStorage storage) {
  GltfContent& content = document.content();
  return gltf_guarded(content.name, [&]() -> Result<Index> {
    const std::size_t mesh = checked(mesh_index, json_array(content.root, "meshes").size(), "mesh");
    (void)editable_array(content, "accessors");
    (void)editable_array(content, "bufferViews");
    const std::size_t before = target_count(content.root["meshes"][mesh]);
    const std::size_t after = before + targets.size();
    for (std::size_t p = 0; p < content.root["meshes"][mesh]["primitives"].size(); ++p) {
      GltfJson& list = content.root["meshes"][mesh]["primitives"][p]["targets"];
      if (!list.is_array()) list = GltfJson::array();
      append_targets(content, mesh, p, std::vector<NewMorphTarget>(before - std::min(before, list.size())), storage);
      append_targets(content, mesh, p, targets, storage);
    }
    pad(content.root["meshes"][mesh], "weights", after);
    name_new_targets(content.root["meshes"][mesh], before, targets);
    for (std::size_t n = 0; n < json_array(content.root, "nodes").size(); ++n)
      if (content.root["nodes"][n].contains("weights") && shows_mesh(content, n, mesh))
        pad(content.root["nodes"][n], "weights", after);
    widen_channels(content, mesh, before, after);
    return static_cast<Index>(before);
  });
}

Index add_animation(GltfDocument& document, const std::string& name) {
  GltfJson& animations = editable_array(document.content(), "animations");
  animations.push_back({{"name", name}, {"channels", GltfJson::array()}, {"samplers", GltfJson::array()}});
  return static_cast<Index>(animations.size()) - 1;
}

Result<Index> add_clip(GltfDocument& document, const Clip& clip, const Skeleton& skeleton,
                       std::span<const Index> file_node) {
  GltfContent& content = document.content();
  return gltf_guarded(content.name, [&]() -> Result<Index> {
    std::vector<Channel> channels;
    for (const Channel& channel : clip.channels) {
      if (channel.target == ChannelTarget::weights) continue;
      const auto joint = checked(channel.joint, file_node.size(), "joint");
      const std::size_t node = checked(file_node[joint], json_array(content.root, "nodes").size(), "node");
      make_animatable(content.root["nodes"][node], skeleton.joints.at(joint).rest);
      channels.push_back(channel);
    }
    const Index animation = add_animation(document, clip.name);
    GltfJson changed = content.root["animations"].back();  // new data may move what stands in the root
    append_channels(content, changed, channels, file_node);
    content.root["animations"].back() = std::move(changed);
    return animation;
  });
}

Status set_weight_channel(GltfDocument& document, Index animation_index, Index node_index,
                          const std::vector<double>& times, const std::vector<double>& values,
                          Interpolation interpolation) {
  GltfContent& content = document.content();
  return gltf_guarded(content.name, [&]() -> Status {
    const std::size_t a = checked(animation_index, json_array(content.root, "animations").size(), "animation");
    const std::size_t node = checked(node_index, json_array(content.root, "nodes").size(), "node");
    const GltfJson& meshes = json_array(content.root, "meshes");
    const std::size_t targets =
        target_count(meshes[require_index(content.root["nodes"][node], "mesh", meshes.size(), "the node")]);
    const std::size_t per_key = targets * (interpolation == Interpolation::cubic ? 3 : 1);
    if (per_key == 0 || values.size() != times.size() * per_key)
      gltf_fault("a channel has {} weights for {} keys of {} morph targets.", values.size(), times.size(), targets);
    const std::size_t input = append_floats(content, checked_times(times), {"SCALAR", 0, true});
    const std::size_t output = append_floats(content, std::vector<float>(values.begin(), values.end()), {});
    GltfJson& animation = content.root["animations"][a];
    const std::size_t channel = matching_channel(json_array(animation, "channels"), node);
    animation["samplers"].push_back(
        {{"input", input}, {"output", output}, {"interpolation", interpolation_name(interpolation)}});
    GltfJson json = {{"sampler", animation["samplers"].size() - 1}, {"target", {{"node", node}, {"path", "weights"}}}};
    if (channel < animation["channels"].size())
      animation["channels"][channel] = std::move(json);
    else
      animation["channels"].push_back(std::move(json));
    return {};
  });
}

Result<Index> weight_key_count(const GltfDocument& document, Index animation_index, Index node_index) {
  const GltfContent& content = document.content();
  return gltf_guarded(content.name, [&]() -> Result<Index> {
    const GltfJson& animations = json_array(content.root, "animations");
    const GltfJson& animation = animations[checked(animation_index, animations.size(), "animation")];
    const GltfJson &channels = json_array(animation, "channels"), &samplers = json_array(animation, "samplers");
    const std::size_t channel = matching_channel(channels, to_size(node_index));
    if (channel == channels.size()) return Index{0};
    const GltfJson& sampler = samplers[require_index(channels[channel], "sampler", samplers.size(), "a channel")];
    const GltfJson& accessors = json_array(content.root, "accessors");
    const GltfJson& times = accessors[require_index(sampler, "input", accessors.size(), "a sampler")];
    return static_cast<Index>(json_count(times, "count", "an accessor").value_or(0));
  });
}

Result<std::vector<std::vector<Vec3>>> file_normals(const GltfDocument& document, Index mesh_index) {
  const GltfContent& content = document.content();
  return gltf_guarded(content.name, [&]() -> Result<std::vector<std::vector<Vec3>>> {
    const GltfJson& meshes = json_array(content.root, "meshes");
    std::vector<std::vector<Vec3>> normals;
    for (const GltfJson& primitive : json_array(meshes[checked(mesh_index, meshes.size(), "mesh")], "primitives")) {
      std::vector<Vec3>& list = normals.emplace_back();
      const GltfJson& attributes = json_object(primitive, "attributes", "a mesh");
      const auto accessor = json_index(attributes, "NORMAL", accessor_count(content), "a mesh");
      if (!accessor || accessor_shape(content, *accessor).width() != 3) continue;
      const std::vector<double> numbers = accessor_numbers(content, *accessor);
      for (std::size_t i = 0; i + 2 < numbers.size(); i += 3)
        list.emplace_back(numbers[i], numbers[i + 1], numbers[i + 2]);
    }
    return normals;
  });
}

Index animation_count(const GltfDocument& document) {
  const GltfJson& root = document.content().root;
  return root.contains("animations") ? static_cast<Index>(root["animations"].size()) : 0;
}

}  // namespace supple
