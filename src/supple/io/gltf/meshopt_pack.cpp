// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gltf_accessor.h"
#include "supple/io/gltf/meshopt_views.h"

#include <meshoptimizer.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

namespace supple {
namespace {

constexpr std::size_t most_stride = 256;
constexpr std::size_t worth_saving = 256;  // bytes: what the JSON of a compressed view takes

/// Who reads a buffer view.
struct ViewUse {
  std::set<std::size_t> element_sizes;
  std::set<std::size_t> triangle_lists;  ///< offsets of lists of triangles
  std::size_t index_bytes = 0;
  bool other = false;    ///< vertices, keys: anything but lists of triangles
  bool foreign = false;  ///< images, and what extensions point to
};

/// Numbers that a weight channel has for each key belong together; by its output accessor.
std::map<std::size_t, std::size_t> numbers_per_key(const GltfContent& content) {
  std::map<std::size_t, std::size_t> result;
  for (const GltfJson& animation : json_array(content.root, "animations")) {
    for (const GltfJson& sampler : json_array(animation, "samplers")) {
      const auto input = json_index(sampler, "input", accessor_count(content), "a sampler");
      const auto output = json_index(sampler, "output", accessor_count(content), "a sampler");
      if (!input || !output) continue;
      const std::size_t keys = accessor_shape(content, *input).count, numbers = accessor_shape(content, *output).count;
      if (keys > 0 && numbers % keys == 0) result[*output] = numbers / keys;
    }
  }
  return result;
}

std::vector<ViewUse> uses_of_views(const GltfContent& content) {
  const std::size_t views = json_array(content.root, "bufferViews").size();
  std::vector<ViewUse> uses(views);
  std::set<std::size_t> lists, others;
  for (const GltfJson& mesh : json_array(content.root, "meshes")) {
    for (const GltfJson& primitive : json_array(mesh, "primitives")) {
      const auto indices = json_index(primitive, "indices", accessor_count(content), "a mesh");
      if (indices) (primitive.value("mode", 4) == 4 ? lists : others).insert(*indices);
    }
  }
  const std::map<std::size_t, std::size_t> per_key = numbers_per_key(content);
  const GltfJson& accessors = json_array(content.root, "accessors");
  for (std::size_t a = 0; a < accessors.size(); ++a) {
    const AccessorShape shape = accessor_shape(content, a);
    if (const auto view = json_index(accessors[a], "bufferView", views, "an accessor")) {
      ViewUse& use = uses[*view];
      const auto keyed = per_key.find(a);
      use.element_sizes.insert(shape.element_bytes() * (keyed == per_key.end() ? 1 : keyed->second));
      if (lists.count(a) != 0 && others.count(a) == 0) {
        use.triangle_lists.insert(accessors[a].value("byteOffset", std::size_t{0}));
        if (use.index_bytes != 0 && use.index_bytes != shape.element_bytes()) use.other = true;
        use.index_bytes = shape.element_bytes();
      } else {
        use.other = true;
      }
    }
    const GltfJson& sparse = json_object(accessors[a], "sparse", "an accessor");
    for (const char* part : {"indices", "values"}) {
      const GltfJson& piece = json_object(sparse, part, "an accessor");
      const auto view = json_index(piece, "bufferView", views, "an accessor");
      if (!view) continue;
      uses[*view].other = true;
      uses[*view].element_sizes.insert(std::string_view(part) == "values" ? shape.element_bytes() : 4);
    }
  }
  for (ViewUse& use : uses) use.foreign = !use.other && use.triangle_lists.empty();
  for (const GltfJson& image : json_array(content.root, "images"))
    if (const auto view = json_index(image, "bufferView", views, "an image")) uses[*view].foreign = true;
  return uses;
}

struct Packed {
  std::string mode, bytes;
  std::size_t count = 0, stride = 0;
};

Packed pack_triangles(std::string_view data, std::size_t index_bytes) {
  Packed packed{"TRIANGLES", {}, data.size() / index_bytes, index_bytes};
  std::vector<unsigned int> indices;
  for (std::size_t k = 0; k < packed.count; ++k) {
    unsigned int index = 0;
    std::memcpy(&index, data.data() + k * index_bytes, index_bytes);
    indices.push_back(index);
  }
  const unsigned int most = indices.empty() ? 0 : *std::max_element(indices.begin(), indices.end());
  packed.bytes.resize(meshopt_encodeIndexBufferBound(indices.size(), most + 1));
  meshopt_encodeIndexVersion(1);
  packed.bytes.resize(meshopt_encodeIndexBuffer(reinterpret_cast<unsigned char*>(packed.bytes.data()),
                                                packed.bytes.size(), indices.data(), indices.size()));
  return packed;
}

Packed pack_attributes(const std::string& data, std::size_t stride) {
  Packed packed{"ATTRIBUTES", {}, data.size() / stride, stride};
  packed.bytes.resize(meshopt_encodeVertexBufferBound(packed.count, stride));
  meshopt_encodeVertexVersion(0);
  packed.bytes.resize(meshopt_encodeVertexBuffer(reinterpret_cast<unsigned char*>(packed.bytes.data()),
                                                 packed.bytes.size(), data.data(), packed.count, stride));
  return packed;
}

/// The view's own stride, or one by which whole elements go together.
std::size_t stride_of(const GltfJson& view, const ViewUse& use) {
  if (view.contains("byteStride")) return view["byteStride"].get<std::size_t>();
  std::size_t stride = 4;
  for (const std::size_t size : use.element_sizes) {
    const std::size_t both = std::lcm(stride, size);
    if (both <= most_stride) stride = both;
  }
  return stride;
}

/// Pads the data to whole elements, where its codec wants them. None where nothing is gained.
std::optional<Packed> pack_view(const GltfJson& view, const ViewUse& use, std::string& data) {
  if (use.foreign || data.empty()) return {};
  Packed packed;
  if (use.other) {
    const std::size_t stride = stride_of(view, use);
    if (stride % 4 != 0 || stride > most_stride) return {};
    data.resize((data.size() + stride - 1) / stride * stride, '\0');
    packed = pack_attributes(data, stride);
  } else {
    const std::size_t triangle = 3 * use.index_bytes;
    const bool aligned = std::all_of(use.triangle_lists.begin(), use.triangle_lists.end(),
                                     [&](std::size_t offset) { return offset % triangle == 0; });
    if (use.index_bytes < 2 || !aligned || data.size() % triangle != 0) return {};
    packed = pack_triangles(data, use.index_bytes);
  }
  if (packed.bytes.empty() || packed.bytes.size() + worth_saving > data.size()) return {};
  return packed;
}

}  // namespace

void pack_views(GltfContent& content) {
  constexpr const char* extension = meshopt_extensions[0];
  const std::vector<ViewUse> uses = uses_of_views(content);
  if (uses.empty()) return;
  const std::string binary = std::move(content.binary);
  content.binary.clear();
  std::size_t unpacked = 0;
  for (std::size_t v = 0; v < uses.size(); ++v) {
    GltfJson& view = content.root["bufferViews"][v];
    std::string data = binary.substr(view.value("byteOffset", std::size_t{0}), view["byteLength"].get<std::size_t>());
    const std::optional<Packed> packed = pack_view(view, uses[v], data);
    if (!packed) {
      view["byteOffset"] = append_data(content, data);
      continue;
    }
    view["buffer"] = 1;
    view["byteOffset"] = unpacked;
    view["byteLength"] = data.size();
    view["extensions"][extension] = {{"buffer", 0},
                                     {"byteOffset", append_data(content, packed->bytes)},
                                     {"byteLength", packed->bytes.size()},
                                     {"byteStride", packed->stride},
                                     {"count", packed->count},
                                     {"mode", packed->mode}};
    unpacked += (data.size() + 3) / 4 * 4;
  }
  content.root["buffers"][0]["byteLength"] = content.binary.size();
  if (unpacked == 0) return;
  content.root["buffers"].push_back({{"byteLength", unpacked}, {"extensions", {{extension, {{"fallback", true}}}}}});
  require_extension(content, extension);
}

}  // namespace supple
