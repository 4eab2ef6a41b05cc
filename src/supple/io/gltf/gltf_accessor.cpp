// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gltf_accessor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace supple {
namespace {

struct TypeName {
  std::string_view name;
  std::size_t rows, columns;
};
constexpr std::array<TypeName, 7> type_names = {
    {{"SCALAR", 1, 1}, {"VEC2", 2, 1}, {"VEC3", 3, 1}, {"VEC4", 4, 1}, {"MAT2", 2, 2}, {"MAT3", 3, 3}, {"MAT4", 4, 4}}};

// An accessor of zeros costs a file nothing; more of them than this, or than the file has bytes, is no mesh.
constexpr std::size_t most_free_zeros = 1'000'000;

ComponentType component_type(const GltfJson& object, const std::string& where) {
  const std::uint64_t number = require_count(object, "componentType", where);
  for (const int known : {5120, 5121, 5122, 5123, 5125, 5126})
    if (number == static_cast<std::uint64_t>(known)) return static_cast<ComponentType>(known);
  gltf_fault("{} has the component type {}, which glTF doesn't know; export the file again.", where, number);
}

// A run of equally spaced elements in the binary data.
struct Strided {
  std::size_t start = 0;
  std::size_t stride = 0;
};

Strided locate(const GltfContent& content, const GltfJson& object, std::size_t count, std::size_t element,
               const std::string& where) {
  const GltfJson& views = json_array(content.root, "bufferViews");
  const std::size_t index = require_index(object, "bufferView", views.size(), where);
  const GltfJson& view = views[index];
  const std::uint64_t length = require_count(view, "byteLength", where);
  const std::uint64_t offset = json_count(object, "byteOffset", where).value_or(0);
  const std::uint64_t stride = json_count(view, "byteStride", where).value_or(element);
  if (stride < element || stride > 65536) gltf_fault("{} has an impossible stride; export the file again.", where);
  if (count > 0 && (offset > length || element > length - offset || (length - offset - element) / stride < count - 1))
    gltf_fault("{} claims {} elements, more than its data holds; the file is damaged, export it again.", where, count);
  return {to_size(require_count(view, "byteOffset", where) + offset), to_size(stride)};
}

template <class T>
T load(const char* place) {
  T value;
  std::memcpy(&value, place, sizeof(T));
  return value;
}

double load_number(const char* place, ComponentType type, bool normalized) {
  switch (type) {
    case ComponentType::signed_byte: {
      const double v = load<std::int8_t>(place);
      return normalized ? std::max(v / 127.0, -1.0) : v;
    }
    case ComponentType::unsigned_byte:
      return load<std::uint8_t>(place) / (normalized ? 255.0 : 1.0);
    case ComponentType::signed_short: {
      const double v = load<std::int16_t>(place);
      return normalized ? std::max(v / 32767.0, -1.0) : v;
    }
    case ComponentType::unsigned_short:
      return load<std::uint16_t>(place) / (normalized ? 65535.0 : 1.0);
    case ComponentType::unsigned_int:
      return load<std::uint32_t>(place) / (normalized ? 4294967295.0 : 1.0);
    case ComponentType::single:
      break;
  }
  return load<float>(place);
}

std::uint32_t load_integer(const char* place, ComponentType type) {
  if (component_size(type) == 1) return load<std::uint8_t>(place);
  if (component_size(type) == 2) return load<std::uint16_t>(place);
  return load<std::uint32_t>(place);
}

// The sparse part of an accessor: which elements are replaced, and by what.
struct Sparse {
  std::size_t count = 0;
  Strided indices, values;
  ComponentType index_type = ComponentType::unsigned_short;
};

std::optional<Sparse> find_sparse(const GltfContent& content, const GltfJson& accessor, const AccessorShape& shape,
                                  const std::string& where) {
  if (!accessor.contains("sparse")) return std::nullopt;
  const GltfJson& json = json_object(accessor, "sparse", where);
  Sparse sparse;
  const std::uint64_t count = require_count(json, "count", where);
  if (count > shape.count) gltf_fault("{} replaces more elements than it has; export the file again.", where);
  sparse.count = to_size(count);
  const GltfJson& indices = json_object(json, "indices", where);
  sparse.index_type = component_type(indices, where);
  if (sparse.index_type == ComponentType::single) gltf_fault("{} has indices that aren't whole numbers.", where);
  sparse.indices = locate(content, indices, sparse.count, component_size(sparse.index_type), where);
  sparse.values = locate(content, json_object(json, "values", where), sparse.count, shape.element_bytes(), where);
  return sparse;
}

// Calls read(place of component, index of value) for all components, the sparse ones last.
template <class Read>
void for_each_component(const GltfContent& content, std::size_t index, const AccessorShape& shape, Read&& read) {
  const std::string where = fmt::format("accessor {}", index);
  const GltfJson& accessor = json_array(content.root, "accessors")[index];
  const auto read_element = [&](std::size_t place, std::size_t element) {
    for (std::size_t c = 0; c < shape.columns; ++c)
      for (std::size_t r = 0; r < shape.rows; ++r)
        read(content.binary.data() + place + c * shape.column_bytes() + r * component_size(shape.type),
             element * shape.width() + c * shape.rows + r);
  };
  if (accessor.contains("bufferView")) {
    const Strided data = locate(content, accessor, shape.count, shape.element_bytes(), where);
    for (std::size_t i = 0; i < shape.count; ++i) read_element(data.start + i * data.stride, i);
  }
  const std::optional<Sparse> sparse = find_sparse(content, accessor, shape, where);
  for (std::size_t k = 0; sparse && k < sparse->count; ++k) {
    const std::uint32_t i =
        load_integer(content.binary.data() + sparse->indices.start + k * sparse->indices.stride, sparse->index_type);
    if (i >= shape.count) gltf_fault("{} replaces an element that doesn't exist; export the file again.", where);
    read_element(sparse->values.start + k * sparse->values.stride, i);
  }
}

// Whether the JSON has these numbers, to the single precision of the data.
bool states(const GltfJson& accessor, const char* key, const std::vector<double>& values) {
  const GltfJson& stated = json_array(accessor, key, "an accessor");
  if (stated.size() != values.size()) return false;
  for (std::size_t c = 0; c < values.size(); ++c)
    if (!stated[c].is_number() || static_cast<float>(stated[c].get<double>()) != static_cast<float>(values[c]))
      return false;
  return true;
}

}  // namespace

std::size_t component_size(ComponentType type) {
  switch (type) {
    case ComponentType::signed_byte:
    case ComponentType::unsigned_byte:
      return 1;
    case ComponentType::signed_short:
    case ComponentType::unsigned_short:
      return 2;
    default:
      return 4;
  }
}

std::size_t AccessorShape::column_bytes() const {
  const std::size_t bytes = rows * component_size(type);
  return columns == 1 ? bytes : (bytes + 3) / 4 * 4;
}

std::size_t AccessorShape::element_bytes() const { return columns * column_bytes(); }

std::size_t accessor_count(const GltfContent& content) { return json_array(content.root, "accessors").size(); }

AccessorShape accessor_shape(const GltfContent& content, std::size_t index) {
  const std::string where = fmt::format("accessor {}", index);
  const GltfJson& accessor = json_array(content.root, "accessors").at(index);
  AccessorShape shape;
  shape.type = component_type(accessor, where);
  const auto normalized = accessor.find("normalized");
  shape.normalized = normalized != accessor.end() && normalized->is_boolean() && normalized->get<bool>();
  const std::string name = json_string(accessor, "type");
  const auto found =
      std::find_if(type_names.begin(), type_names.end(), [&](const TypeName& t) { return t.name == name; });
  if (found == type_names.end()) gltf_fault("{} has an unknown type; export the file again.", where);
  shape.rows = found->rows;
  shape.columns = found->columns;
  const std::uint64_t count = require_count(accessor, "count", where);
  const std::size_t most = std::max(most_free_zeros, content.binary.size());
  if (count > most)
    gltf_fault("{} claims {} elements, more than the file's {} bytes can hold; the file is damaged, export it again.",
               where, count, content.binary.size());
  shape.count = to_size(count);
  return shape;
}

void check_accessor(const GltfContent& content, std::size_t index) {
  const AccessorShape shape = accessor_shape(content, index);
  const std::string where = fmt::format("accessor {}", index);
  const GltfJson& accessor = json_array(content.root, "accessors")[index];
  if (accessor.contains("bufferView")) (void)locate(content, accessor, shape.count, shape.element_bytes(), where);
  (void)find_sparse(content, accessor, shape, where);
}

std::vector<double> accessor_numbers(const GltfContent& content, std::size_t index) {
  const AccessorShape shape = accessor_shape(content, index);
  std::vector<double> numbers(shape.count * shape.width(), 0.0);
  for_each_component(content, index, shape, [&](const char* place, std::size_t i) {
    numbers[i] = load_number(place, shape.type, shape.normalized);
  });
  return numbers;
}

std::vector<std::uint32_t> accessor_integers(const GltfContent& content, std::size_t index) {
  const AccessorShape shape = accessor_shape(content, index);
  if (shape.type == ComponentType::single)
    gltf_fault("accessor {} must hold whole numbers, but holds floats; export the file again.", index);
  std::vector<std::uint32_t> numbers(shape.count * shape.width(), 0);
  for_each_component(content, index, shape,
                     [&](const char* place, std::size_t i) { numbers[i] = load_integer(place, shape.type); });
  return numbers;
}

std::vector<float> flat_floats(std::span<const Vec3> vectors, std::string_view whose) {
  std::vector<float> values;
  values.reserve(3 * vectors.size());
  for (const Vec3& v : vectors) {
    if (!v.allFinite()) gltf_fault("{} aren't all finite numbers.", whose);
    for (const double x : v) values.push_back(static_cast<float>(x) + 0.0f);  // + 0 turns −0 into 0
  }
  return values;
}

std::size_t append_floats(GltfContent& content, const std::vector<float>& values, const NewAccessor& how) {
  const auto type =
      std::find_if(type_names.begin(), type_names.end(), [&](const TypeName& t) { return t.name == how.type; });
  const std::size_t width = type->rows * type->columns;
  GltfJson accessor = {
      {"componentType", static_cast<int>(ComponentType::single)}, {"count", values.size() / width}, {"type", how.type}};
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  accessor["bufferView"] = append_view(content, bytes, how.target);
  GltfJson& accessors = editable_array(content, "accessors");
  accessors.push_back(std::move(accessor));
  if (how.with_range) (void)restate_range(content, accessors.size() - 1);
  return accessors.size() - 1;
}

namespace {

/// Numbers in as few bytes as were asked for.
struct PackedNumbers {
  ComponentType type = ComponentType::single;
  std::size_t bytes = 4;
  std::string data;       ///< three numbers after three
  std::vector<char> set;  ///< for each three: whether they aren't zero
  std::size_t count = 0;  ///< of these
};

template <class T>
void pack_integers(const std::vector<float>& values, bool normalized, PackedNumbers& packed) {
  std::vector<T> whole;
  const float one = normalized ? float{std::numeric_limits<T>::max()} : 1.0f;
  for (const float x : values) whole.push_back(static_cast<T>(std::lround(x * one)));
  packed.bytes = sizeof(T);
  packed.data.assign(reinterpret_cast<const char*>(whole.data()), whole.size() * sizeof(T));
}

PackedNumbers pack(const std::vector<float>& values, std::size_t bytes, bool normalized) {
  constexpr float least_steps = 100;  // that the longest vector shall have
  float longest = 0;
  for (const float x : values) longest = std::max(longest, std::abs(x));
  const float most = bytes == 1 ? 127.0f : 32767.0f;
  const float one = normalized ? most : 1.0f;
  const bool fits = bytes < 4 && longest * one <= most && (bytes == 1 || longest * one >= least_steps);
  PackedNumbers packed;
  if (fits && bytes == 1) {
    packed.type = ComponentType::signed_byte;
    pack_integers<std::int8_t>(values, normalized, packed);
  } else if (fits) {
    packed.type = ComponentType::signed_short;
    pack_integers<std::int16_t>(values, normalized, packed);
  } else {
    packed.data.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }
  const std::size_t width = 3 * packed.bytes;
  for (std::size_t at = 0; at < packed.data.size(); at += width) {
    const auto first = packed.data.begin() + static_cast<std::ptrdiff_t>(at);
    packed.set.push_back(std::any_of(first, first + static_cast<std::ptrdiff_t>(width), [](char c) { return c != 0; }));
    packed.count += packed.set.back() != 0 ? 1 : 0;
  }
  return packed;
}

/// Vectors that are nothing beside the longest become zero, so that they needn't be stored.
std::vector<float> without_specks(std::vector<float> values) {
  constexpr float speck = 1.0f / 400;
  const auto square = [&](std::size_t i) {
    return values[i] * values[i] + values[i + 1] * values[i + 1] + values[i + 2] * values[i + 2];
  };
  float longest = 0;
  for (std::size_t i = 0; i < values.size(); i += 3) longest = std::max(longest, square(i));
  for (std::size_t i = 0; i < values.size(); i += 3)
    if (square(i) < speck * speck * longest) std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(i), 3, 0.0f);
  return values;
}

/// Elements of vertex attributes start at multiples of four bytes.
std::string padded(const PackedNumbers& packed, std::size_t stride) {
  std::string bytes;
  const std::size_t width = 3 * packed.bytes;
  for (std::size_t at = 0; at < packed.data.size(); at += width) {
    bytes.append(packed.data, at, width);
    bytes.append(stride - width, '\0');
  }
  return bytes;
}

template <class T>
std::string set_indices(const PackedNumbers& packed) {
  std::vector<T> indices;
  for (std::size_t i = 0; i < packed.set.size(); ++i)
    if (packed.set[i]) indices.push_back(static_cast<T>(i));
  return {reinterpret_cast<const char*>(indices.data()), indices.size() * sizeof(T)};
}

GltfJson sparse_part(GltfContent& content, const PackedNumbers& packed, bool short_indices) {
  std::string values;
  const std::size_t width = 3 * packed.bytes;
  for (std::size_t i = 0; i < packed.set.size(); ++i)
    if (packed.set[i]) values.append(packed.data, i * width, width);
  const ComponentType type = short_indices ? ComponentType::unsigned_short : ComponentType::unsigned_int;
  const std::string indices = short_indices ? set_indices<std::uint16_t>(packed) : set_indices<std::uint32_t>(packed);
  const std::size_t index_view = append_view(content, indices, 0), value_view = append_view(content, values, 0);
  return {{"count", packed.count},
          {"indices", {{"bufferView", index_view}, {"componentType", static_cast<int>(type)}}},
          {"values", {{"bufferView", value_view}}}};
}

/// Puts an array behind the last one where that is of the same kind, so that many targets take one view.
void append_vertices(GltfContent& content, const std::string& bytes, std::size_t stride, GltfJson& accessor) {
  GltfJson& views = editable_array(content, "bufferViews");
  const auto last = views.empty() ? GltfJson::object() : views.back();
  const bool continues =
      last.value("target", 0) == gltf_vertex_target && last.value("byteStride", std::size_t{0}) == stride &&
      last.value("byteOffset", std::size_t{0}) + last.value("byteLength", std::size_t{0}) == content.binary.size() &&
      content.binary.size() % 4 == 0;
  if (!continues) {
    (void)append_view(content, bytes, gltf_vertex_target);
    content.root["bufferViews"].back()["byteStride"] = stride;
  } else {
    accessor["byteOffset"] = last["byteLength"];
    content.root["bufferViews"].back()["byteLength"] = last["byteLength"].get<std::size_t>() + bytes.size();
    content.binary += bytes;
  }
  accessor["bufferView"] = content.root["bufferViews"].size() - 1;
}

}  // namespace

std::size_t append_packed(GltfContent& content, std::span<const Vec3> vectors, const PackedVectors& how,
                          std::string_view whose) {
  const PackedNumbers packed = pack(without_specks(flat_floats(vectors, whose)), how.bytes, how.normalized);
  const std::size_t width = 3 * packed.bytes, stride = (width + 3) / 4 * 4;
  const bool short_indices = vectors.size() <= 0xffff;
  GltfJson accessor = {{"componentType", static_cast<int>(packed.type)}, {"count", vectors.size()}, {"type", "VEC3"}};
  if (packed.type != ComponentType::single) {
    if (how.normalized) accessor["normalized"] = true;
    require_extension(content, "KHR_mesh_quantization");
  }
  const std::size_t sparse_size = packed.count * (width + (short_indices ? 2 : 4));
  if (packed.count > 0 && sparse_size < stride * vectors.size()) {
    accessor["sparse"] = sparse_part(content, packed, short_indices);
  } else if (packed.count > 0) {
    append_vertices(content, padded(packed, stride), stride, accessor);
  }
  GltfJson& accessors = editable_array(content, "accessors");
  accessors.push_back(std::move(accessor));
  if (how.with_range) (void)restate_range(content, accessors.size() - 1);
  return accessors.size() - 1;
}

bool restate_range(GltfContent& content, std::size_t index) {
  const AccessorShape shape = accessor_shape(content, index);
  const std::size_t width = shape.width();
  if (shape.count == 0) return false;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> low(width, infinity), high(width, -infinity);
  std::vector<double> numbers(shape.count * width, 0.0);
  for_each_component(content, index, shape,
                     [&](const char* place, std::size_t i) { numbers[i] = load_number(place, shape.type, false); });
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    low[i % width] = std::min(low[i % width], numbers[i]);
    high[i % width] = std::max(high[i % width], numbers[i]);
  }
  GltfJson& accessor = content.root["accessors"][index];
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::all_of(low.begin(), low.end(), finite) || !std::all_of(high.begin(), high.end(), finite)) return false;
  if (states(accessor, "min", low) && states(accessor, "max", high)) return false;
  accessor["min"] = low;
  accessor["max"] = high;
  return true;
}

}  // namespace supple
