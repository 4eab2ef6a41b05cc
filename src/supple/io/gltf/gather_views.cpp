// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gather_views.h"

#include "supple/io/gltf/gltf_accessor.h"

#include <map>
#include <set>

namespace supple {
namespace {

/// What an accessor is for; arrays of equal kinds go together.
struct ArrayKind {
  std::string name;  ///< empty: nothing that we know, or several things
  int target = 0;
};

class ArrayKinds {
 public:
  explicit ArrayKinds(const GltfContent& content) : content_(content), kinds_(accessor_count(content)) {
    for (const GltfJson& mesh : json_array(content.root, "meshes"))
      for (const GltfJson& primitive : json_array(mesh, "primitives")) add_primitive(primitive);
    for (const GltfJson& animation : json_array(content.root, "animations")) add_animation(animation);
    for (const GltfJson& skin : json_array(content.root, "skins")) note(skin, "inverseBindMatrices", "bind", 0);
  }
  const ArrayKind& of(std::size_t accessor) const { return kinds_[accessor]; }

 private:
  void note(const GltfJson& object, const char* key, const std::string& name, int target) {
    const auto accessor = json_index(object, key, kinds_.size(), "an object");
    if (!accessor) return;
    ArrayKind& kind = kinds_[*accessor];
    if (seen_.insert(*accessor).second)
      kind = {name, target};
    else if (kind.name != name)
      kind.name.clear();
  }

  void add_primitive(const GltfJson& primitive) {
    const GltfJson& attributes = json_object(primitive, "attributes", "a mesh");
    for (auto entry = attributes.begin(); entry != attributes.end(); ++entry)
      note(attributes, entry.key().c_str(), entry.key(), gltf_vertex_target);
    for (const GltfJson& target : json_array(primitive, "targets"))
      for (auto entry = target.begin(); entry != target.end(); ++entry)
        note(target, entry.key().c_str(), "morph " + entry.key(), gltf_vertex_target);
    const bool triangles = json_count(primitive, "mode", "a mesh").value_or(4) == 4;
    note(primitive, "indices", triangles ? "triangles" : "indices", gltf_index_target);
  }

  void add_animation(const GltfJson& animation) {
    const GltfJson& samplers = json_array(animation, "samplers");
    for (const GltfJson& channel : json_array(animation, "channels")) {
      const auto sampler = json_index(channel, "sampler", samplers.size(), "a channel");
      if (!sampler) continue;
      note(samplers[*sampler], "input", "times", 0);
      note(samplers[*sampler], "output", output_name(samplers[*sampler], channel), 0);
    }
  }

  /// Weights of different numbers of targets are different things.
  std::string output_name(const GltfJson& sampler, const GltfJson& channel) const {
    const std::string path = json_string(json_object(channel, "target", "a channel"), "path");
    const auto input = json_index(sampler, "input", kinds_.size(), "a sampler");
    const auto output = json_index(sampler, "output", kinds_.size(), "a sampler");
    if (path != "weights" || !input || !output) return path;
    const std::size_t keys = accessor_shape(content_, *input).count;
    return fmt::format("{} {}", path, keys > 0 ? accessor_shape(content_, *output).count / keys : 0);
  }

  const GltfContent& content_;
  std::vector<ArrayKind> kinds_;
  std::set<std::size_t> seen_;
};

/// How often an object, or what it holds, has "bufferView".
std::size_t count_references(const GltfJson& json) {
  std::size_t count = 0;
  if (!json.is_structured()) return 0;
  for (auto entry = json.begin(); entry != json.end(); ++entry) {
    if (json.is_object() && entry.key() == "bufferView") ++count;
    count += count_references(*entry);
  }
  return count;
}

/// Calls change(place) for the number of every view that a document of glTF refers to; gives how many there are.
template <class Change>
std::size_t for_each_reference(GltfContent& content, const Change& change) {
  std::size_t count = 0;
  const auto visit = [&](GltfJson& object) {
    if (!object.contains("bufferView")) return;
    change(object["bufferView"]);
    ++count;
  };
  if (content.root.contains("accessors")) {
    for (GltfJson& accessor : content.root["accessors"]) {
      visit(accessor);
      if (!accessor.contains("sparse")) continue;
      visit(accessor["sparse"]["indices"]);
      visit(accessor["sparse"]["values"]);
    }
  }
  if (content.root.contains("images"))
    for (GltfJson& image : content.root["images"]) visit(image);
  return count;
}

struct Gathered {
  std::size_t view = 0;  ///< new
  std::string bytes;
  std::map<std::string, std::size_t> places;  ///< of arrays that are there already
};

/// The bytes of an accessor's array where its elements follow each other without a gap, and nothing where they don't.
std::string tight_bytes(const GltfContent& content, const GltfJson& accessor, const AccessorShape& shape) {
  const GltfJson& view = content.root["bufferViews"][accessor["bufferView"].get<std::size_t>()];
  const std::size_t element = shape.element_bytes();
  if (view.value("byteStride", element) != element || (element > 2 && element % 4 != 0)) return {};
  const std::size_t start = view.value("byteOffset", std::size_t{0}) + accessor.value("byteOffset", std::size_t{0});
  return content.binary.substr(start, shape.count * element);
}

void drop_unused_views(GltfContent& content) {
  std::set<std::size_t> used;
  for_each_reference(content, [&](GltfJson& view) { used.insert(view.get<std::size_t>()); });
  std::map<std::size_t, std::size_t> number;
  GltfJson kept = GltfJson::array();
  std::string binary = std::move(content.binary);
  content.binary.clear();
  for (const std::size_t v : used) {
    number[v] = kept.size();
    GltfJson view = content.root["bufferViews"][v];
    view["byteOffset"] = append_data(content, std::string_view(binary).substr(view.value("byteOffset", std::size_t{0}),
                                                                              view["byteLength"].get<std::size_t>()));
    kept.push_back(std::move(view));
  }
  for_each_reference(content, [&](GltfJson& view) { view = number.at(view.get<std::size_t>()); });
  content.root["bufferViews"] = std::move(kept);
}

}  // namespace

void gather_views(GltfContent& content) {
  if (json_array(content.root, "bufferViews").empty()) return;
  if (for_each_reference(content, [](GltfJson&) {}) != count_references(content.root)) return;
  const ArrayKinds kinds(content);
  std::map<std::string, Gathered> groups;
  for (std::size_t a = 0; a < accessor_count(content); ++a) {
    const ArrayKind& kind = kinds.of(a);
    GltfJson& accessor = content.root["accessors"][a];
    if (kind.name.empty() || !accessor.contains("bufferView")) continue;
    const AccessorShape shape = accessor_shape(content, a);
    std::string bytes = tight_bytes(content, accessor, shape);
    if (bytes.empty()) continue;
    const std::string key = fmt::format("{} {} {}", kind.name, shape.element_bytes(), static_cast<int>(shape.type));
    const bool is_new = groups.find(key) == groups.end();
    Gathered& group = groups[key];
    if (is_new) {
      group.view = content.root["bufferViews"].size();
      content.root["bufferViews"].push_back({{"buffer", 0}, {"byteOffset", 0}, {"byteLength", 0}});
      if (kind.target != 0) content.root["bufferViews"].back()["target"] = kind.target;
      if (kind.target == gltf_vertex_target) content.root["bufferViews"].back()["byteStride"] = shape.element_bytes();
    }
    const auto [place, is_unlike] = group.places.try_emplace(std::move(bytes), group.bytes.size());
    if (is_unlike) group.bytes += place->first;
    accessor["bufferView"] = group.view;
    accessor["byteOffset"] = place->second;
  }
  for (const auto& [key, group] : groups) {
    GltfJson& view = content.root["bufferViews"][group.view];
    view["byteOffset"] = append_data(content, group.bytes);
    view["byteLength"] = group.bytes.size();
  }
  drop_unused_views(content);
}

}  // namespace supple
