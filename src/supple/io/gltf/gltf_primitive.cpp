// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gltf_accessor.h"
#include "supple/io/gltf/gltf_mesh.h"
#include "supple/io/mesh/loaded_mesh.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

// Sums of weights further from one than rounding to bytes explains.
constexpr double sum_tolerance = 0.01;

std::vector<Vec3> read_vectors(const GltfContent& content, std::size_t accessor, std::string_view what,
                               const std::string& where) {
  const AccessorShape shape = accessor_shape(content, accessor);
  if (shape.rows != 3 || shape.columns != 1)
    gltf_fault("{} of {} aren't three numbers per vertex; export the file again.", what, where);
  const std::vector<double> numbers = accessor_numbers(content, accessor);
  std::vector<Vec3> vectors(shape.count);
  for (std::size_t i = 0; i < shape.count; ++i) {
    vectors[i] = Vec3(numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]);
    vectors[i] += Vec3::Zero();  // turns −0 into 0, so that equal places compare equal
    if (!vectors[i].allFinite()) gltf_fault("{} of {} aren't all finite numbers; export the file again.", what, where);
  }
  return vectors;
}

// ---- triangles ------------------------------------------------------------------------------------------------------

std::vector<Index> read_corners(const GltfContent& content, const GltfJson& primitive, std::size_t vertices,
                                const std::string& where) {
  std::vector<Index> corners;
  const std::optional<std::size_t> accessor = json_index(primitive, "indices", accessor_count(content), where);
  if (!accessor) {
    for (std::size_t i = 0; i < vertices; ++i) corners.push_back(static_cast<Index>(i));
    return corners;
  }
  if (accessor_shape(content, *accessor).width() != 1)
    gltf_fault("the indices of {} aren't single numbers; export the file again.", where);
  for (const std::uint32_t i : accessor_integers(content, *accessor)) {
    if (i >= vertices)
      gltf_fault("a triangle of {} has vertex {}, but there are only {}; export the file again.", where, i, vertices);
    corners.push_back(static_cast<Index>(i));
  }
  return corners;
}

std::vector<Triangle> triangles_of(const std::vector<Index>& corners, std::uint64_t mode) {
  std::vector<Triangle> triangles;
  if (mode == 4) {
    for (std::size_t k = 0; k + 2 < corners.size(); k += 3)
      triangles.push_back({corners[k], corners[k + 1], corners[k + 2]});
    return triangles;
  }
  for (std::size_t k = 0; k + 2 < corners.size(); ++k) {
    const std::size_t odd = k % 2;
    const Triangle t = mode == 5 ? Triangle{corners[k], corners[k + 1 + odd], corners[k + 2 - odd]}
                                 : Triangle{corners[k + 1], corners[k + 2], corners[0]};
    // Strips repeat vertices to jump elsewhere.
    if (t[0] != t[1] && t[1] != t[2] && t[2] != t[0]) triangles.push_back(t);
  }
  return triangles;
}

// ---- skin weights ---------------------------------------------------------------------------------------------------

struct Influence {
  Index joint;
  double weight;
};

struct InfluenceSet {
  std::vector<std::uint32_t> joints;
  std::vector<double> weights;
};

std::vector<InfluenceSet> read_influence_sets(const GltfContent& content, const GltfJson& attributes,
                                              std::size_t vertices, const std::string& where) {
  std::vector<InfluenceSet> sets;
  for (std::size_t k = 0;; ++k) {
    const auto accessors = accessor_count(content);
    const auto joints = json_index(attributes, fmt::format("JOINTS_{}", k).c_str(), accessors, where);
    const auto weights = json_index(attributes, fmt::format("WEIGHTS_{}", k).c_str(), accessors, where);
    if (!joints || !weights) return sets;
    InfluenceSet set{accessor_integers(content, *joints), accessor_numbers(content, *weights)};
    if (set.joints.size() != 4 * vertices || set.weights.size() != 4 * vertices)
      gltf_fault("the joints and weights of {} aren't four per vertex; export the file again.", where);
    if (!std::all_of(set.weights.begin(), set.weights.end(), [](double w) { return std::isfinite(w); }))
      gltf_fault("the skin weights of {} aren't all finite numbers; normalise them and export again.", where);
    sets.push_back(std::move(set));
  }
}

// Positive weights, each joint once, ascending, sum one. A vertex without any hangs on the first joint that it names.
void gather_influences(const std::vector<InfluenceSet>& sets, std::size_t vertex, std::vector<Influence>& out,
                       WeightFaults& faults) {
  out.clear();
  double sum = 0;
  bool negative = false;
  for (const InfluenceSet& set : sets) {
    for (std::size_t k = 4 * vertex; k < 4 * vertex + 4; ++k) {
      negative = negative || set.weights[k] < 0;
      if (set.weights[k] > 0) out.push_back({static_cast<Index>(set.joints[k]), set.weights[k]});
    }
  }
  std::sort(out.begin(), out.end(), [](const Influence& a, const Influence& b) {
    return a.joint != b.joint ? a.joint < b.joint : a.weight < b.weight;
  });
  std::size_t kept = 0;
  for (const Influence& influence : out) {
    sum += influence.weight;
    if (kept > 0 && out[kept - 1].joint == influence.joint)
      out[kept - 1].weight += influence.weight;
    else
      out[kept++] = influence;
  }
  out.resize(kept);
  for (Influence& influence : out) influence.weight /= sum;
  if (out.empty()) out.push_back({sets.empty() ? 0 : static_cast<Index>(sets[0].joints[4 * vertex]), 1.0});
  ++faults.vertices;
  if (negative) ++faults.negative;
  if (sum == 0)
    ++faults.all_zero;
  else if (std::abs(sum - 1) > sum_tolerance)
    ++faults.not_one;
}

SkinWeights read_weights(const GltfContent& content, const GltfJson& attributes, std::size_t vertices,
                         const std::string& where, WeightFaults& faults) {
  const std::vector<InfluenceSet> sets = read_influence_sets(content, attributes, vertices, where);
  SkinWeights weights;
  weights.first.push_back(0);
  std::vector<Influence> influences;
  for (std::size_t v = 0; v < vertices; ++v) {
    gather_influences(sets, v, influences, faults);
    for (const Influence& influence : influences) {
      weights.joint.push_back(influence.joint);
      weights.weight.push_back(influence.weight);
    }
    weights.first.push_back(static_cast<Index>(weights.joint.size()));
  }
  return weights;
}

// ---- attributes -----------------------------------------------------------------------------------------------------

// Colours, and what users made up, whose names begin with an underscore: both can be painted with.
std::vector<VertexAttribute> read_attributes(const GltfContent& content, const GltfJson& attributes,
                                             const std::string& where) {
  std::vector<VertexAttribute> result;
  for (const auto& [name, value] : attributes.items()) {
    const bool color = name.starts_with("COLOR_");
    if (!color && !name.starts_with('_')) continue;
    const std::size_t accessor = index_value(value, accessor_count(content), where);
    const std::vector<double> numbers = accessor_numbers(content, accessor);
    VertexAttribute attribute;
    attribute.name = name == "COLOR_0" ? std::string(colour_attribute) : name;
    attribute.components = static_cast<int>(accessor_shape(content, accessor).width());
    attribute.values.reserve(numbers.size());
    for (const double x : numbers)
      attribute.values.push_back(color ? colour_value(x) : std::isfinite(x) ? static_cast<float>(x) : 0.0f);
    result.push_back(std::move(attribute));
  }
  return result;
}

std::vector<std::vector<Vec3>> read_targets(const GltfContent& content, const GltfJson& primitive, std::size_t vertices,
                                            const std::string& where) {
  std::vector<std::vector<Vec3>> targets;
  for (const GltfJson& target : json_array(primitive, "targets", where)) {
    const auto accessor = json_index(target, "POSITION", accessor_count(content), where);
    targets.push_back(accessor ? read_vectors(content, *accessor, "the morph targets", where)
                               : std::vector<Vec3>(vertices, Vec3::Zero()));
  }
  return targets;
}

std::string material_name(const GltfContent& content, const GltfJson& primitive, const std::string& where) {
  const GltfJson& materials = json_array(content.root, "materials");
  const auto material = json_index(primitive, "material", materials.size(), where);
  return material ? json_string(materials[*material], "name") : "";
}

}  // namespace

std::optional<PrimitiveData> read_primitive(const GltfContent& content, const GltfJson& primitive,
                                            const std::string& where, WeightFaults& faults) {
  const std::uint64_t mode = json_count(primitive, "mode", where).value_or(4);
  const GltfJson& attributes = json_object(primitive, "attributes", where);
  const auto position = json_index(attributes, "POSITION", accessor_count(content), where);
  if (mode < 4 || !position) return std::nullopt;
  PrimitiveData data;
  data.name = material_name(content, primitive, where);
  data.positions = read_vectors(content, *position, "the positions", where);
  const std::size_t vertices = data.vertex_count();
  data.triangles = triangles_of(read_corners(content, primitive, vertices, where), mode);
  data.weights = read_weights(content, attributes, vertices, where, faults);
  data.displacements = read_targets(content, primitive, vertices, where);
  data.attributes = read_attributes(content, attributes, where);
  return data;
}

}  // namespace supple
