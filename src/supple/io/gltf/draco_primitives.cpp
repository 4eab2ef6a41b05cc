// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/draco_primitives.h"

#include "supple/io/gltf/gltf_accessor.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#endif
#include <draco/compression/decode.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include <set>

namespace supple {
namespace {

constexpr const char* extension_name = "KHR_draco_mesh_compression";

// A point of a mesh takes some bits of the stream; what claims more than this many per byte is made to hurt.
constexpr std::uint64_t most_points_per_byte = 256;

std::unique_ptr<draco::Mesh> decode_mesh(std::string_view bytes, const std::string& where) {
  draco::DecoderBuffer buffer;
  buffer.Init(bytes.data(), bytes.size());
  draco::Decoder decoder;
  auto decoded = decoder.DecodeMeshFromBuffer(&buffer);
  if (!decoded.ok() || decoded.value() == nullptr)
    gltf_fault("the Draco data of {} is damaged; export the file again, or without compression.", where);
  std::unique_ptr<draco::Mesh> mesh = std::move(decoded).value();
  if (mesh->num_points() > most_points_per_byte * bytes.size() ||
      mesh->num_faces() > most_points_per_byte * bytes.size())
    gltf_fault("the Draco data of {} claims more points than it can hold; export the file again.", where);
  return mesh;
}

// One attribute, element after element, in the type that the accessor promises.
template <class T>
std::string attribute_bytes(const draco::Mesh& mesh, const draco::PointAttribute& attribute, std::size_t width) {
  std::vector<T> element(std::max<std::size_t>(width, to_size(attribute.num_components())));
  std::string bytes;
  bytes.reserve(mesh.num_points() * width * sizeof(T));
  for (draco::PointIndex point(0); point < mesh.num_points(); ++point) {
    attribute.ConvertValue<T>(attribute.mapped_index(point), static_cast<std::int8_t>(width), element.data());
    bytes.append(reinterpret_cast<const char*>(element.data()), width * sizeof(T));
  }
  return bytes;
}

std::string attribute_bytes(const draco::Mesh& mesh, const draco::PointAttribute& attribute,
                            const AccessorShape& shape) {
  const std::size_t width = shape.width();
  switch (shape.type) {
    case ComponentType::signed_byte:
      return attribute_bytes<std::int8_t>(mesh, attribute, width);
    case ComponentType::unsigned_byte:
      return attribute_bytes<std::uint8_t>(mesh, attribute, width);
    case ComponentType::signed_short:
      return attribute_bytes<std::int16_t>(mesh, attribute, width);
    case ComponentType::unsigned_short:
      return attribute_bytes<std::uint16_t>(mesh, attribute, width);
    case ComponentType::unsigned_int:
      return attribute_bytes<std::uint32_t>(mesh, attribute, width);
    case ComponentType::single:
      break;
  }
  return attribute_bytes<float>(mesh, attribute, width);
}

// Elements of vertex data start at multiples of four.
std::string padded_elements(const std::string& bytes, std::size_t element) {
  const std::size_t stride = (element + 3) / 4 * 4;
  if (stride == element) return bytes;
  std::string padded;
  for (std::size_t i = 0; i < bytes.size(); i += element) {
    padded.append(bytes, i, element);
    padded.append(stride - element, '\0');
  }
  return padded;
}

// An accessor of its own for the decoded data: two primitives may have shared the description, not the data.
std::size_t own_accessor(GltfContent& content, std::size_t accessor, std::set<std::size_t>& taken) {
  if (taken.insert(accessor).second) return accessor;
  GltfJson copy = content.root["accessors"][accessor];
  content.root["accessors"].push_back(std::move(copy));
  return content.root["accessors"].size() - 1;
}

void fill_accessor(GltfContent& content, std::size_t accessor, const std::string& bytes, std::size_t count,
                   std::size_t stride, int target) {
  const std::size_t view = append_view(content, bytes, target);
  if (stride > 0) content.root["bufferViews"][view]["byteStride"] = stride;
  GltfJson& json = content.root["accessors"][accessor];
  json["bufferView"] = view;
  json["count"] = count;
  for (const char* key : {"byteOffset", "sparse"}) json.erase(key);
  // Quantisation moved the values a little, so that the stated range need not hold any more.
  if (json.contains("min") || json.contains("max")) (void)restate_range(content, accessor);
}

std::size_t fill_indices(GltfContent& content, std::optional<std::size_t> accessor, const draco::Mesh& mesh,
                         std::set<std::size_t>& taken) {
  std::vector<std::uint32_t> indices;
  indices.reserve(3 * mesh.num_faces());
  for (draco::FaceIndex face(0); face < mesh.num_faces(); ++face)
    for (const draco::PointIndex& point : mesh.face(face)) indices.push_back(point.value());
  if (!accessor) {
    editable_array(content, "accessors").push_back({{"type", "SCALAR"}});
    accessor = content.root["accessors"].size() - 1;
  }
  const std::size_t target = own_accessor(content, *accessor, taken);
  content.root["accessors"][target]["componentType"] = static_cast<int>(ComponentType::unsigned_int);
  const std::string_view bytes(reinterpret_cast<const char*>(indices.data()), indices.size() * sizeof(std::uint32_t));
  fill_accessor(content, target, std::string(bytes), indices.size(), 0, gltf_index_target);
  return target;
}

void decode_primitive(GltfContent& content, GltfJson& primitive, const std::string& where,
                      std::set<std::size_t>& taken) {
  const GltfJson extension = primitive["extensions"][extension_name];
  const GltfJson& views = json_array(content.root, "bufferViews");
  const GltfJson& view = views[require_index(extension, "bufferView", views.size(), where)];
  const ByteRange source{view.at("byteOffset").get<std::size_t>(), view.at("byteLength").get<std::size_t>()};
  const std::unique_ptr<draco::Mesh> mesh = decode_mesh(content.binary.substr(source.start, source.size), where);
  content.freed.push_back(source);
  const std::size_t accessors = accessor_count(content);
  for (const auto& [name, id] : json_object(extension, "attributes", where).items()) {
    const draco::PointAttribute* attribute =
        id.is_number_unsigned() ? mesh->GetAttributeByUniqueId(id.get<std::uint32_t>()) : nullptr;
    if (attribute == nullptr) gltf_fault("the Draco data of {} lacks {}; export the file again.", where, name);
    const std::size_t described = require_index(primitive["attributes"], name.c_str(), accessors, where);
    const std::size_t accessor = own_accessor(content, described, taken);
    const AccessorShape shape = accessor_shape(content, described);
    if (shape.columns > 1) gltf_fault("{} of {} is of a type that Draco doesn't have.", name, where);
    const std::size_t element = shape.element_bytes();
    fill_accessor(content, accessor, padded_elements(attribute_bytes(*mesh, *attribute, shape), element),
                  mesh->num_points(), (element + 3) / 4 * 4, gltf_vertex_target);
    primitive["attributes"][name] = accessor;
  }
  primitive["indices"] = fill_indices(content, json_index(primitive, "indices", accessors, where), *mesh, taken);
  primitive["mode"] = 4;
  primitive["extensions"].erase(extension_name);
  if (primitive["extensions"].empty()) primitive.erase("extensions");
}

// What is left of a compressed view: no data, but its number stays, because others may count views.
void empty_decoded_views(GltfContent& content, const std::set<std::size_t>& views) {
  if (views.empty()) return;
  const std::size_t start = append_data(content, std::string(4, '\0'));
  for (const std::size_t v : views) {
    content.root["bufferViews"][v]["byteOffset"] = start;
    content.root["bufferViews"][v]["byteLength"] = 4;
  }
}

}  // namespace

void decode_draco_primitives(GltfContent& content) {
  std::set<std::size_t> taken, views;
  if (json_array(content.root, "meshes").empty()) return;
  // Made before anything refers into the root, because a new key moves the others.
  (void)editable_array(content, "accessors");
  (void)editable_array(content, "bufferViews");
  GltfJson& meshes = content.root["meshes"];
  for (std::size_t m = 0; m < meshes.size(); ++m) {
    const std::size_t count = json_array(meshes[m], "primitives").size();
    for (std::size_t p = 0; p < count; ++p) {
      GltfJson& primitive = meshes[m]["primitives"][p];
      const std::string where = fmt::format("mesh {}", m);
      const GltfJson& extensions = json_object(primitive, "extensions", where);
      const auto found = extensions.find(extension_name);
      if (found == extensions.end()) continue;
      (void)json_object(primitive, "attributes", where);
      views.insert(require_index(*found, "bufferView", json_array(content.root, "bufferViews").size(), where));
      decode_primitive(content, primitive, where, taken);
    }
  }
  empty_decoded_views(content, views);
  forget_extension(content, extension_name);
}

}  // namespace supple
