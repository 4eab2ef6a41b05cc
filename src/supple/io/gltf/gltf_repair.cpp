// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gltf_repair.h"

#include "supple/io/gltf/gltf_accessor.h"
#include "supple/io/gltf/gltf_check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace supple {
namespace {

// ---- skins ----------------------------------------------------------------------------------------------------------

bool is_ancestor(const std::vector<Index>& parents, Index ancestor, Index node) {
  while (node >= 0 && node != ancestor) node = parents[to_size(node)];
  return node == ancestor;
}

/// The lowest node at or above all of the skin's joints, or -1.
Index common_root(const std::vector<Index>& parents, const GltfJson& joints) {
  Index root = -1;
  bool first = true;
  for (const GltfJson& joint : joints) {
    const auto node = static_cast<Index>(index_value(joint, parents.size(), "a skin"));
    if (first) root = node;
    first = false;
    while (root >= 0 && !is_ancestor(parents, root, node)) root = parents[to_size(root)];
  }
  return root;
}

// The name is put right rather than removed where that can be: Blender makes its armature of the named node. Without a
// name it chooses another, and plays characters with scaled nodes up to 0.3 % of their height off.
void repair_skeleton_roots(GltfContent& content) {
  if (json_array(content.root, "skins").empty()) return;
  const std::vector<Index> parents = node_parents(content);
  std::size_t wrong = 0;
  for (GltfJson& skin : content.root["skins"]) {
    const auto named = json_index(skin, "skeleton", parents.size(), "a skin");
    if (!named) continue;
    const Index root = common_root(parents, json_array(skin, "joints"));
    if (root >= 0 && is_ancestor(parents, static_cast<Index>(*named), root)) continue;
    skin.erase("skeleton");
    if (root >= 0) skin["skeleton"] = root;
    ++wrong;
  }
  if (wrong > 0)
    content.warn(fmt::format(
        "{} skins named a root that isn't above all their joints; the nearest one that is was named.", wrong));
}

// ---- weights --------------------------------------------------------------------------------------------------------

using AccessorSet = std::vector<std::size_t>;

AccessorSet weight_accessors(const GltfContent& content, const GltfJson& attributes) {
  AccessorSet accessors;
  for (std::size_t k = 0;; ++k) {
    const auto found =
        json_index(attributes, fmt::format("WEIGHTS_{}", k).c_str(), accessor_count(content), "a primitive");
    if (!found) return accessors;
    accessors.push_back(*found);
  }
}

// Weights of one vertex scaled to a sum of one in single precision, in which they are stored; true if they were off.
bool normalize(std::vector<float*>& weights) {
  double sum = 0;
  std::size_t used = 0;
  for (const float* w : weights) {
    sum += *w;
    if (*w != 0) ++used;
  }
  const bool negative = std::any_of(weights.begin(), weights.end(), [](const float* w) { return *w < 0; });
  if (!std::isfinite(sum)) return false;  // whoever reads the character says so
  if (!negative && used > 0 && std::abs(sum - 1) <= 2e-7 * static_cast<double>(used)) return false;
  sum = 0;
  for (const float* w : weights) sum += std::max(*w, 0.0f);
  if (sum == 0) {
    for (float* w : weights) *w = 0;
    *weights[0] = 1;
    return true;
  }
  double left = 1;
  for (float* w : weights) {
    *w = static_cast<float>(std::max(*w, 0.0f) / sum);
    left -= *w;
  }
  float* largest = *std::max_element(weights.begin(), weights.end(), [](float* a, float* b) { return *a < *b; });
  *largest = static_cast<float>(*largest + left);
  return true;
}

// The sets of a primitive as floats that sum to one; nothing when they did already.
std::optional<std::vector<std::vector<float>>> normalized_sets(const GltfContent& content,
                                                               const AccessorSet& accessors) {
  std::vector<std::vector<float>> sets;
  for (const std::size_t a : accessors) {
    const std::vector<double> numbers = accessor_numbers(content, a);
    sets.emplace_back(numbers.begin(), numbers.end());
    if (sets.back().size() != sets[0].size() || accessor_shape(content, a).width() != 4) return std::nullopt;
  }
  bool changed = false;
  std::vector<float*> weights;
  for (std::size_t first = 0; first < sets[0].size(); first += 4) {
    weights.clear();
    for (std::vector<float>& set : sets)
      for (std::size_t k = 0; k < 4; ++k) weights.push_back(&set[first + k]);
    changed = normalize(weights) || changed;
  }
  if (!changed) return std::nullopt;
  return sets;
}

void repair_weights(GltfContent& content) {
  if (json_array(content.root, "meshes").empty()) return;
  std::map<AccessorSet, AccessorSet> replaced;  // unchanged sets stand for themselves
  std::size_t repaired = 0;
  for (GltfJson& mesh : content.root["meshes"]) {
    if (json_array(mesh, "primitives").empty()) continue;
    for (GltfJson& primitive : mesh["primitives"]) {
      const AccessorSet old = weight_accessors(content, json_object(primitive, "attributes", "a mesh"));
      if (old.empty()) continue;
      if (!replaced.contains(old)) {
        AccessorSet fresh = old;
        if (const auto sets = normalized_sets(content, old)) {
          for (std::size_t k = 0; k < sets->size(); ++k)
            fresh[k] = append_floats(content, (*sets)[k], {"VEC4", gltf_vertex_target, false});
          ++repaired;
        }
        replaced[old] = std::move(fresh);
      }
      const AccessorSet& fresh = replaced[old];
      for (std::size_t k = 0; k < fresh.size(); ++k) primitive["attributes"][fmt::format("WEIGHTS_{}", k)] = fresh[k];
    }
  }
  if (repaired > 0)
    content.warn(fmt::format("Skin weights of {} primitives didn't sum to one; they were normalised.", repaired));
}

// ---- ranges ---------------------------------------------------------------------------------------------------------

void collect(const GltfJson& object, const char* key, std::size_t size, std::set<std::size_t>& accessors) {
  if (const auto index = json_index(object, key, size, "a mesh")) accessors.insert(*index);
}

// Accessors that must state their smallest and largest values.
std::set<std::size_t> ranged_accessors(const GltfContent& content) {
  std::set<std::size_t> accessors;
  const std::size_t size = accessor_count(content);
  for (const GltfJson& mesh : json_array(content.root, "meshes")) {
    for (const GltfJson& primitive : json_array(mesh, "primitives")) {
      collect(json_object(primitive, "attributes", "a mesh"), "POSITION", size, accessors);
      for (const GltfJson& target : json_array(primitive, "targets")) collect(target, "POSITION", size, accessors);
    }
  }
  for (const GltfJson& animation : json_array(content.root, "animations"))
    for (const GltfJson& sampler : json_array(animation, "samplers")) collect(sampler, "input", size, accessors);
  return accessors;
}

void repair_ranges(GltfContent& content) {
  std::size_t wrong = 0;
  for (const std::size_t a : ranged_accessors(content)) {
    const GltfJson before = content.root["accessors"][a];
    if (!restate_range(content, a)) {
      content.root["accessors"][a] = before;
      continue;
    }
    if (before.contains("min") || before.contains("max")) ++wrong;
  }
  if (wrong > 0)
    content.warn(fmt::format("{} arrays stated a range that isn't that of their values; it was corrected.", wrong));
}

}  // namespace

void repair_document(GltfContent& content) {
  repair_skeleton_roots(content);
  repair_weights(content);
  repair_ranges(content);
}

}  // namespace supple
