// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/read_character.h"

#include "supple/io/gltf/gltf_check.h"
#include "supple/io/gltf/gltf_mesh.h"
#include "supple/io/gltf/gltf_nodes.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace supple {
namespace {

// A small file can show a large mesh many times; nobody's character has as many vertices as this.
constexpr std::size_t most_vertices = 50'000'000;

class CharacterReader {
 public:
  explicit CharacterReader(const GltfContent& content)
      : content_(content), parents_(node_parents(content)), order_(order_nodes(parents_)) {}

  RawCharacter read(const ReadCharacterOptions& options) {
    character_.name = std::filesystem::path(content_.name).stem().string();
    character_.warnings = content_.warnings;
    character_.file_node = order_.node_of_joint;
    character_.skeleton = read_skeleton(content_, order_, parents_, character_.warnings);
    character_.skins = read_skins(content_, order_);
    read_meshes();
    check_meshes(options);
    const auto joint_of = [&](std::size_t node) { return order_.joint_of_node[node]; };
    const auto targets_of = [&](Index joint) { return target_count(joint); };
    character_.clips = read_animations(content_, character_.skeleton, joint_of, targets_of, character_.warnings);
    return std::move(character_);
  }

 private:
  void read_meshes() {
    const std::vector<bool> shown = nodes_in_scene(content_, parents_);
    for (const Index node : order_.node_of_joint)
      if (shown[to_size(node)]) read_node(to_size(node));
  }

  void read_node(std::size_t node) {
    const GltfJson& json = json_array(content_.root, "nodes")[node];
    const std::string where = fmt::format("node {}", node);
    const auto mesh_index = json_index(json, "mesh", json_array(content_.root, "meshes").size(), where);
    if (!mesh_index) return;
    CharacterMesh mesh = shared_mesh(*mesh_index);
    if (mesh.surface.triangles.empty()) return;
    vertices_ += mesh.surface.vertices.size();
    if (vertices_ > most_vertices) gltf_fault("it shows more than {} vertices; simplify the meshes.", most_vertices);
    mesh.node = order_.joint_of_node[node];
    const std::vector<double> weights = json_numbers(json, "weights", where);
    if (!weights.empty()) mesh.default_target_weights = weights;
    mesh.default_target_weights.resize(mesh.targets.size(), 0.0);
    const auto skin = json_index(json, "skin", character_.skins.size(), where);
    if (skin)
      attach(mesh, *skin, where);
    else
      mesh.weights = {};
    character_.meshes.push_back(std::move(mesh));
  }

  // Nodes often share a mesh; it is decoded and welded once.
  const CharacterMesh& shared_mesh(std::size_t index) {
    const auto found = meshes_.find(index);
    if (found != meshes_.end()) return found->second;
    return meshes_.emplace(index, read_mesh(content_, index, character_.warnings)).first->second;
  }

  void attach(CharacterMesh& mesh, std::size_t skin, const std::string& where) {
    mesh.skin = static_cast<Index>(skin);
    const auto joints = static_cast<Index>(character_.skins[skin].joints.size());
    for (const Index joint : mesh.weights.joint)
      if (joint >= joints)
        gltf_fault("the mesh of {} hangs on joint {}, but its skin has only {}; export the file again.", where, joint,
                   joints);
  }

  void check_meshes(const ReadCharacterOptions& options) const {
    const auto& meshes = character_.meshes;
    if (meshes.empty()) gltf_fault("it shows no triangles; export the model with its meshes.");
    const bool skinned = std::any_of(meshes.begin(), meshes.end(), [](const CharacterMesh& m) { return m.skin >= 0; });
    if (options.require_skin && !skinned)
      gltf_fault("no mesh has a skin; export the character with its skeleton and skin weights.");
  }

  std::size_t target_count(Index joint) const {
    for (const CharacterMesh& mesh : character_.meshes)
      if (mesh.node == joint) return mesh.targets.size();
    return 0;
  }

  const GltfContent& content_;
  std::vector<Index> parents_;
  NodeOrder order_;
  RawCharacter character_;
  std::map<std::size_t, CharacterMesh> meshes_;
  std::size_t vertices_ = 0;
};

// The joint of each name; −1 where several share it.
std::unordered_map<std::string, Index> joints_by_name(const Skeleton& skeleton) {
  std::unordered_map<std::string, Index> joints;
  for (Index j = 0; j < skeleton.size(); ++j) {
    const auto [place, is_new] = joints.emplace(skeleton.joints[to_size(j)].name, j);
    if (!is_new) place->second = -1;
  }
  return joints;
}

std::vector<Clip> clips_for(const GltfContent& content, const RawCharacter& onto, std::vector<std::string>& warnings) {
  const std::unordered_map<std::string, Index> joints = joints_by_name(onto.skeleton);
  const GltfJson& nodes = json_array(content.root, "nodes");
  std::size_t strangers = 0;
  const auto joint_of = [&](std::size_t node) {
    const auto found = joints.find(json_string(nodes.at(node), "name"));
    const Index joint = found == joints.end() ? -1 : found->second;
    if (joint < 0) ++strangers;
    return joint;
  };
  const auto targets_of = [&](Index joint) {
    for (const CharacterMesh& mesh : onto.meshes)
      if (mesh.node == joint) return mesh.targets.size();
    return std::size_t{0};
  };
  std::vector<Clip> clips = read_animations(content, onto.skeleton, joint_of, targets_of, warnings);
  if (clips.empty()) gltf_fault("it holds no animation; export the clip with the skeleton that it moves.");
  const bool useful = std::any_of(clips.begin(), clips.end(), [](const Clip& c) { return !c.channels.empty(); });
  if (!useful)
    gltf_fault("none of its animated nodes has the name of a joint of {}; export it with the same skeleton.",
               onto.name);
  if (strangers > 0)
    warnings.push_back(
        fmt::format("{} channels of {} move nodes that {} doesn't have, or has twice; they were left out.", strangers,
                    content.name, onto.name));
  return clips;
}

}  // namespace

Result<RawCharacter> read_character(const GltfDocument& document, const ReadCharacterOptions& options) {
  const GltfContent& content = document.content();
  return gltf_guarded(content.name, [&]() -> Result<RawCharacter> { return CharacterReader(content).read(options); });
}

Result<std::vector<Clip>> read_clips(const GltfDocument& document, const RawCharacter& onto,
                                     std::vector<std::string>& warnings) {
  const GltfContent& content = document.content();
  return gltf_guarded(content.name, [&]() -> Result<std::vector<Clip>> { return clips_for(content, onto, warnings); });
}

}  // namespace supple
