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
#include "supple/pipeline/character/fingerprint.h"

#include <algorithm>
#include <array>

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

Result<const CharacterEngine*> baking_engine(const Recipe& recipe) {
  return find_engine(recipe.flesh.quality == Quality::final ? "full" : "posespace");
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
