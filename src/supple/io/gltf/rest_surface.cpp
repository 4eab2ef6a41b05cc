// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/rest_surface.h"

#include "supple/io/gltf/read_character.h"
#include "supple/rig/character_rig.h"
#include "supple/rig/rig.h"

#include <algorithm>

namespace supple {
namespace {

void append_triangles(const CharacterMesh& mesh, Index first_vertex, Surface& out) {
  const auto first_triangle = static_cast<Index>(out.triangles.size());
  for (const Triangle& t : mesh.surface.triangles)
    out.triangles.push_back({t[0] + first_vertex, t[1] + first_vertex, t[2] + first_vertex});
  for (const SurfacePart& part : mesh.surface.parts) {
    const std::string name = part.name.empty() ? mesh.name : mesh.name + "/" + part.name;
    out.parts.push_back({name, part.first_triangle + first_triangle, part.triangle_count});
  }
}

// Values for all vertices; where a mesh lacks the attribute, white or zero.
void append_attributes(const CharacterMesh& mesh, std::size_t first_vertex, Surface& out) {
  for (const VertexAttribute& own : mesh.surface.attributes) {
    auto known = std::find_if(out.attributes.begin(), out.attributes.end(), [&](const VertexAttribute& a) {
      return a.name == own.name && a.components == own.components;
    });
    if (known == out.attributes.end()) {
      const auto same_name = [&](const VertexAttribute& a) { return a.name == own.name; };
      if (std::any_of(out.attributes.begin(), out.attributes.end(), same_name)) continue;
      const float missing = own.name == colour_attribute ? 1.0f : 0.0f;
      const std::size_t size = out.vertices.size() * to_size(own.components);
      out.attributes.push_back({own.name, own.components, std::vector<float>(size, missing)});
      known = out.attributes.end() - 1;
    }
    std::copy(own.values.begin(), own.values.end(),
              known->values.begin() + static_cast<std::ptrdiff_t>(first_vertex) * own.components);
  }
}

}  // namespace

Result<Surface> rest_surface(const RawCharacter& character) {
  const Result<CharacterRig> rig = CharacterRig::create(character);
  SUPPLE_RETURN_IF_ERROR(rig);
  const CharacterPose pose = rig->neutral();
  Surface surface;
  surface.vertices = evaluate_all(*rig->rig(), pose.p);
  for (Vec3& x : surface.vertices) {
    x = pose.placement * x;
    if (!x.allFinite())
      return input_error(character.name + " puts vertices at places that aren't finite; export the file again.");
  }
  for (std::size_t m = 0; m < character.meshes.size(); ++m) {
    append_triangles(character.meshes[m], rig->first_vertex()[m], surface);
    append_attributes(character.meshes[m], to_size(rig->first_vertex()[m]), surface);
  }
  return surface;
}

Result<LoadedMesh> parse_gltf_surface(std::string_view bytes, const std::string& name, ResourceReader read) {
  const Result<GltfDocument> document = parse_gltf(bytes, name, std::move(read));
  SUPPLE_RETURN_IF_ERROR(document);
  const Result<RawCharacter> character = read_character(*document, {.require_skin = false});
  SUPPLE_RETURN_IF_ERROR(character);
  Result<Surface> surface = rest_surface(*character);
  SUPPLE_RETURN_IF_ERROR(surface);
  return LoadedMesh{std::move(*surface), bytes.starts_with("glTF") ? "glTF binary" : "glTF", character->warnings};
}

}  // namespace supple
