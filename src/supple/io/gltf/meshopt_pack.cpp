// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gather_views.h"
#include "supple/io/gltf/gltf_accessor.h"
#include "supple/io/gltf/meshopt_views.h"

#include <meshoptimizer.h>

#include <algorithm>
#include <bit>
#include <cmath>
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
  bool exponential = false;  ///< floats as whole numbers times a power of two
};

// ---- floats as whole numbers ----------------------------------------------------------------------------------------
//
// The filter EXPONENTIAL stores a float as m · 2^e with m of 24 bits and e of 8. Floats that are small multiples of a
// power of two, as those that were rounded (gltf_rounding.h), have few bits in m that way, and lose nothing.

constexpr int no_exponent = 1000;  // of zero, or of what isn't a float at all

/// The largest e for which a float is a whole multiple of 2^e.
int whole_exponent(float value) {
  int e = 0;
  const auto mantissa = static_cast<std::int32_t>(std::ldexp(std::frexp(value, &e), 24));
  return mantissa == 0 ? no_exponent : e - 24 + std::countr_zero(static_cast<std::uint32_t>(mantissa));
}

/// Exponents for the words of a view, one for all elements of an accessor's component; none where that isn't possible.
class WholeFloats {
 public:
  explicit WholeFloats(const std::string& data) : data_(data), exponent_(data.size() / 4, no_exponent) {}

  void add(std::size_t offset, std::size_t stride, const AccessorShape& shape) {
    if (shape.type != ComponentType::single || offset % 4 != 0 || stride % 4 != 0) possible_ = false;
    for (std::size_t c = 0; possible_ && c < shape.width(); ++c) add_component(offset / 4 + c, stride / 4, shape.count);
  }

  std::optional<std::string> encoded() const {
    if (!possible_) return {};
    std::string out(data_.size(), '\0');
    for (std::size_t w = 0; w < exponent_.size(); ++w) {
      const float value = word(w);
      if (exponent_[w] == no_exponent && value != 0) return {};
      const int e = exponent_[w] == no_exponent ? 0 : exponent_[w];
      const auto mantissa = static_cast<std::int32_t>(std::ldexp(value, -e));
      const std::uint32_t packed =
          (static_cast<std::uint32_t>(e) << 24) | (static_cast<std::uint32_t>(mantissa) & 0xffffffu);
      std::memcpy(out.data() + 4 * w, &packed, 4);
    }
    return out;
  }

 private:
  float word(std::size_t w) const {
    float value = 0;
    std::memcpy(&value, data_.data() + 4 * w, 4);
    return value;
  }

  void add_component(std::size_t first, std::size_t step, std::size_t count) {
    int e = no_exponent;
    float largest = 0;
    for (std::size_t i = 0; i < count && first + i * step < exponent_.size(); ++i) {
      const float value = word(first + i * step);
      e = std::min(e, whole_exponent(value));
      largest = std::max(largest, std::abs(value));
    }
    if (e == no_exponent) return;
    constexpr int most = 100;  // exponents that every decoder can make a float of
    if (!(std::ldexp(largest, -e) < 8388608.0f) || e < -most || e > most) possible_ = false;
    for (std::size_t i = 0; i < count && first + i * step < exponent_.size(); ++i) exponent_[first + i * step] = e;
  }

  const std::string& data_;
  std::vector<int> exponent_;
  bool possible_ = true;
};

/// The view's floats in that form, if all of its data can have it.
std::optional<std::string> whole_floats(const GltfContent& content, std::size_t view_index, const std::string& data) {
  const GltfJson& view = content.root["bufferViews"][view_index];
  WholeFloats floats(data);
  const GltfJson& accessors = json_array(content.root, "accessors");
  for (std::size_t a = 0; a < accessors.size(); ++a) {
    const AccessorShape shape = accessor_shape(content, a);
    if (json_count(accessors[a], "bufferView", "an accessor") == view_index)
      floats.add(accessors[a].value("byteOffset", std::size_t{0}), view.value("byteStride", shape.element_bytes()),
                 shape);
    if (accessors[a].contains("sparse")) {
      const GltfJson& sparse = accessors[a]["sparse"];
      for (const char* part : {"indices", "values"})
        if (json_count(json_object(sparse, part, "an accessor"), "bufferView", "an accessor") == view_index) return {};
    }
  }
  return floats.encoded();
}

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
std::optional<Packed> pack_view(const GltfContent& content, std::size_t index, const ViewUse& use, std::string& data) {
  const GltfJson& view = content.root["bufferViews"][index];
  if (use.foreign || data.empty()) return {};
  Packed packed;
  if (use.other) {
    const std::size_t stride = stride_of(view, use);
    if (stride % 4 != 0 || stride > most_stride) return {};
    data.resize((data.size() + stride - 1) / stride * stride, '\0');
    packed = pack_attributes(data, stride);
    if (const std::optional<std::string> whole = whole_floats(content, index, data)) {
      Packed other = pack_attributes(*whole, stride);
      other.exponential = true;
      if (other.bytes.size() < packed.bytes.size()) packed = std::move(other);
    }
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

/// Ranges are for positions and times; exporters state them of everything.
void forget_idle_ranges(GltfContent& content) {
  std::set<std::size_t> needed;
  const auto need = [&](const GltfJson& object, const char* key) {
    if (const auto accessor = json_index(object, key, accessor_count(content), "an object")) needed.insert(*accessor);
  };
  for (const GltfJson& mesh : json_array(content.root, "meshes")) {
    for (const GltfJson& primitive : json_array(mesh, "primitives")) {
      need(json_object(primitive, "attributes", "a mesh"), "POSITION");
      for (const GltfJson& target : json_array(primitive, "targets")) need(target, "POSITION");
    }
  }
  for (const GltfJson& animation : json_array(content.root, "animations"))
    for (const GltfJson& sampler : json_array(animation, "samplers")) need(sampler, "input");
  for (std::size_t a = 0; a < accessor_count(content); ++a) {
    if (needed.count(a) != 0) continue;
    for (const char* key : {"min", "max"}) content.root["accessors"][a].erase(key);
  }
}

}  // namespace

void pack_views(GltfContent& content) {
  constexpr const char* extension = meshopt_extensions[0];
  const GltfContent before = content;
  gather_views(content);
  forget_idle_ranges(content);
  const std::vector<ViewUse> uses = uses_of_views(content);
  if (uses.empty()) return;
  const std::string binary = std::move(content.binary);
  content.binary.clear();
  std::size_t unpacked = 0;
  for (std::size_t v = 0; v < uses.size(); ++v) {
    GltfJson& view = content.root["bufferViews"][v];
    std::string data = binary.substr(view.value("byteOffset", std::size_t{0}), view["byteLength"].get<std::size_t>());
    const std::optional<Packed> packed = pack_view(content, v, uses[v], data);
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
    if (packed->exponential) view["extensions"][extension]["filter"] = "EXPONENTIAL";
    unpacked += (data.size() + 3) / 4 * 4;
  }
  content.root["buffers"][0]["byteLength"] = content.binary.size();
  if (unpacked == 0) {
    content = before;
    return;
  }
  content.root["buffers"].push_back({{"byteLength", unpacked}, {"extensions", {{extension, {{"fallback", true}}}}}});
  require_extension(content, extension);
}

}  // namespace supple
