// SPDX-License-Identifier: Apache-2.0
// The seam between engines. Whatever moves the flesh, bake, compare, viewers and writers see only what is here:
//
//   CharacterSource ─ CharacterEngine ─→ SoftCharacter ─ simulate(clip) ─→ ClipRun ─ ClipFrames ─→ SoftFrames
//                     builds or loads     its asset                        how far every vertex
//                     a model                                              of the skin moves, at any time
//
// An engine gives four things: its model in asset/ with a kind of archive, its builder in offline/, its step, and a
// ClipRun. Engines know nothing of each other; find_engine() is the one place that lists them.
#pragma once

#include "supple/asset/asset_file.h"
#include "supple/base/progress.h"
#include "supple/base/stage_store.h"
#include "supple/pipeline/character/character_body.h"
#include "supple/pipeline/character/character_source.h"
#include "supple/pipeline/character/simulate_clip.h"

namespace supple {

struct BuildSeconds {
  double read = 0, embed = 0, reduce = 0;
};

/// What a report tells of a simulated clip.
struct ClipRunReport {
  bool loop = false;
  int rounds = 0;            ///< that a loop took to repeat itself
  double gap = 0;            ///< of a loop between its end and its start before it was closed [m]
  int recovered = 0;         ///< steps that broke down
  int cuts = 0;              ///< within the range
  double violent = 0;        ///< [s] in which the rig's acceleration was beyond what flesh can bear, and was limited
  double violence = 0;       ///< its largest as a multiple of that
  double restraint = 1;      ///< less than one where flesh flew apart without
  double energy = 0;         ///< largest, elastic + kinetic [J]
  double contact_depth = 0;  ///< of the deepest contact that its searches find [m]
  double penetration = 0;    ///< the deepest that skin is inside something, where the engine has contact [m]
  double residual = 0;       ///< of the worst frame, where frames are solved (QuasistaticSettings::tolerance)
  Index solved_frames = 0;   ///< that were solved for rest; 0: the engine steps through time
  double seconds = 0;        ///< that the simulation took
  Index steps = 0;
};

/// A clip that was simulated. Displacements are those of the vertices of the rig, mesh after mesh [m].
class ClipRun {
 public:
  virtual ~ClipRun() = default;

  virtual double start() const = 0;  ///< [s] of the clip: before this nothing was simulated
  virtual ClipRunReport report() const = 0;
  /// How far soft tissue carries each vertex at a time of the clip, in the world.
  virtual void in_world(double time, std::span<Vec3> displacement) = 0;
  /// The same in the frame of the character's root.
  virtual void in_character(double time, std::span<Vec3> displacement) = 0;
  /// The same turned back to the neutral pose with the flesh around each vertex: what players of morph targets
  /// interpolate in straight lines.
  virtual void in_neutral_pose(double time, std::span<Vec3> displacement) = 0;
};

/// A character with the model that an engine has built or loaded for it.
class SoftCharacter {
 public:
  explicit SoftCharacter(std::shared_ptr<const CharacterSource> source) : source_(std::move(source)) {}
  virtual ~SoftCharacter() = default;
  SoftCharacter(const SoftCharacter&) = delete;
  SoftCharacter& operator=(const SoftCharacter&) = delete;

  const CharacterSource& source() const { return *source_; }
  const RawCharacter& character() const { return source_->character; }
  const CharacterRig& rig() const { return source_->rig; }
  Index vertex_count() const { return rig().rig()->vertex_count(); }

  /// What ships; encode_asset() makes a file of it.
  virtual const Asset& asset() const = 0;
  /// Remarks of the build, one sentence each.
  virtual std::vector<std::string> warnings() const = 0;
  /// What drives the flesh is multiplied with this, besides what the recipe and settings say (exaggeration.h).
  virtual double exaggeration() const { return 1; }
  /// Whether the motion of the rig drives the flesh, so that more of it can be asked for.
  virtual bool is_driven() const { return true; }
  virtual void set_exaggeration(double /*gain*/) {}
  /// Simulates one of the source's clips. May be called from several threads. `this` must outlive the result.
  virtual Result<std::unique_ptr<ClipRun>> simulate(const Clip& clip, const SimulateSettings& settings,
                                                    Progress& progress = Progress::silent()) const = 0;
  /// Solves some of CharacterEngine::parts_of a clip and keeps them in `settings.parts`, where simulate() finds them.
  /// Fails where they can't be kept.
  virtual Status solve_parts(const Clip& clip, const SimulateSettings& settings, std::span<const Index> parts,
                             Progress& progress = Progress::silent()) const;

  BuildSeconds seconds;

 private:
  std::shared_ptr<const CharacterSource> source_;
};

class CharacterEngine {
 public:
  virtual ~CharacterEngine() = default;
  virtual std::string_view name() const = 0;
  /// What it does, in half a line.
  virtual std::string_view brief() const = 0;
  /// Whether its models are what an asset holds.
  virtual bool owns(const Asset& asset) const = 0;

  /// Fills the character with tetrahedra and builds the model of them, or finds both in the store.
  Result<std::unique_ptr<SoftCharacter>> build(std::shared_ptr<const CharacterSource> source,
                                               Progress& progress = Progress::silent(),
                                               StageStore& store = StageStore::none()) const;
  /// The source with a model that was built before, over whatever clips it has now. Fails where the asset is another
  /// engine's, for another character, or for another rig of it.
  virtual Result<std::unique_ptr<SoftCharacter>> take_asset(std::shared_ptr<const CharacterSource> source,
                                                            Asset asset) const = 0;
  /// Whether it keeps skin out of skin by itself. For others [flesh] contact resolves that into corrections of poses
  /// (resolve_contacts.h), before a model is built or taken.
  virtual bool solves_contacts() const { return false; }
  /// The parts of a clip that a run with these settings needs, where they can be solved apart from each other, on
  /// several machines; none where each frame follows from the one before.
  virtual std::vector<Index> parts_of(const Recipe& /*recipe*/, const Clip& /*clip*/,
                                      const SimulateSettings& /*settings*/) const {
    return {};
  }

 protected:
  /// Builds the model of a body that was made from the source.
  virtual Result<std::unique_ptr<SoftCharacter>> reduce(std::shared_ptr<const CharacterSource> source,
                                                        const CharacterBody& body, Progress& progress,
                                                        StageStore& store) const = 0;
};

std::span<const CharacterEngine* const> all_engines();
/// No name is that of the pose-space engine, which builds where nobody has named one. A usage error that helps with a
/// typo: there is no engine "ful"; did you mean "full"?
Result<const CharacterEngine*> find_engine(std::string_view name);
/// The engine that bakes where nobody has named one. Every vertex is free at the recipe's final quality, and at its
/// good one, too, where that takes less time than to teach a reduced body: characters with some seconds of clips, whose
/// recipe asks for nothing that only reduced bodies have.
const CharacterEngine& baking_engine(const CharacterSource& source);
/// find_engine() of a bake: no name leaves the choice to baking_engine().
Result<const CharacterEngine*> find_baking_engine(std::string_view name, const CharacterSource& source);
/// The engine whose model an asset is. Fails for assets that are no character's.
Result<const CharacterEngine*> engine_of(const Asset& asset);

// ---- for engines ----------------------------------------------------------------------------------------------------

/// The source with its contacts resolved, where its recipe asks for that.
Result<std::shared_ptr<const CharacterSource>> with_contact(std::shared_ptr<const CharacterSource> source,
                                                            Progress& progress = Progress::silent());
/// The sentence for an asset that holds something else than the engine wants.
Error another_model(const Asset& asset, std::string_view engine, std::string_view wanted);
/// Fails unless an asset for `vertices` of the skin and for a rig of that layout, made for that character, is for this
/// source.
Status check_asset_fits(const CharacterSource& source, Index vertices, const PoseLayout& built,
                        const MadeFor& made_for);

/// What a ClipRun reports of what simulate_clip() has done.
ClipRunReport report_of(const SimulatedClip& clip);

}  // namespace supple
