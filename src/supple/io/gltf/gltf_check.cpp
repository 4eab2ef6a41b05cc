// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gltf_check.h"

#include "supple/io/gltf/gltf_accessor.h"

#include <array>

namespace supple {
namespace {

// Extensions that change where vertices are, or when, and that we follow.
constexpr std::array<std::string_view, 4> followed = {"KHR_mesh_quantization", "KHR_draco_mesh_compression",
                                                      "EXT_meshopt_compression", "KHR_meshopt_compression"};
// Families that only concern looks, so that ignoring them is harmless.
constexpr std::array<std::string_view, 8> harmless = {"KHR_materials_", "KHR_texture_",   "EXT_texture_",
                                                      "KHR_lights_",    "EXT_lights_",    "MSFT_",
                                                      "KHR_xmp",        "KHR_techniques_"};

bool is_known(std::string_view extension) {
  for (const std::string_view name : followed)
    if (extension == name) return true;
  for (const std::string_view family : harmless)
    if (extension.starts_with(family)) return true;
  return false;
}

std::vector<std::string> names_in(const GltfJson& root, const char* key) {
  std::vector<std::string> names;
  for (const GltfJson& name : json_array(root, key))
    if (name.is_string()) names.push_back(name.get<std::string>());
  return names;
}

// A small file can name the same large array many times; these are more numbers than any character has.
constexpr std::size_t most_numbers = 200'000'000;

// Gives how many vectors have to be read.
std::size_t check_primitive(const GltfContent& content, const GltfJson& primitive, const std::string& where) {
  const std::size_t accessors = accessor_count(content);
  const std::uint64_t mode = json_count(primitive, "mode", where).value_or(4);
  if (mode > 6) gltf_fault("{} has an unknown kind of primitive ({}); export the file again.", where, mode);
  const GltfJson& attributes = json_object(primitive, "attributes", where);
  std::optional<std::size_t> count;
  std::size_t total = 0;
  const auto check_same_count = [&](const GltfJson& group) {
    for (const auto& [name, value] : group.items()) {
      const std::size_t here = accessor_shape(content, index_value(value, accessors, name + " of " + where)).count;
      if (!count) count = here;
      total += here;
      if (here != *count)
        gltf_fault("the attributes of {} disagree on how many vertices there are ({} and {}); export the file again.",
                   where, *count, here);
    }
  };
  check_same_count(attributes);
  for (const GltfJson& target : json_array(primitive, "targets", where)) check_same_count(target);
  const std::optional<std::size_t> indices = json_index(primitive, "indices", accessors, where);
  return total + (indices ? accessor_shape(content, *indices).count : 0);
}

void check_meshes(const GltfContent& content) {
  const GltfJson& meshes = json_array(content.root, "meshes");
  std::size_t total = 0;
  for (std::size_t m = 0; m < meshes.size(); ++m) {
    const std::string where = fmt::format("mesh {}", m);
    for (const GltfJson& primitive : json_array(meshes[m], "primitives", where)) {
      total += check_primitive(content, primitive, where);
      if (total > most_numbers / 3) gltf_fault("its meshes have too many vertices; simplify them.");
    }
  }
}

// Arrays lie apart from each other in honest files, so that all together are about as long as the data.
void check_accessors(const GltfContent& content) {
  std::size_t total = 0;
  for (std::size_t a = 0; a < accessor_count(content); ++a) {
    check_accessor(content, a);
    const GltfJson& accessor = json_array(content.root, "accessors")[a];
    if (!accessor.contains("bufferView") && !accessor.contains("sparse")) continue;  // zeros
    const AccessorShape shape = accessor_shape(content, a);
    total += shape.count * shape.width();
    if (total > most_numbers && total > 4 * content.binary.size())
      gltf_fault("its arrays claim the same data over and over; export the file again.");
  }
}

void check_nodes(const GltfContent& content) {
  const GltfJson& nodes = json_array(content.root, "nodes");
  const std::size_t meshes = json_array(content.root, "meshes").size();
  const std::size_t skins = json_array(content.root, "skins").size();
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const std::string where = fmt::format("node {}", n);
    (void)json_index(nodes[n], "mesh", meshes, where);
    (void)json_index(nodes[n], "skin", skins, where);
  }
  for (const GltfJson& scene : json_array(content.root, "scenes"))
    for (const GltfJson& node : json_array(scene, "nodes", "a scene")) (void)index_value(node, nodes.size(), "a scene");
}

void check_skins(const GltfContent& content) {
  const GltfJson& skins = json_array(content.root, "skins");
  const std::size_t nodes = json_array(content.root, "nodes").size();
  for (std::size_t s = 0; s < skins.size(); ++s) {
    const std::string where = fmt::format("skin {}", s);
    const GltfJson& joints = json_array(skins[s], "joints", where);
    if (joints.empty()) gltf_fault("{} has no joints; export the character with its skeleton.", where);
    if (joints.size() > most_joints)
      gltf_fault("{} has {} joints, but vertices can name only {}; remove joints that move no vertex.", where,
                 joints.size(), most_joints);
    for (const GltfJson& joint : joints) (void)index_value(joint, nodes, where);
    const std::optional<std::size_t> matrices =
        json_index(skins[s], "inverseBindMatrices", accessor_count(content), where);
    if (!matrices) continue;
    const AccessorShape shape = accessor_shape(content, *matrices);
    if (shape.columns != 4 || shape.count < joints.size())
      gltf_fault("{} has {} joints but not as many bind matrices; export the file again.", where, joints.size());
  }
}

void check_animations(const GltfContent& content) {
  const GltfJson& animations = json_array(content.root, "animations");
  for (std::size_t a = 0; a < animations.size(); ++a) {
    const std::string where = fmt::format("animation {}", a);
    const GltfJson& samplers = json_array(animations[a], "samplers", where);
    for (const GltfJson& sampler : samplers) {
      (void)require_index(sampler, "input", accessor_count(content), where);
      (void)require_index(sampler, "output", accessor_count(content), where);
    }
    for (const GltfJson& channel : json_array(animations[a], "channels", where)) {
      (void)require_index(channel, "sampler", samplers.size(), where);
      (void)json_index(json_object(channel, "target", where), "node", json_array(content.root, "nodes").size(), where);
    }
  }
}

}  // namespace

void check_header(GltfContent& content) {
  if (!content.root.is_object()) gltf_fault("the JSON isn't an object, so this isn't glTF; export the file again.");
  const std::string version = json_string(json_object(content.root, "asset", "the file"), "version");
  if (version.empty()) gltf_fault("it doesn't say that it is glTF 2.0; export the model as glTF 2.0 (.glb).");
  if (!version.starts_with("2."))
    gltf_fault("it is glTF {:.20}, but only 2.0 is supported; export the model as glTF 2.0 (.glb).", version);
  content.extensions = names_in(content.root, "extensionsUsed");
  for (const std::string& extension : names_in(content.root, "extensionsRequired"))
    if (!is_known(extension))
      content.warn(
          fmt::format("The file requires {}, which isn't followed here; the character may look different.", extension));
}

void check_document(GltfContent& content) {
  check_accessors(content);
  check_meshes(content);
  check_nodes(content);
  (void)node_parents(content);
  check_skins(content);
  check_animations(content);
}

std::vector<Index> node_parents(const GltfContent& content) {
  const GltfJson& nodes = json_array(content.root, "nodes");
  std::vector<Index> parents(nodes.size(), -1);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (const GltfJson& child : json_array(nodes[n], "children", "a node")) {
      Index& parent = parents[index_value(child, nodes.size(), fmt::format("node {}", n))];
      if (parent == static_cast<Index>(n)) continue;  // named twice by the same parent
      if (parent >= 0) gltf_fault("node {} has two parents; export the file again.", child.dump());
      parent = static_cast<Index>(n);
    }
  }
  // Every walk upward ends at a root, or at a node from which one did; else it goes in circles.
  std::vector<std::size_t> walk(nodes.size(), 0);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (auto k = static_cast<Index>(n); k >= 0; k = parents[to_size(k)]) {
      std::size_t& seen = walk[to_size(k)];
      if (seen == n + 1) gltf_fault("node {} is its own ancestor; export the file again.", k);
      if (seen != 0) break;
      seen = n + 1;
    }
  }
  return parents;
}

}  // namespace supple
