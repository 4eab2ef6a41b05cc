// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/engine.h"
#include "supple/pipeline/character/resolve_contacts.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/base/nearest_name.h"
#include "supple/pipeline/character/engine_full.h"
#include "supple/pipeline/character/engine_posespace.h"
#include "supple/pipeline/character/engine_quasistatic.h"
#include "supple/pipeline/character/exaggeration.h"
#include "supple/pipeline/character/feel.h"
#include "supple/pipeline/character/fingerprint.h"

#include <algorithm>
#include <array>
#include <numbers>

namespace supple {

Status SoftCharacter::solve_parts(const Clip& clip, const SimulateSettings& /*settings*/,
                                  std::span<const Index> /*parts*/, Progress& /*progress*/) const {
  return usage_error(
      fmt::format("the clip \"{}\" can't be solved in parts: each frame follows from the one before", clip.name));
}

Result<std::unique_ptr<SoftCharacter>> CharacterEngine::build(std::shared_ptr<const CharacterSource> source,
                                                              Progress& progress, StageStore& store) const {
  BuildSeconds seconds;
  const auto start = Clock::now();
  if (!solves_contacts()) {
    Result<std::shared_ptr<const CharacterSource>> apart = with_contact(std::move(source), progress);
    SUPPLE_RETURN_IF_ERROR(apart);
    source = std::move(*apart);
  }
  const Result<CharacterBody> body = make_body(*source, progress, store);
  SUPPLE_RETURN_IF_ERROR(body);
  seconds.embed = seconds_since(start);
  const auto embedded = Clock::now();
  Result<std::unique_ptr<SoftCharacter>> soft = reduce(std::move(source), *body, progress, store);
  SUPPLE_RETURN_IF_ERROR(soft);
  (*soft)->set_exaggeration(find_exaggeration(**soft, progress, store));
  seconds.reduce = seconds_since(embedded);
  (*soft)->seconds = seconds;
  return soft;
}

std::span<const CharacterEngine* const> all_engines() {
  static const std::array<const CharacterEngine*, 3> engines = {&posespace_engine(), &full_engine(),
                                                                &quasistatic_engine()};
  return engines;
}

Result<const CharacterEngine*> find_engine(std::string_view name) {
  if (name.empty()) return &posespace_engine();
  std::vector<std::string_view> names;
  for (const CharacterEngine* engine : all_engines()) {
    if (engine->name() == name) return engine;
    names.push_back(engine->name());
  }
  const std::string_view near = nearest_name(name, names);
  return usage_error(fmt::format(
      "there is no engine \"{}\"; {}", name,
      near.empty() ? fmt::format("there are {}", fmt::join(names, ", ")) : fmt::format("did you mean \"{}\"?", near)));
}

namespace {

bool asks_for_reduction(const RecipeFlesh& flesh) {
  return flesh.size > 0 || flesh.poses > 1 || flesh.local || flesh.directions != BasisDirections::rotating;
}

/// Steps that all clips of a character take: loops are repeated until flesh has forgotten how it began.
double steps_of_clips(const CharacterSource& source) {
  constexpr double forgotten = 4;  // e^-4 of what was seen at the start is left
  const double settling = forgotten / (2 * std::numbers::pi * wanted_frequency(source.recipe) *
                                       std::max(0.02, wanted_damping(source.recipe)));
  double seconds = 0;
  for (const Clip& clip : source.character.clips)
    seconds += clip.duration - first_key(clip) + (closes(source.rig, clip) ? settling : 0);
  return seconds / SimulateSettings{}.time_step;
}

}  // namespace

const CharacterEngine& baking_engine(const CharacterSource& source) {
  // A reduced body learns from some 8,000 steps of the full simulation, takes as long again to be made of them, and
  // twenty times the memory (measured: docs/theory.md). The search for the exaggeration doubles the steps of the clips.
  // Bodies with more tetrahedra learn from fewer steps.
  constexpr double affordable = 8000, usual_tets = 16'000;
  const RecipeFlesh& flesh = source.recipe.flesh;
  if (flesh.quality == Quality::final) return full_engine();
  if (flesh.quality == Quality::draft || asks_for_reduction(flesh)) return posespace_engine();
  const double size = std::max(1.0, source.recipe.tets / usual_tets);
  return steps_of_clips(source) * size <= affordable ? full_engine() : posespace_engine();
}

Result<const CharacterEngine*> find_baking_engine(std::string_view name, const CharacterSource& source) {
  if (name.empty()) return &baking_engine(source);
  return find_engine(name);
}

Result<const CharacterEngine*> engine_of(const Asset& asset) {
  for (const CharacterEngine* engine : all_engines())
    if (engine->owns(asset)) return engine;
  return input_error(fmt::format("the asset holds {}, but a character is wanted here", contents_of(asset)));
}

Error another_model(const Asset& asset, std::string_view engine, std::string_view wanted) {
  return input_error(
      fmt::format("the asset holds {}, but the engine \"{}\" wants {}", contents_of(asset), engine, wanted));
}

Status check_asset_fits(const CharacterSource& source, Index vertices, const PoseLayout& built,
                        const MadeFor& made_for) {
  const Index own = source.rig.rig()->vertex_count();
  if (own != vertices)
    return input_error(
        fmt::format("the asset is for a skin of {} vertices, but the character has {}; build it again", vertices, own));
  const PoseLayout& rig = source.rig.rig()->layout();
  const bool same = std::equal(rig.groups.begin(), rig.groups.end(), built.groups.begin(), built.groups.end(),
                               [](const ParameterGroup& a, const ParameterGroup& b) {
                                 return a.name == b.name && a.kind == b.kind && a.first == b.first;
                               });
  if (same) return check_made_for(made_for, source);
  return input_error(
      "the asset is for a rig with other parameters than the character's, whose skeleton or clips have changed; build "
      "it again");
}

Result<std::shared_ptr<const CharacterSource>> with_contact(std::shared_ptr<const CharacterSource> source,
                                                            Progress& progress) {
  if (!source->recipe.flesh.contact) return source;
  Result<CharacterSource> resolved = with_contacts_resolved(*source, {}, progress);
  SUPPLE_RETURN_IF_ERROR(resolved);
  return std::make_shared<const CharacterSource>(std::move(*resolved));
}

ClipRunReport report_of(const SimulatedClip& clip) {
  return {.loop = clip.loop,
          .rounds = clip.rounds,
          .gap = clip.gap,
          .recovered = clip.recovered,
          .cuts = clip.cuts,
          .violent = clip.violent,
          .violence = clip.violence,
          .restraint = clip.restraint,
          .energy = clip.largest_energy,
          .seconds = clip.seconds,
          .steps = static_cast<Index>(clip.coordinates.cols())};
}

}  // namespace supple
