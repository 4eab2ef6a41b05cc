// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gltf_nodes.h"

#include "supple/io/gltf/gltf_accessor.h"
#include "supple/rig/pose.h"

#include <cmath>

namespace supple {
namespace {

constexpr double shear_tolerance = 1e-5;  // of the matrix; files hold single precision

Affine affine_of(const double* column_major) {
  Affine result;
  for (int c = 0; c < 4; ++c)
    for (int r = 0; r < 3; ++r) result.matrix()(r, c) = column_major[4 * c + r];
  return result;
}

// T R S of a matrix, unless it has shear or a direction without length.
std::optional<Transform> without_shear(const Affine& matrix) {
  const Transform result = decompose(matrix);
  const double error = (result.matrix().linear() - matrix.linear()).norm();
  if (!result.rotation.coeffs().allFinite() || !(error <= shear_tolerance * matrix.linear().norm()))
    return std::nullopt;
  return result;
}

Transform read_transform(const GltfJson& node, const std::string& where, std::vector<std::string>& warnings) {
  Transform rest;
  const std::vector<double> t = json_numbers(node, "translation", where, 3);
  const std::vector<double> r = json_numbers(node, "rotation", where, 4);
  const std::vector<double> s = json_numbers(node, "scale", where, 3);
  if (!t.empty()) rest.translation = Vec3(t[0], t[1], t[2]);
  if (!s.empty()) rest.scale = Vec3(s[0], s[1], s[2]);
  if (!r.empty()) {
    const Quat turn(r[3], r[0], r[1], r[2]);
    if (turn.norm() > 1e-6)
      rest.rotation = turn.normalized();
    else
      warnings.push_back(fmt::format("The rotation of {} is zero; it is taken as none.", where));
  }
  return rest;
}

Joint read_joint(const GltfJson& node, std::size_t index, std::vector<std::string>& warnings) {
  Joint joint;
  joint.name = json_string(node, "name", fmt::format("node_{}", index));
  const std::string where = fmt::format("node {}", index);
  const std::vector<double> matrix = json_numbers(node, "matrix", where, 16);
  if (matrix.empty()) {
    joint.rest = read_transform(node, where, warnings);
    return joint;
  }
  const Affine affine = affine_of(matrix.data());
  if (const std::optional<Transform> parts = without_shear(affine))
    joint.rest = *parts;
  else
    joint.matrix = affine;
  return joint;
}

}  // namespace

NodeOrder order_nodes(const std::vector<Index>& parents) {
  NodeOrder order;
  order.joint_of_node.assign(parents.size(), -1);
  std::vector<std::size_t> waiting;
  for (std::size_t n = 0; n < parents.size(); ++n) {
    for (auto k = static_cast<Index>(n); k >= 0 && order.joint_of_node[to_size(k)] < 0; k = parents[to_size(k)])
      waiting.push_back(to_size(k));
    for (; !waiting.empty(); waiting.pop_back()) {
      order.joint_of_node[waiting.back()] = static_cast<Index>(order.node_of_joint.size());
      order.node_of_joint.push_back(static_cast<Index>(waiting.back()));
    }
  }
  return order;
}

Skeleton read_skeleton(const GltfContent& content, const NodeOrder& order, const std::vector<Index>& parents,
                       std::vector<std::string>& warnings) {
  const GltfJson& nodes = json_array(content.root, "nodes");
  Skeleton skeleton;
  skeleton.joints.reserve(nodes.size());
  for (const Index n : order.node_of_joint) {
    const auto node = to_size(n);
    skeleton.joints.push_back(read_joint(nodes[node], node, warnings));
    if (parents[node] >= 0) skeleton.joints.back().parent = order.joint_of_node[to_size(parents[node])];
  }
  return skeleton;
}

std::vector<Skin> read_skins(const GltfContent& content, const NodeOrder& order) {
  const GltfJson& skins = json_array(content.root, "skins");
  std::vector<Skin> result;
  for (std::size_t s = 0; s < skins.size(); ++s) {
    const std::string where = fmt::format("skin {}", s);
    Skin skin;
    skin.name = json_string(skins[s], "name", fmt::format("skin_{}", s));
    for (const GltfJson& joint : json_array(skins[s], "joints", where))
      skin.joints.push_back(order.joint_of_node[index_value(joint, order.joint_of_node.size(), where)]);
    skin.inverse_bind.assign(skin.joints.size(), Affine::Identity());
    if (const auto matrices = json_index(skins[s], "inverseBindMatrices", accessor_count(content), where)) {
      const std::vector<double> numbers = accessor_numbers(content, *matrices);
      for (std::size_t k = 0; k < skin.joints.size(); ++k) {
        skin.inverse_bind[k] = affine_of(numbers.data() + 16 * k);
        if (!skin.inverse_bind[k].matrix().allFinite())
          gltf_fault("{} has bind matrices that aren't finite numbers; export the file again.", where);
      }
    }
    result.push_back(std::move(skin));
  }
  return result;
}

std::vector<bool> nodes_in_scene(const GltfContent& content, const std::vector<Index>& parents) {
  const GltfJson& scenes = json_array(content.root, "scenes");
  if (scenes.empty()) return std::vector<bool>(parents.size(), true);
  const std::size_t shown = json_index(content.root, "scene", scenes.size(), "the file").value_or(0);
  std::vector<bool> inside(parents.size(), false);
  std::vector<std::size_t> waiting;
  for (const GltfJson& root : json_array(scenes[shown], "nodes", "the scene"))
    waiting.push_back(index_value(root, parents.size(), "the scene"));
  const GltfJson& nodes = json_array(content.root, "nodes");
  while (!waiting.empty()) {
    const std::size_t node = waiting.back();
    waiting.pop_back();
    if (inside[node]) continue;
    inside[node] = true;
    for (const GltfJson& child : json_array(nodes[node], "children", "a node"))
      waiting.push_back(index_value(child, parents.size(), "a node"));
  }
  return inside;
}

}  // namespace supple
