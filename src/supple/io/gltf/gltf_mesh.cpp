// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gltf_mesh.h"

#include "supple/io/mesh/loaded_mesh.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace supple {
namespace {

std::size_t hash_of(const Vec3& x) {
  std::uint64_t bits[3];
  std::memcpy(bits, x.data(), sizeof(bits));
  std::uint64_t hash = 0;
  for (const std::uint64_t b : bits) {
    hash = (hash ^ b) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  }
  return to_size(hash);
}

// A vertex of the file.
struct FileVertex {
  const PrimitiveData* primitive = nullptr;
  std::size_t index = 0;
};

bool same_weights(const FileVertex& a, const FileVertex& b) {
  const SkinWeights &wa = a.primitive->weights, &wb = b.primitive->weights;
  const auto first = [](const SkinWeights& w, std::size_t v) { return to_size(w.first[v]); };
  const std::size_t count = first(wa, a.index + 1) - first(wa, a.index);
  if (count != first(wb, b.index + 1) - first(wb, b.index)) return false;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t i = first(wa, a.index) + k, j = first(wb, b.index) + k;
    if (wa.joint[i] != wb.joint[j] || wa.weight[i] != wb.weight[j]) return false;
  }
  return true;
}

bool moves_alike(const FileVertex& a, const FileVertex& b) {
  if (a.primitive->positions[a.index] != b.primitive->positions[b.index] || !same_weights(a, b)) return false;
  for (std::size_t t = 0; t < a.primitive->displacements.size(); ++t)
    if (a.primitive->displacements[t][a.index] != b.primitive->displacements[t][b.index]) return false;
  return true;
}

// Welded vertices with one file vertex each to compare with.
class Welder {
 public:
  Index add(const FileVertex& vertex) {
    const std::size_t hash = hash_of(vertex.primitive->positions[vertex.index]);
    const auto [begin, end] = places_.equal_range(hash);
    for (auto place = begin; place != end; ++place)
      if (moves_alike(representatives_[to_size(place->second)], vertex)) return place->second;
    const auto index = static_cast<Index>(representatives_.size());
    representatives_.push_back(vertex);
    places_.emplace(hash, index);
    return index;
  }
  const std::vector<FileVertex>& representatives() const { return representatives_; }

 private:
  std::unordered_multimap<std::size_t, Index> places_;
  std::vector<FileVertex> representatives_;
};

void fill_vertices(const std::vector<FileVertex>& vertices, CharacterMesh& mesh) {
  mesh.weights.first.push_back(0);
  for (const FileVertex& v : vertices) {
    mesh.surface.vertices.push_back(v.primitive->positions[v.index]);
    const SkinWeights& weights = v.primitive->weights;
    for (Index k = weights.first[v.index]; k < weights.first[v.index + 1]; ++k) {
      mesh.weights.joint.push_back(weights.joint[to_size(k)]);
      mesh.weights.weight.push_back(weights.weight[to_size(k)]);
    }
    mesh.weights.first.push_back(static_cast<Index>(mesh.weights.joint.size()));
    for (std::size_t t = 0; t < mesh.targets.size(); ++t)
      mesh.targets[t].displacements.push_back(v.primitive->displacements[t][v.index]);
  }
}

void fill_triangles(const PrimitiveData& primitive, const std::vector<Index>& welded, Surface& surface) {
  if (primitive.triangles.empty()) return;
  surface.parts.push_back(
      {primitive.name, static_cast<Index>(surface.triangles.size()), static_cast<Index>(primitive.triangles.size())});
  for (const Triangle& t : primitive.triangles)
    surface.triangles.push_back({welded[to_size(t[0])], welded[to_size(t[1])], welded[to_size(t[2])]});
}

// ---- attributes: the mean over the file's vertices; what a primitive lacks is white, or zero
// -------------------------

struct AttributeSum {
  VertexAttribute attribute;  ///< with sums for values
  std::vector<float> missing;
};

std::vector<AttributeSum> all_attributes(const std::vector<std::optional<PrimitiveData>>& primitives,
                                         std::size_t vertices) {
  std::vector<AttributeSum> sums;
  for (const auto& primitive : primitives) {
    if (!primitive) continue;
    for (const VertexAttribute& attribute : primitive->attributes) {
      const auto known = std::find_if(sums.begin(), sums.end(),
                                      [&](const AttributeSum& s) { return s.attribute.name == attribute.name; });
      AttributeSum& sum = known != sums.end() ? *known : sums.emplace_back();
      sum.attribute.name = attribute.name;
      sum.attribute.components = std::max(sum.attribute.components, attribute.components);
    }
  }
  for (AttributeSum& sum : sums) {
    const auto components = to_size(sum.attribute.components);
    const bool color = sum.attribute.name == colour_attribute || sum.attribute.name.starts_with("COLOR_");
    sum.missing.assign(components, color ? 1.0f : 0.0f);
    sum.attribute.values.assign(vertices * components, 0.0f);
  }
  return sums;
}

void add_values(const PrimitiveData& primitive, const std::vector<Index>& welded, AttributeSum& sum) {
  const auto components = to_size(sum.attribute.components);
  const VertexAttribute* own = nullptr;
  for (const VertexAttribute& attribute : primitive.attributes)
    if (attribute.name == sum.attribute.name) own = &attribute;
  for (std::size_t v = 0; v < welded.size(); ++v) {
    for (std::size_t c = 0; c < components; ++c) {
      const bool given = own != nullptr && c < to_size(own->components);
      sum.attribute.values[to_size(welded[v]) * components + c] +=
          given ? own->values[v * to_size(own->components) + c] : sum.missing[c];
    }
  }
}

void fill_attributes(const std::vector<std::optional<PrimitiveData>>& primitives, CharacterMesh& mesh) {
  const std::size_t vertices = mesh.surface.vertices.size();
  std::vector<AttributeSum> sums = all_attributes(primitives, vertices);
  if (sums.empty()) return;
  std::vector<float> shares(vertices, 0.0f);
  for (std::size_t p = 0; p < primitives.size(); ++p) {
    if (!primitives[p]) continue;
    for (const Index v : mesh.welded_vertex[p]) shares[to_size(v)] += 1;
    for (AttributeSum& sum : sums) add_values(*primitives[p], mesh.welded_vertex[p], sum);
  }
  for (AttributeSum& sum : sums) {
    const auto components = to_size(sum.attribute.components);
    for (std::size_t i = 0; i < sum.attribute.values.size(); ++i) sum.attribute.values[i] /= shares[i / components];
    mesh.surface.attributes.push_back(std::move(sum.attribute));
  }
}

// ---- morph targets --------------------------------------------------------------------------------------------------

void name_targets(const GltfJson& json, std::size_t count, CharacterMesh& mesh) {
  const GltfJson& extras = json.contains("extras") ? json["extras"] : GltfJson();
  const auto names = extras.find("targetNames");
  const bool named = names != extras.end() && names->is_array();
  for (std::size_t t = 0; t < count; ++t) {
    const bool has_name = named && t < names->size() && (*names)[t].is_string();
    mesh.targets.push_back({has_name ? (*names)[t].get<std::string>() : fmt::format("target_{}", t), {}});
  }
}

// All primitives of a mesh must have the same targets; those that lack some stay where they are.
std::size_t equalize_targets(std::vector<std::optional<PrimitiveData>>& primitives, const std::string& where,
                             std::vector<std::string>& warnings) {
  std::size_t most = 0;
  bool differ = false;
  for (const auto& primitive : primitives)
    if (primitive) most = std::max(most, primitive->displacements.size());
  for (auto& primitive : primitives) {
    if (!primitive) continue;
    differ = differ || primitive->displacements.size() != most;
    primitive->displacements.resize(most, std::vector<Vec3>(primitive->vertex_count(), Vec3::Zero()));
  }
  if (differ)
    warnings.push_back(
        fmt::format("The parts of {} have different numbers of morph targets; those that lack some "
                    "aren't moved by them.",
                    where));
  return most;
}

void report(const WeightFaults& faults, const std::string& where, std::vector<std::string>& warnings) {
  const auto say = [&](std::size_t count, std::string_view what) {
    if (count > 0) warnings.push_back(fmt::format("{} of {} vertices of {} {}.", count, faults.vertices, where, what));
  };
  say(faults.not_one, "have weights that don't sum to one; they were normalised");
  say(faults.negative, "have negative weights, which were left out");
  say(faults.all_zero, "have no weight; each hangs on the first joint that it names");
}

}  // namespace

CharacterMesh read_mesh(const GltfContent& content, std::size_t index, std::vector<std::string>& warnings) {
  const GltfJson& json = json_array(content.root, "meshes")[index];
  const std::string where = fmt::format("mesh {}", index);
  CharacterMesh mesh;
  mesh.name = json_string(json, "name", fmt::format("mesh_{}", index));
  mesh.file_mesh = static_cast<Index>(index);
  std::vector<std::optional<PrimitiveData>> primitives;
  WeightFaults faults;
  bool skinned = false;
  for (const GltfJson& primitive : json_array(json, "primitives", where)) {
    primitives.push_back(read_primitive(content, primitive, where, faults));
    skinned = skinned || json_object(primitive, "attributes", where).contains("JOINTS_0");
  }
  if (skinned) report(faults, where, warnings);
  const std::size_t targets = equalize_targets(primitives, where, warnings);
  name_targets(json, targets, mesh);
  mesh.default_target_weights = json_numbers(json, "weights", where);
  mesh.default_target_weights.resize(targets, 0.0);

  Welder welder;
  for (const auto& primitive : primitives) {
    std::vector<Index>& welded = mesh.welded_vertex.emplace_back();
    if (!primitive) continue;
    for (std::size_t v = 0; v < primitive->vertex_count(); ++v) welded.push_back(welder.add({&*primitive, v}));
    fill_triangles(*primitive, welded, mesh.surface);
  }
  fill_vertices(welder.representatives(), mesh);
  fill_attributes(primitives, mesh);
  return mesh;
}

}  // namespace supple
