// SPDX-License-Identifier: Apache-2.0
#include "bench/pose_creatures.h"

#include "samples/creature_files.h"
#include "supple/base/clock.h"
#include "supple/base/parallel.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <thread>

namespace supple::bench {
namespace {

constexpr PublishedCreature rows[] = {
    {"arm", "arm", "flex", 2364, 8122, 10525, 45, 3, 10, 192, 45, 0.87, 11, 60, 0.06, MaterialModel::stvk},
    {"X", "x_shape", "bend", 3077, 9303, 2362, 30, 1, 3, 144, 50, 0.59, 4.2, 105, 0.04, MaterialModel::neo_hookean},
    {"bear", "bear", "walk", 4018, 12762, 6876, 100, 6, 8, 336, 200, 1.43, 7.3, 40, 0.25, MaterialModel::stvk},
    {"gorilla", "gorilla", "walk", 3771, 16297, 15774, 100, 6, 4, 144, 119, 1.33, 7.9, 125, 0.15, MaterialModel::stvk}};

int all_cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

}  // namespace

std::span<const PublishedCreature> table3() { return rows; }

CreatureFolder::CreatureFolder(std::string example)
    : example_(std::move(example)),
      path_(std::filesystem::temp_directory_path() / fmt::format("supple_bench_{}_{}", example_, getpid())),
      cache_(path_ / "cache") {}

CreatureFolder::~CreatureFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Status CreatureFolder::write() {
  const CreatureExample* example = find_creature_example(example_);
  if (example == nullptr) return failure(fmt::format("there is no example {}", example_));
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error) return failure(fmt::format("{} can't be made: {}", path_.string(), error.message()));
  const Creature creature = example->make();
  const std::string file = example_ + ".glb";
  SUPPLE_RETURN_IF_ERROR(write_creature(path_ / file, creature, make_character(creature, example->vertices)));
  const Result<CharacterFile> loaded = read_character_file(path_ / file);
  SUPPLE_RETURN_IF_ERROR(loaded);
  recipe_ = first_recipe(*loaded, file, example->tets);
  add_creature_choices(creature, loaded->character, recipe_);
  return {};
}

Recipe paper_recipe(const CreatureFolder& folder, const PublishedCreature& published, bool quick) {
  Recipe recipe = folder.recipe();
  recipe.flesh.size = published.size;
  recipe.flesh.local = published.patches > 1;
  if (!quick) return recipe;
  constexpr int part = 3;
  recipe.tets = 1500;
  recipe.flesh.size /= part;
  for (RecipeLocal& local : recipe.locals) local.modes /= part;
  return recipe;
}

Result<BuildCost> measure_build(CreatureFolder& folder, const Recipe& recipe) {
  const Result<ChildResult> child = run_in_child([&]() -> std::vector<double> {
    set_thread_count(all_cores());
    const auto start = Clock::now();
    const Result<BuiltCharacter> built = build_character(recipe, folder.path(), Progress::silent(), folder.cache());
    if (!built.ok()) return {};
    return {seconds_since(start)};
  });
  SUPPLE_RETURN_IF_ERROR(child);
  if (child->values.empty()) return failure("the character can't be built");
  return BuildCost{child->values[0], child->peak_memory};
}

Result<BuiltCharacter> build_again(CreatureFolder& folder, const Recipe& recipe) {
  set_thread_count(all_cores());
  Result<BuiltCharacter> built = build_character(recipe, folder.path(), Progress::silent(), folder.cache());
  set_thread_count(1);
  return built;
}

Result<ReducedBody> reduce_again(CreatureFolder& folder, const Recipe& recipe, const BuiltCharacter& built,
                                 const CubatureCounts& counts) {
  set_thread_count(all_cores());
  Result<ReducedBody> reduced =
      reduce_character(recipe, built.source, built.body, Progress::silent(), folder.cache(), {}, {}, counts);
  set_thread_count(1);
  return reduced;
}

const Clip* find_clip(const BuiltCharacter& built, const std::string& name) {
  const std::vector<Clip>& clips = built.character().clips;
  const auto found = std::find_if(clips.begin(), clips.end(), [&](const Clip& clip) { return clip.name == name; });
  return found == clips.end() ? nullptr : &*found;
}

}  // namespace supple::bench
