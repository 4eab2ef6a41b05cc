// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/write_character.h"

#include "supple/io/bytes.h"
#include "supple/io/gltf/gltf_accessor.h"
#include "supple/io/gltf/gltf_clips.h"
#include "supple/io/gltf/gltf_editor.h"
#include "supple/mesh/normals.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

std::vector<double> numbers(const auto& vector) { return {vector.begin(), vector.end()}; }

std::vector<float> flat(std::span<const Vec3> vectors) { return flat_floats(vectors, "the character's positions"); }

template <class Integer>
std::size_t append_integers(GltfContent& content, const std::vector<Integer>& values, ComponentType type,
                            const char* shape, std::size_t count, int target) {
  std::string bytes;
  for (const Integer value : values) append_bytes(bytes, value);
  const std::size_t view = append_view(content, bytes, target);
  GltfJson& accessors = editable_array(content, "accessors");
  accessors.push_back(
      {{"bufferView", view}, {"componentType", static_cast<int>(type)}, {"count", count}, {"type", shape}});
  return accessors.size() - 1;
}

// ---- nodes ----------------------------------------------------------------------------------------------------------

GltfJson node_of(const Joint& joint) {
  GltfJson node = {{"name", joint.name}};
  if (joint.matrix) {
    Eigen::Matrix4d matrix = Eigen::Matrix4d::Identity();
    matrix.topRows<3>() = joint.matrix->matrix();
    node["matrix"] = std::vector<double>(matrix.data(), matrix.data() + 16);
    return node;
  }
  const Transform& rest = joint.rest;
  if (!rest.translation.isZero(0)) node["translation"] = numbers(rest.translation);
  if (rest.rotation.angularDistance(Quat::Identity()) > 0)
    node["rotation"] = numbers(Eigen::Vector4d(rest.rotation.normalized().coeffs()));
  if (rest.scale != Vec3::Ones()) node["scale"] = numbers(rest.scale);
  return node;
}

void write_nodes(GltfContent& content, const RawCharacter& character) {
  GltfJson nodes = GltfJson::array(), roots = GltfJson::array();
  for (const Joint& joint : character.skeleton.joints) {
    const std::size_t number = nodes.size();
    nodes.push_back(node_of(joint));
    if (joint.parent >= 0)
      nodes[to_size(joint.parent)]["children"].push_back(number);
    else
      roots.push_back(number);
  }
  content.root["scene"] = 0;
  content.root["scenes"] = {{{"name", character.name}, {"nodes", roots}}};
  content.root["nodes"] = std::move(nodes);
}

void write_skins(GltfContent& content, const RawCharacter& character) {
  for (const Skin& skin : character.skins) {
    std::vector<float> matrices;
    for (const Affine& bind : skin.inverse_bind) {
      Eigen::Matrix4f matrix = Eigen::Matrix4f::Identity();
      matrix.topRows<3>() = bind.matrix().cast<float>();
      matrices.insert(matrices.end(), matrix.data(), matrix.data() + 16);
    }
    const std::size_t accessor = append_floats(content, matrices, {"MAT4", 0, false});
    editable_array(content, "skins")
        .push_back({{"name", skin.name}, {"joints", skin.joints}, {"inverseBindMatrices", accessor}});
  }
}

// ---- meshes ---------------------------------------------------------------------------------------------------------

void write_weights(GltfContent& content, const CharacterMesh& mesh, GltfJson& attributes) {
  const std::size_t vertices = mesh.surface.vertices.size();
  if (to_size(mesh.weights.vertex_count()) != vertices)
    gltf_fault("the mesh {} has {} vertices but weights for {}.", mesh.name, vertices, mesh.weights.vertex_count());
  Index most = 1;
  for (std::size_t v = 0; v < vertices; ++v) most = std::max(most, mesh.weights.first[v + 1] - mesh.weights.first[v]);
  for (Index set = 0; 4 * set < most; ++set) {
    std::vector<std::uint16_t> joints(4 * vertices, 0);
    std::vector<float> weights(4 * vertices, 0.0f);
    for (std::size_t v = 0; v < vertices; ++v) {
      const Index from = mesh.weights.first[v] + 4 * set, to = std::min(from + 4, mesh.weights.first[v + 1]);
      for (Index e = from; e < to; ++e) {
        const auto at = 4 * v + to_size(e - from), k = to_size(e);
        joints[at] = static_cast<std::uint16_t>(mesh.weights.joint[k]);
        weights[at] = static_cast<float>(mesh.weights.weight[k]);
      }
    }
    attributes[fmt::format("JOINTS_{}", set)] =
        append_integers(content, joints, ComponentType::unsigned_short, "VEC4", vertices, gltf_vertex_target);
    attributes[fmt::format("WEIGHTS_{}", set)] = append_floats(content, weights, {"VEC4", gltf_vertex_target, false});
  }
}

void write_colors(GltfContent& content, const Surface& surface, GltfJson& attributes) {
  for (const VertexAttribute& attribute : surface.attributes) {
    if (attribute.name != "COLOR_0") continue;
    attributes["COLOR_0"] = append_floats(content, attribute.values,
                                          {attribute.components == 4 ? "VEC4" : "VEC3", gltf_vertex_target, false});
  }
}

GltfJson target_json(GltfContent& content, const CharacterMesh& mesh, const MorphTarget& target,
                     const std::vector<Vec3>& normals) {
  if (target.displacements.size() != mesh.surface.vertices.size())
    gltf_fault("the morph target {} has {} displacements for {} vertices.", target.name, target.displacements.size(),
               mesh.surface.vertices.size());
  std::vector<Vec3> moved = mesh.surface.vertices;
  for (std::size_t v = 0; v < moved.size(); ++v) moved[v] += target.displacements[v];
  std::vector<Vec3> change = vertex_normals(mesh.surface.triangles, moved);
  for (std::size_t v = 0; v < change.size(); ++v) change[v] -= normals[v];
  const std::size_t position = append_floats(content, flat(target.displacements), {"VEC3", gltf_vertex_target, true});
  return {{"POSITION", position},
          {"NORMAL", append_floats(content, flat(change), {"VEC3", gltf_vertex_target, false})}};
}

GltfJson primitive_json(GltfContent& content, const CharacterMesh& mesh, std::size_t material) {
  const Surface& surface = mesh.surface;
  const std::vector<Vec3> normals = vertex_normals(surface.triangles, surface.vertices);
  GltfJson attributes;
  attributes["POSITION"] = append_floats(content, flat(surface.vertices), {"VEC3", gltf_vertex_target, true});
  attributes["NORMAL"] = append_floats(content, flat(normals), {"VEC3", gltf_vertex_target, false});
  write_colors(content, surface, attributes);
  if (mesh.skin >= 0) write_weights(content, mesh, attributes);
  std::vector<std::uint32_t> corners;
  for (const Triangle& t : surface.triangles)
    for (const Index v : t) corners.push_back(static_cast<std::uint32_t>(v));
  const std::size_t indices =
      append_integers(content, corners, ComponentType::unsigned_int, "SCALAR", corners.size(), gltf_index_target);
  GltfJson primitive = {{"attributes", attributes}, {"indices", indices}, {"material", material}};
  for (const MorphTarget& target : mesh.targets)
    primitive["targets"].push_back(target_json(content, mesh, target, normals));
  return primitive;
}

std::size_t write_material(GltfContent& content, const GlbMaterial& material, const std::string& name) {
  const Color color = to_linear(material.color);
  GltfJson json = {{"name", name},
                   {"pbrMetallicRoughness",
                    {{"baseColorFactor", {color[0], color[1], color[2], 1.0}},
                     {"metallicFactor", material.metallic},
                     {"roughnessFactor", material.roughness}}}};
  if (material.double_sided) json["doubleSided"] = true;
  GltfJson& materials = editable_array(content, "materials");
  materials.push_back(std::move(json));
  return materials.size() - 1;
}

void write_mesh(GltfContent& content, const CharacterMesh& mesh, const CharacterLook& look, std::size_t number) {
  if (mesh.surface.triangles.empty()) gltf_fault("the mesh {} has no triangles.", mesh.name);
  const GlbMaterial material =
      look.materials.empty() ? GlbMaterial{Color::Ones()} : look.materials[std::min(number, look.materials.size() - 1)];
  GltfJson json = {{"name", mesh.name}, {"primitives", GltfJson::array()}};
  json["primitives"].push_back(primitive_json(content, mesh, write_material(content, material, mesh.name)));
  if (!mesh.targets.empty()) {
    std::vector<double> weights = mesh.default_target_weights;
    weights.resize(mesh.targets.size(), 0.0);
    json["weights"] = weights;
    for (const MorphTarget& target : mesh.targets) json["extras"]["targetNames"].push_back(target.name);
  }
  editable_array(content, "meshes").push_back(std::move(json));
  GltfJson& node = content.root["nodes"].at(to_size(mesh.node));
  node["mesh"] = number;
  if (mesh.skin >= 0) node["skin"] = mesh.skin;
}

void write_poses(GltfContent& content, const Skeleton& skeleton, const std::vector<ExamplePose>& poses) {
  if (poses.empty() || json_array(content.root, "meshes").empty()) return;
  GltfJson& extras = content.root["meshes"][0]["extras"];
  for (const ExamplePose& pose : poses) {
    GltfJson rotations = GltfJson::object();
    for (const JointRotation& r : pose.rotations)
      rotations[skeleton.joints.at(to_size(r.joint)).name] = numbers(Eigen::Vector4d(r.rotation.normalized().coeffs()));
    extras["poses"].push_back({{"name", pose.name}, {"corrected", pose.corrected}, {"rotations", rotations}});
  }
}

// ---- clips ----------------------------------------------------------------------------------------------------------

void write_clip(GltfContent& content, const Clip& clip) {
  GltfJson animation = {{"name", clip.name}, {"channels", GltfJson::array()}, {"samplers", GltfJson::array()}};
  append_channels(content, animation, clip.channels, {});
  if (!animation["channels"].empty()) editable_array(content, "animations").push_back(std::move(animation));
}

}  // namespace

Result<GltfDocument> character_document(const RawCharacter& character, const CharacterLook& look) {
  return gltf_guarded(character.name, [&]() -> Result<GltfDocument> {
    GltfContent content;
    content.name = character.name;
    write_nodes(content, character);
    write_skins(content, character);
    for (std::size_t m = 0; m < character.meshes.size(); ++m) write_mesh(content, character.meshes[m], look, m);
    write_poses(content, character.skeleton, look.poses);
    for (const Clip& clip : character.clips) write_clip(content, clip);
    return GltfDocument(std::move(content));
  });
}

Status write_character(const std::filesystem::path& path, const RawCharacter& character, const CharacterLook& look) {
  Result<GltfDocument> document = character_document(character, look);
  SUPPLE_RETURN_IF_ERROR(document);
  return save_gltf(*document, path);
}

}  // namespace supple
