// SPDX-License-Identifier: Apache-2.0
// PlayedCharacter: a glTF file as its viewers see it, at any moment of its clips, through our own reader and rig: a
// file of ours that looks right here has been written and read right.
//
// Vertices are those of the file, mesh after mesh and primitive after primitive. Normals are those of the deformed
// triangles; vertices that the file gives different normals in one place keep a crease between them.
#pragma once

#include "supple/io/gltf/gltf_document.h"
#include "supple/rig/character_rig.h"
#include "surface_renderer.h"

#include <filesystem>

namespace supple {

class PlayedCharacter {
 public:
  static Result<PlayedCharacter> load(const std::filesystem::path& path);
  /// A baked file as the character was before. Fails for one that has no soft motion.
  static Result<PlayedCharacter> load_rigid(const std::filesystem::path& baked);

  /// A primitive of a mesh in its place in the file.
  struct Part {
    Index node = 0;  ///< of the file
    std::size_t primitive = 0;
    std::size_t first = 0, count = 0;  ///< its vertices among all
  };

  const std::string& name() const { return character_.name; }
  const std::vector<Clip>& clips() const { return character_.clips; }
  const std::vector<Part>& parts() const { return parts_; }
  std::size_t vertex_count() const { return source_.size(); }
  bool has_skin() const { return !character_.skins.empty(); }
  /// What displacements are measured by, as character_height() has it: the extent upwards at rest, or a third of the
  /// largest where it lies flat.
  double height() const { return height_; }

  /// Positions in the world.
  std::vector<Vec3> at_rest() const;
  std::vector<Vec3> at(const Clip& clip, double time) const;
  /// Where the character stands then, apart from its pose.
  Vec3 place(const Clip& clip, double time) const;

  /// What to draw at these positions, in the file's colours and textures, or in the given linear ones without.
  std::vector<DrawMesh> drawn(const std::vector<Vec3>& positions, const std::vector<Color>& colors = {}) const;

 private:
  struct DrawnPart {
    std::vector<Triangle> triangles;
    std::vector<Color> colors;
    std::vector<Eigen::Vector2f> texcoords;
    std::shared_ptr<const Image> texture;
    double alpha_cutoff = 0;
  };
  static Result<PlayedCharacter> create(const GltfDocument& document, RawCharacter character);
  PlayedCharacter(RawCharacter character, CharacterRig rig) : character_(std::move(character)), rig_(std::move(rig)) {}
  void add_mesh(std::size_t mesh, const std::vector<struct PrimitiveAppearance>& primitives,
                const std::vector<std::shared_ptr<const Image>>& images);
  std::vector<Vec3> positions_of(const CharacterPose& pose) const;
  std::vector<Vec3> normals_of(const std::vector<Vec3>& positions) const;

  RawCharacter character_;
  CharacterRig rig_;
  std::vector<Part> parts_;
  std::vector<DrawnPart> drawn_;
  std::vector<Index> source_;        ///< of each vertex: its vertex of the rig
  std::vector<Index> normal_group_;  ///< of each vertex: those with the same number share a normal
  Index group_count_ = 0;
  double height_ = 1;
};

}  // namespace supple
