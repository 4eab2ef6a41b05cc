// SPDX-License-Identifier: Apache-2.0
#include "played_character.h"

#include "decode_image.h"
#include "supple/export/baked_mark.h"
#include "supple/io/gltf/read_appearance.h"
#include "supple/io/gltf/read_character.h"
#include "supple/mesh/bounds.h"

#include <Eigen/Geometry>

#include <map>

namespace supple {
namespace {

/// Numbers of vertices that share a normal: same vertex of the rig, same normal in the file. Without normals in the
/// file every vertex is for itself, which is flat shading where triangles share none.
class NormalGroups {
 public:
  explicit NormalGroups(Index& count) : count_(count) {}

  Index group(Index rig_vertex, const Vec3* normal) {
    if (normal == nullptr) return count_++;
    const Eigen::Vector3i rounded = (20 * *normal).array().round().cast<int>();
    const auto [place, added] = known_.try_emplace({rig_vertex, rounded.x(), rounded.y(), rounded.z()}, count_);
    if (added) ++count_;
    return place->second;
  }

 private:
  Index& count_;
  std::map<std::array<Index, 4>, Index> known_;
};

const Color plain = Color(0.55f, 0.51f, 0.48f);

}  // namespace

Result<PlayedCharacter> PlayedCharacter::load(const std::filesystem::path& path) {
  const Result<GltfDocument> document = load_gltf(path);
  SUPPLE_RETURN_IF_ERROR(document);
  Result<RawCharacter> character = read_character(*document, {.require_skin = false});
  SUPPLE_RETURN_IF_ERROR(character);
  return create(*document, std::move(*character));
}

Result<PlayedCharacter> PlayedCharacter::load_rigid(const std::filesystem::path& baked) {
  const Result<GltfDocument> document = load_gltf(baked);
  SUPPLE_RETURN_IF_ERROR(document);
  Result<RawCharacter> character = read_character(*document, {.require_skin = false});
  SUPPLE_RETURN_IF_ERROR(character);
  if (has_helper_bones(*character))
    return input_error(baked.string() +
                       ": its soft motion is in helper bones, without which its skin can't be told; give the file that "
                       "was baked as well, before this one.");
  if (!leave_out_soft_motion(*character))
    return input_error(baked.string() +
                       ": it has no soft motion, so there is nothing to show; bake it first, with `supple bake`.");
  return create(*document, std::move(*character));
}

Result<PlayedCharacter> PlayedCharacter::create(const GltfDocument& document, RawCharacter character) {
  const Result<Appearance> appearance = read_appearance(document, character);
  SUPPLE_RETURN_IF_ERROR(appearance);
  Result<CharacterRig> rig = CharacterRig::create(character);
  SUPPLE_RETURN_IF_ERROR(rig);
  PlayedCharacter played(std::move(character), std::move(*rig));
  std::vector<std::shared_ptr<const Image>> images(appearance->images.size());
  for (const auto& mesh : appearance->meshes)
    for (const PrimitiveAppearance& primitive : mesh)
      if (const auto image = primitive.material.image; image && !images[*image])
        images[*image] = decode_image(appearance->images[*image]);
  for (std::size_t m = 0; m < appearance->meshes.size(); ++m) played.add_mesh(m, appearance->meshes[m], images);
  const std::vector<Vec3> rest = played.at_rest();
  const Vec3 extent = bounds_of(rest).size();
  played.height_ = std::max({extent.y(), extent.maxCoeff() / 3, 1e-12});
  return played;
}

void PlayedCharacter::add_mesh(std::size_t mesh, const std::vector<PrimitiveAppearance>& primitives,
                               const std::vector<std::shared_ptr<const Image>>& images) {
  const CharacterMesh& source = character_.meshes[mesh];
  NormalGroups groups(group_count_);
  for (std::size_t p = 0; p < primitives.size(); ++p) {
    const PrimitiveAppearance& look = primitives[p];
    const std::vector<Index>& welded = source.welded_vertex[p];
    parts_.push_back({character_.file_node[to_size(source.node)], p, source_.size(), welded.size()});
    for (std::size_t v = 0; v < welded.size(); ++v) {
      source_.push_back(rig_.first_vertex()[mesh] + welded[v]);
      normal_group_.push_back(groups.group(welded[v], look.normals.empty() ? nullptr : &look.normals[v]));
    }
    DrawnPart part{look.triangles, look.colors, look.texcoords, nullptr, look.material.alpha_cutoff};
    if (look.material.image) part.texture = images[*look.material.image];
    const bool bare = part.colors.empty() && !part.texture && look.material.factor == Color::Ones();
    if (part.colors.empty()) part.colors.assign(welded.size(), Color::Ones());
    for (Color& color : part.colors) color = bare ? plain : Color(color.cwiseProduct(look.material.factor));
    drawn_.push_back(std::move(part));
  }
}

std::vector<Vec3> PlayedCharacter::positions_of(const CharacterPose& pose) const {
  const std::vector<Vec3> welded = evaluate_all(*rig_.rig(), pose.p);
  std::vector<Vec3> positions(source_.size());
  for (std::size_t v = 0; v < positions.size(); ++v) positions[v] = pose.placement * welded[to_size(source_[v])];
  return positions;
}

std::vector<Vec3> PlayedCharacter::at_rest() const { return positions_of(rig_.neutral()); }

std::vector<Vec3> PlayedCharacter::at(const Clip& clip, double time) const {
  CharacterPose pose = rig_.neutral();
  rig_.sample(clip, time, ClipWrap::hold, pose);
  return positions_of(pose);
}

Vec3 PlayedCharacter::place(const Clip& clip, double time) const {
  CharacterPose pose = rig_.neutral();
  rig_.sample(clip, time, ClipWrap::hold, pose);
  return pose.placement.translation;
}

std::vector<Vec3> PlayedCharacter::normals_of(const std::vector<Vec3>& positions) const {
  std::vector<Vec3> sums(to_size(group_count_), Vec3::Zero());
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    for (const Triangle& t : drawn_[k].triangles) {
      std::array<std::size_t, 3> v;
      for (std::size_t i = 0; i < 3; ++i) v[i] = parts_[k].first + to_size(t[i]);
      const Vec3 area = (positions[v[1]] - positions[v[0]]).cross(positions[v[2]] - positions[v[0]]);
      for (const std::size_t i : v) sums[to_size(normal_group_[i])] += area;
    }
  }
  std::vector<Vec3> normals(positions.size());
  for (std::size_t v = 0; v < normals.size(); ++v) {
    const Vec3& sum = sums[to_size(normal_group_[v])];
    const double length = sum.norm();
    normals[v] = length > 0 ? Vec3(sum / length) : Vec3::UnitZ();
  }
  return normals;
}

std::vector<DrawMesh> PlayedCharacter::drawn(const std::vector<Vec3>& positions,
                                             const std::vector<Color>& colors) const {
  const std::vector<Vec3> normals = normals_of(positions);
  std::vector<DrawMesh> meshes;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const auto cut = [&](const auto& all) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(parts_[k].first);
      return std::vector(begin, begin + static_cast<std::ptrdiff_t>(parts_[k].count));
    };
    const DrawnPart& part = drawn_[k];
    meshes.push_back(
        {cut(positions), cut(normals), colors.empty() ? part.colors : cut(colors), part.triangles, {}, {}, 0});
    if (!colors.empty()) continue;
    meshes.back().texcoords = part.texcoords;
    meshes.back().texture = part.texture;
    meshes.back().alpha_cutoff = part.texture ? part.alpha_cutoff : 0;
  }
  return meshes;
}

}  // namespace supple
