// SPDX-License-Identifier: Apache-2.0
// The characters of the 2016 paper's tables beside ours: the same number of coordinates, patches and poses, on meshes
// of about the same size (samples/creatures.h), and one of the size that other programs are measured at.
#pragma once

#include "bench/report.h"
#include "supple/pipeline/character/build_cache.h"
#include "supple/pipeline/character/build_posespace.h"

#include <span>

namespace supple::bench {

/// A row of Table 3; times are of eight threads.
struct PublishedCreature {
  const char* name;     ///< of the row
  const char* example;  ///< ours
  const char* clip;     ///< of ours, that is measured over
  int mesh_vertices, tets, skin_vertices, size, patches, poses, elements, inertial_vertices;
  double step_ms, memory_mb, speedup;
  double target_ms;        ///< ours, one thread
  MaterialModel material;  ///< of the paper
};
std::span<const PublishedCreature> table3();

/// A scratch folder with one of our characters in it, and a cache that keeps what was built.
class CreatureFolder {
 public:
  explicit CreatureFolder(std::string example);
  ~CreatureFolder();
  CreatureFolder(const CreatureFolder&) = delete;
  CreatureFolder& operator=(const CreatureFolder&) = delete;

  /// Writes the character's file. The recipe is the example's own.
  Status write();
  const Recipe& recipe() const { return recipe_; }
  const std::filesystem::path& path() const { return path_; }
  StageStore& cache() { return cache_; }

 private:
  std::string example_;
  std::filesystem::path path_;
  BuildCache cache_;
  Recipe recipe_;
};

/// The example's recipe with the row's coordinates and patches; `quick`: a third of them, on a coarse mesh.
Recipe paper_recipe(const CreatureFolder& folder, const PublishedCreature& published, bool quick);

struct BuildCost {
  double seconds = 0, peak_memory = 0;  ///< [bytes]
};
/// Builds with all cores in a process of its own, and leaves what it found in the folder's cache. Must not be called
/// after this process has used more than one thread itself.
Result<BuildCost> measure_build(CreatureFolder& folder, const Recipe& recipe);
/// As quickly as the cache and all cores allow; a benchmark's one thread afterwards.
Result<BuiltCharacter> build_again(CreatureFolder& folder, const Recipe& recipe);
/// The last stage alone, likewise.
Result<ReducedBody> reduce_again(CreatureFolder& folder, const Recipe& recipe, const BuiltCharacter& built,
                                 const CubatureCounts& counts = {});

const Clip* find_clip(const BuiltCharacter& built, const std::string& name);

}  // namespace supple::bench
