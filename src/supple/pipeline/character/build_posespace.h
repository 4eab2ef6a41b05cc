// SPDX-License-Identifier: Apache-2.0
// What a recipe says of the pose-space engine, and the road from a source to a body in r coordinates (2016 paper).
//
// Which poses of a character get a reduced model of their own (section 5): those of its recipe. Where it has none,
// poses of its clips are candidates (offline/posespace/bases/choose_poses.h). Bases may be those of patches: the ones
// that the recipe names, or those of the skeleton.
#pragma once

#include "supple/offline/patches/patches.h"
#include "supple/offline/posespace/reduce_body.h"
#include "supple/pipeline/character/character_body.h"
#include "supple/pipeline/character/engine.h"

namespace supple {

/// A source followed to the end of the build, with all that was made on the way: what comparisons and benchmarks look
/// into. Bakes need only what ships (engine_posespace.h).
struct BuiltCharacter {
  CharacterSource source;
  CharacterBody body;
  ReducedBody reduced;
  BuildSeconds seconds;

  const RawCharacter& character() const { return source.character; }
  const CharacterRig& rig() const { return source.rig; }
};

Result<BuiltCharacter> build_character(CharacterSource source, Progress& progress = Progress::silent(),
                                       StageStore& store = StageStore::none());
/// The same from a recipe whose paths start from `folder`.
Result<BuiltCharacter> build_character(const Recipe& recipe, const std::filesystem::path& folder,
                                       Progress& progress = Progress::silent(), StageStore& store = StageStore::none());

/// How many elements and vertices stand for all; 0: as many as the tolerance asks for.
struct CubatureCounts {
  int elements = 0, vertices = 0;
};

/// The last stage alone, for a recipe that differs from the source's in [flesh] only. `rest`: Φ of another reduction of
/// the same body, to be compared with it; null: as the recipe says. `unseen`: a clip that bases and cubature may know
/// nothing of, to be judged by it; the stiffness is tuned with all clips. `counts`: of cubature, to be compared with
/// others' that have as many.
Result<ReducedBody> reduce_character(const Recipe& recipe, const CharacterSource& source, const CharacterBody& body,
                                     Progress& progress = Progress::silent(), StageStore& store = StageStore::none(),
                                     std::shared_ptr<const Rig> rest = {}, const std::string& unseen = {},
                                     const CubatureCounts& counts = {});

/// The recipe's poses (distinct_poses()) with what is painted in them on the tuned mesh, at most `most`.
std::vector<ReducePose> recipe_poses(const CharacterSource& source, const CharacterBody& body, const TetMesh& tuned,
                                     int most);

/// One handle per [[local]] of the recipe, in their order; without any, those of automatic_handles().
std::vector<PatchHandle> recipe_handles(const Recipe& recipe, const RawCharacter& character, const CharacterRig& rig,
                                        const EmbeddedBody& body);

/// Weights and modes of the patches. Those that the recipe counts get what it says; the others share what is left of
/// `[flesh] size`, by patch_importance(), and four at least. `compliance` as there. Fails as make_patches() does.
Result<Patches> recipe_patches(const Recipe& recipe, const RawCharacter& character, const CharacterRig& rig,
                               const EmbeddedBody& body, const VecX& compliance = {});

}  // namespace supple
