// SPDX-License-Identifier: Apache-2.0
// CharacterSource: what a character is made from, read once and carried from the reader to the writer of a bake.
//
//   hero.glb  ─ read_character_file ─→ CharacterFile ─┐
//   hero.toml ─ load_recipe ───────────→ Recipe ──────┴─ follow_recipe ─→ CharacterSource ─→ engine ─→ writer
//
// The document stays as the file had it, because writers add to it. The character beside it is what the recipe makes of
// the file: in metres, with only the meshes that take part, with all clips, poses and the rig. A file without a recipe
// follows first_recipe(). Nothing looks at the character's file again after this.
#pragma once

#include "supple/io/gltf/gltf_document.h"
#include "supple/pipeline/character/recipe.h"
#include "supple/rig/character_rig.h"
#include "supple/rig/example_pose.h"
#include "supple/rig/pose_morphs.h"

namespace supple {

/// What a character's file offers, in the file's own units.
struct CharacterFile {
  GltfDocument document;
  RawCharacter character;
  std::vector<ExamplePose> poses;  ///< that the file names
};
Result<CharacterFile> read_character_file(const std::filesystem::path& path);

/// A pose of the recipe as the skeleton takes it.
struct RecipePoseState {
  std::string name;
  Pose locals;                                       ///< of all joints
  bool corrected = false;                            ///< a morph target of the same name belongs to it
  std::vector<Index> joints = {};                    ///< that its correction follows; empty: all
  std::map<Index, std::vector<double>> morphs = {};  ///< weights of meshes that a clip moves there, by their node
  double reach = 0;                                  ///< of its correction [rad]; 0: it is interpolated with others
};

struct ResolvedContacts;

struct CharacterSource {
  CharacterFile file;            ///< with the corrective shapes of its contacts, where there are any
  Recipe recipe;                 ///< [body], [material] and [flesh] may be changed before an engine builds
  std::filesystem::path folder;  ///< that the recipe's paths start from
  RawCharacter
      character;  ///< in metres, near the origin (own_place.h); clips of the input, then motions, keyframes and reaches
  std::vector<RecipePoseState> poses;  ///< those of [[pose]], then those of corrections
  CharacterRig rig;                    ///< as the recipe wants it, see recipe_rig()
  Vec3 place = Vec3::Zero();  ///< that the file has the character at, from where it was brought near the origin
  std::vector<Collider> colliders = {};  ///< the recipe's, with their meshes
  /// What an engine has done about skin that enters skin (resolve_contacts.h); null where it wasn't asked for.
  std::shared_ptr<const ResolvedContacts> contacts = {};
};

/// A recipe (.toml), or a character's file (.glb, .gltf), which follows first_recipe(). `motions`: files of clips that
/// are added to those of the recipe, as [[motion]] has them, with paths of the caller's.
Result<CharacterSource> load_source(const std::filesystem::path& path, std::span<const std::string> motions = {});
/// A recipe that a program has made; its paths start from `folder`.
Result<CharacterSource> load_source(const Recipe& recipe, const std::filesystem::path& folder);
/// The same for a character whose file was read before.
Result<CharacterSource> follow_recipe(CharacterFile file, const Recipe& recipe, const std::filesystem::path& folder);
/// A file's document as a character.
Result<CharacterFile> read_character_file(GltfDocument document);

/// The recipe that a character gets when nobody has written one: all of its clips and example poses, and a skull that
/// doesn't sway. `input` is how the recipe names the file.
Recipe first_recipe(const CharacterFile& file, const std::string& input, int tets = TetMeshingOptions{}.tets);

/// Names of the joints that hold skin, each once.
std::vector<std::string> skinned_joints(const RawCharacter& character);

/// The rig as the recipe wants it. Skinning plays the morph targets that clips give weights to. Wires don't: there each
/// corrected pose of the recipe becomes a pose-space correction, which makes the rig the file's own shape in that pose.
Result<CharacterRig> recipe_rig(const Recipe& recipe, const RawCharacter& character,
                                std::span<const RecipePoseState> poses);

/// A pose of the recipe in the rig's parameters: a corrected one with the weight of its morph target at one, a moment
/// of a clip with the weights that it has there.
std::vector<double> pose_parameters(const CharacterRig& rig, const RecipePoseState& state);

/// Poses that the character's file names, and those of corrections. Moments of clips may be poses of the model, but
/// nobody has corrected them.
std::vector<NamedPose> named_poses(const CharacterSource& source);

/// A pose that differs from the neutral one and from those before it by more than a degree.
struct DistinctPose {
  std::size_t pose;  ///< of the source's poses
  std::vector<double> p;
};
std::vector<DistinctPose> distinct_poses(const CharacterSource& source, int most);

/// How tall the source's character stands at rest [m]: what every "% of the height" refers to (character_height()).
double height_of(const CharacterSource& source);

/// "hero.toml, line 3: there is no clip "wlak" in hero.glb; did you mean "walk"?"
Error no_such(const Recipe& recipe, std::string_view kind, std::string_view name,
              std::span<const std::string_view> names);
/// The same for things that have names.
template <class Things>
Error no_such_thing(const Recipe& recipe, std::string_view kind, std::string_view name, const Things& things) {
  std::vector<std::string_view> names;
  for (const auto& thing : things) names.push_back(thing.name);
  return no_such(recipe, kind, name, names);
}

}  // namespace supple
