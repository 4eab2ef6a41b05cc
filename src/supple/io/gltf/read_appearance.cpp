// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/read_appearance.h"

#include "supple/io/gltf/gltf_accessor.h"
#include "supple/io/gltf/gltf_mesh.h"
#include "supple/io/mesh/loaded_mesh.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

// The numbers of an attribute if it has `width` of them for every vertex.
std::vector<double> attribute_numbers(const GltfContent& content, const GltfJson& attributes, const char* name,
                                      std::size_t width, std::size_t vertices, const std::string& where) {
  const auto accessor = json_index(attributes, name, accessor_count(content), where);
  if (!accessor || accessor_shape(content, *accessor).width() != width) return {};
  std::vector<double> numbers = accessor_numbers(content, *accessor);
  const bool sane = numbers.size() == width * vertices &&
                    std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
  return sane ? numbers : std::vector<double>();
}

std::vector<Color> vertex_colors(const PrimitiveData& data) {
  std::vector<Color> colors;
  for (const VertexAttribute& attribute : data.attributes) {
    if (attribute.name != colour_attribute || attribute.components < 3) continue;
    const auto width = to_size(attribute.components);
    for (std::size_t i = 0; i + width <= attribute.values.size(); i += width)
      colors.emplace_back(attribute.values[i], attribute.values[i + 1], attribute.values[i + 2]);
  }
  return colors.size() == data.vertex_count() ? colors : std::vector<Color>();
}

std::optional<std::size_t> image_of(const GltfContent& content, const GltfJson& reference, const std::string& where) {
  const GltfJson& textures = json_array(content.root, "textures");
  const auto texture = json_index(reference, "index", textures.size(), where);
  if (!texture) return std::nullopt;
  return json_index(textures[*texture], "source", json_array(content.root, "images").size(), where);
}

MaterialAppearance read_material(const GltfContent& content, const GltfJson& primitive, const std::string& where) {
  MaterialAppearance result;
  const GltfJson& materials = json_array(content.root, "materials");
  const auto index = json_index(primitive, "material", materials.size(), where);
  if (!index) return result;
  const GltfJson& material = materials[*index];
  const GltfJson& base = json_object(material, "pbrMetallicRoughness", where);
  const std::vector<double> factor = json_numbers(base, "baseColorFactor", where, 4);
  if (!factor.empty()) result.factor = Eigen::Vector3d(factor[0], factor[1], factor[2]).cast<float>();
  result.image = image_of(content, json_object(base, "baseColorTexture", where), where);
  const std::string mode = json_string(material, "alphaMode", "OPAQUE");
  const auto cutoff = material.find("alphaCutoff");
  if (mode != "OPAQUE")
    result.alpha_cutoff =
        mode == "MASK" && cutoff != material.end() && cutoff->is_number() ? cutoff->get<double>() : 0.5;
  return result;
}

PrimitiveAppearance read_primitive_appearance(const GltfContent& content, const GltfJson& primitive,
                                              const std::string& where) {
  PrimitiveAppearance result;
  WeightFaults faults;
  const std::optional<PrimitiveData> data = read_primitive(content, primitive, where, faults);
  if (!data) return result;
  result.triangles = data->triangles;
  result.colors = vertex_colors(*data);
  const GltfJson& attributes = json_object(primitive, "attributes", where);
  const std::size_t vertices = data->vertex_count();
  const std::vector<double> normals = attribute_numbers(content, attributes, "NORMAL", 3, vertices, where);
  for (std::size_t i = 0; i < normals.size(); i += 3)
    result.normals.emplace_back(normals[i], normals[i + 1], normals[i + 2]);
  const std::vector<double> texcoords = attribute_numbers(content, attributes, "TEXCOORD_0", 2, vertices, where);
  for (std::size_t i = 0; i < texcoords.size(); i += 2)
    result.texcoords.emplace_back(static_cast<float>(texcoords[i]), static_cast<float>(texcoords[i + 1]));
  result.material = read_material(content, primitive, where);
  if (result.texcoords.empty()) result.material.image.reset();
  return result;
}

std::vector<std::string> read_images(const GltfContent& content) {
  std::vector<std::string> images;
  const GltfJson& views = json_array(content.root, "bufferViews");
  for (const GltfJson& image : json_array(content.root, "images")) {
    images.emplace_back();
    const auto view = json_index(image, "bufferView", views.size(), "an image");
    if (!view) continue;
    const std::uint64_t start = json_count(views[*view], "byteOffset", "an image").value_or(0);
    const std::uint64_t size = json_count(views[*view], "byteLength", "an image").value_or(0);
    if (start <= content.binary.size() && size <= content.binary.size() - start)
      images.back() = content.binary.substr(start, size);
  }
  return images;
}

}  // namespace

Result<Appearance> read_appearance(const GltfDocument& document, const RawCharacter& character) {
  GltfDocument whole = document;
  return gltf_guarded(document.name(), [&]() -> Result<Appearance> {
    embed_images(whole);
    const GltfContent& content = whole.content();
    const GltfJson& meshes = json_array(content.root, "meshes");
    Appearance appearance;
    for (const CharacterMesh& mesh : character.meshes) {
      const std::string where = fmt::format("mesh {}", mesh.file_mesh);
      const GltfJson& json = meshes.at(to_size(mesh.file_mesh));
      std::vector<PrimitiveAppearance> primitives;
      for (const GltfJson& primitive : json_array(json, "primitives", where))
        primitives.push_back(read_primitive_appearance(content, primitive, where));
      appearance.meshes.push_back(std::move(primitives));
    }
    appearance.images = read_images(content);
    return appearance;
  });
}

}  // namespace supple
