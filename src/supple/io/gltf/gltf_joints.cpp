// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gltf_joints.h"

#include "supple/io/bytes.h"
#include "supple/io/gltf/gltf_accessor.h"
#include "supple/io/gltf/gltf_clips.h"

#include <algorithm>

namespace supple {
namespace {

GltfJson& entry(GltfContent& content, const char* list, Index index, const char* what) {
  if (index < 0 || to_size(index) >= json_array(content.root, list).size())
    gltf_fault("there is no {} {} to change.", what, index);
  return content.root[list][to_size(index)];
}

void append_matrix(std::vector<float>& values, const Affine& matrix) {
  Eigen::Matrix4f full = Eigen::Matrix4f::Identity();
  full.topRows<3>() = matrix.matrix().cast<float>();
  values.insert(values.end(), full.data(), full.data() + 16);
}

/// Of all joints the skin has; identity where the file gives none.
std::vector<float> bind_matrices(const GltfContent& content, const GltfJson& skin) {
  std::vector<float> values;
  const auto accessor = json_index(skin, "inverseBindMatrices", accessor_count(content), "a skin");
  if (accessor) {
    const std::vector<double> numbers = accessor_numbers(content, *accessor);
    values.assign(numbers.begin(), numbers.end());
  }
  const std::size_t wanted = 16 * json_array(skin, "joints").size();
  if (values.size() > wanted) values.resize(wanted);
  while (values.size() < wanted) append_matrix(values, Affine::Identity());
  return values;
}

void append_node(GltfContent& content, const NewJoint& joint) {
  GltfJson& nodes = editable_array(content, "nodes");
  entry(content, "nodes", joint.parent_node, "node")["children"].push_back(nodes.size());
  const Vec3& t = joint.translation;
  nodes.push_back({{"name", joint.name}, {"translation", {t.x(), t.y(), t.z()}}});
}

/// One set of four influences for the vertices of a primitive.
void write_set(GltfContent& content, GltfJson& attributes, const SkinWeights& weights, const std::vector<Index>& vertex,
               Index set) {
  std::string joints;
  std::vector<float> values;
  for (const Index v : vertex) {
    const auto at = to_size(v);
    for (Index k = 4 * set; k < 4 * set + 4; ++k) {
      const auto e = to_size(weights.first[at] + k);
      const bool given = weights.first[at] + k < weights.first[at + 1];
      append_bytes(joints, static_cast<std::uint16_t>(given ? weights.joint[e] : 0));
      values.push_back(given ? static_cast<float>(weights.weight[e]) : 0.0f);
    }
  }
  const std::size_t view = append_view(content, joints, gltf_vertex_target);
  GltfJson& accessors = editable_array(content, "accessors");
  accessors.push_back({{"bufferView", view},
                       {"componentType", static_cast<int>(ComponentType::unsigned_short)},
                       {"count", vertex.size()},
                       {"type", "VEC4"}});
  attributes[fmt::format("JOINTS_{}", set)] = accessors.size() - 1;
  attributes[fmt::format("WEIGHTS_{}", set)] = append_floats(content, values, {"VEC4", gltf_vertex_target, false});
}

void forget_weights(GltfJson& attributes) {
  for (std::size_t set = 0;; ++set) {
    const std::size_t gone =
        attributes.erase(fmt::format("JOINTS_{}", set)) + attributes.erase(fmt::format("WEIGHTS_{}", set));
    if (gone == 0) return;
  }
}

}  // namespace

Result<AddedJoints> add_skin_joints(GltfDocument& document, Index skin_index, std::span<const NewJoint> joints) {
  GltfContent& content = document.content();
  return gltf_guarded(content.name, [&]() -> Result<AddedJoints> {
    std::vector<float> matrices = bind_matrices(content, entry(content, "skins", skin_index, "skin"));
    AddedJoints added{static_cast<Index>(matrices.size() / 16),
                      static_cast<Index>(json_array(content.root, "nodes").size())};
    for (const NewJoint& joint : joints) {
      append_node(content, joint);
      append_matrix(matrices, joint.inverse_bind);
    }
    const std::size_t accessor = append_floats(content, matrices, {"MAT4", 0, false});
    GltfJson& skin = entry(content, "skins", skin_index, "skin");
    for (std::size_t k = 0; k < joints.size(); ++k) skin["joints"].push_back(to_size(added.first_node) + k);
    skin["inverseBindMatrices"] = accessor;
    return added;
  });
}

Result<Index> add_node(GltfDocument& document, const std::string& name, Index parent, const Vec3& translation) {
  GltfContent& content = document.content();
  return gltf_guarded(content.name, [&]() -> Result<Index> {
    const std::size_t number = json_array(content.root, "nodes").size();
    if (parent >= 0) {
      append_node(content, {name, parent, translation, {}});
      return static_cast<Index>(number);
    }
    const Vec3& t = translation;
    editable_array(content, "nodes").push_back({{"name", name}, {"translation", {t.x(), t.y(), t.z()}}});
    GltfJson& scenes = editable_array(content, "scenes");
    if (scenes.empty()) scenes.push_back(GltfJson::object());
    const std::size_t scene = json_index(content.root, "scene", scenes.size(), "the file").value_or(0);
    scenes[scene]["nodes"].push_back(number);
    return static_cast<Index>(number);
  });
}

Result<Index> move_mesh(GltfDocument& document, Index node, Index parent, const Affine& local) {
  GltfContent& content = document.content();
  return gltf_guarded(content.name, [&]() -> Result<Index> {
    const GltfJson old = entry(content, "nodes", node, "node");
    const std::size_t number = json_array(content.root, "nodes").size();
    Eigen::Matrix4d matrix = Eigen::Matrix4d::Identity();
    matrix.topRows<3>() = local.matrix();
    GltfJson moved = {{"name", json_string(old, "name")},
                      {"matrix", std::vector<double>(matrix.data(), matrix.data() + 16)},
                      {"mesh", old.at("mesh")}};
    if (old.contains("weights")) moved["weights"] = old["weights"];
    editable_array(content, "nodes").push_back(std::move(moved));
    entry(content, "nodes", parent, "node")["children"].push_back(number);
    for (const char* key : {"mesh", "weights"}) entry(content, "nodes", node, "node").erase(key);
    return static_cast<Index>(number);
  });
}

Status add_skin(GltfDocument& document, Index node, std::span<const Index> joints,
                std::span<const Affine> inverse_bind) {
  GltfContent& content = document.content();
  return gltf_guarded(content.name, [&]() -> Status {
    std::vector<float> matrices;
    for (const Affine& matrix : inverse_bind) append_matrix(matrices, matrix);
    const std::size_t accessor = append_floats(content, matrices, {"MAT4", 0, false});
    GltfJson& skins = editable_array(content, "skins");
    skins.push_back({{"joints", std::vector<Index>(joints.begin(), joints.end())}, {"inverseBindMatrices", accessor}});
    entry(content, "nodes", node, "node")["skin"] = skins.size() - 1;
    return {};
  });
}

Status set_skin_weights(GltfDocument& document, Index mesh, const SkinWeights& weights,
                        std::span<const std::vector<Index>> vertex) {
  GltfContent& content = document.content();
  return gltf_guarded(content.name, [&]() -> Status {
    Index most = 1;
    for (std::size_t v = 0; v + 1 < weights.first.size(); ++v)
      most = std::max(most, weights.first[v + 1] - weights.first[v]);
    const std::size_t primitives = json_array(entry(content, "meshes", mesh, "mesh"), "primitives").size();
    for (std::size_t p = 0; p < std::min(primitives, vertex.size()); ++p) {
      if (vertex[p].empty()) continue;
      GltfJson attributes = entry(content, "meshes", mesh, "mesh")["primitives"][p]["attributes"];
      forget_weights(attributes);
      for (Index set = 0; 4 * set < most; ++set) write_set(content, attributes, weights, vertex[p], set);
      entry(content, "meshes", mesh, "mesh")["primitives"][p]["attributes"] = std::move(attributes);
    }
    return {};
  });
}

Status add_channels(GltfDocument& document, Index animation, std::span<const Channel> channels) {
  GltfContent& content = document.content();
  return gltf_guarded(content.name, [&]() -> Status {
    GltfJson changed =
        entry(content, "animations", animation, "animation");  // new data may move what stands in the root
    append_channels(content, changed, channels, {});
    entry(content, "animations", animation, "animation") = std::move(changed);
    return {};
  });
}

}  // namespace supple
