// SPDX-License-Identifier: Apache-2.0
#include "plant_report.h"

#include "supple/io/file.h"
#include "supple/pipeline/plant/bake_plant.h"

namespace supple {
namespace {

void apply(const PlantOptions& options, PlantRecipe& recipe) {
  if (options.frequency) recipe.frequency = options.frequency;
  if (options.damping) recipe.damping = std::max(*options.damping, 1e-3);
  if (options.tets) recipe.body.tets = std::max(*options.tets, 600);
  if (options.rate > 0) recipe.rate = options.rate;
  if (options.wind.norm() > 0) {
    recipe.wind.direction = options.wind;
    recipe.wind.speed = options.wind.norm();
  }
}

std::string pieces_of(const PlantFindings& found) {
  std::string text = counted(to_size(found.pieces), "piece", "pieces");
  if (found.copies > 0) text += fmt::format(", {} of them copies", found.copies);
  return text + fmt::format("; {} on the ground", found.grounded);
}

void tell_found(const PlantFindings& found, Session& session) {
  session.line("plant         {:.3g} m high; {}", found.height, pieces_of(found));
  if (found.branches > 0)
    session.line("branches      {} cut off where the {} fork{}", found.branches,
                 found.large == 1 ? "body" : fmt::format("{} large pieces", found.large), found.large == 1 ? "s" : "");
  else if (found.large > 0 && found.pieces == 1)
    session.line("branches      none can be told apart: the plant moves as one part");
  if (found.loops > 0)
    session.line("              {} grow together and stay in one part", counted(to_size(found.loops), "loop", "loops"));
  if (found.rigid > 0)
    session.line("              {} small pieces of too many shapes follow what they hang on, rigidly", found.rigid);
}

Json found_json(const PlantFindings& found) {
  return {{"height_m", found.height},   {"pieces", found.pieces}, {"copies", found.copies},
          {"grounded", found.grounded}, {"large", found.large},   {"branches", found.branches},
          {"loops", found.loops},       {"rigid", found.rigid},   {"widest_gap_m", found.widest_gap}};
}

double share(double value, double whole) { return whole > 0 ? 100 * value / whole : 0; }

}  // namespace

Status bake_plant_file(const std::string& input, const std::filesystem::path& output, const PlantOptions& options,
                       Session& session, Json& out) {
  session.progress.stage("reading the plant");
  Result<PlantSource> source = load_plant(input);
  if (!source.ok()) return about(input, source.error());
  apply(options, source->recipe);
  SoftOutput soft;
  constexpr double usual = 0.2;  // [% of the height]: leaves are many, and small
  soft.compression.share_of_height = options.tolerance.value_or(usual) / 100;
  soft.compression.most_targets = options.most_morphs;
  soft.storage = MorphStorage::small;
  const Result<PlantReport> report = bake_plant(*source, output, soft, session.progress);
  if (!report.ok()) return about(input, report.error());
  for (const std::string& warning : source->character.warnings) session.warnings.push_back(warning);
  const CompressionReport& c = report->glb.compression;
  session.line("{}", input);
  tell_found(report->found, session);
  if (source->recipe.up)
    session.line("              {} is up ([plant] up of a recipe says otherwise)", *source->recipe.up);
  session.line("model         {} of {}, {} coordinates; swings at {:.2g} Hz",
               counted(to_size(report->domains), "domain", "domains"), counted(to_size(report->kinds), "kind", "kinds"),
               report->coordinates, report->frequency);
  session.line(
      "wind          {:.3g} m/s; the crown sways by {:.1f} % of the height to either side, no vertex is farther than "
      "{:.1f} %",
      report->sway.speed, 100 * report->sway.sway, 100 * report->sway.largest);
  if (report->sway.firmed > 0)
    session.line("              {} bent too far by themselves, and were made firmer",
                 counted(to_size(report->sway.firmed), "part", "parts"));
  session.line("loop          {:.3g} s, closed by {:.2g} % of the motion", report->sway.times.back(),
               100 * report->sway.gap);
  session.line("step          {:.1f} µs", 1e6 * report->sway.step_seconds);
  session.line("morphs        {}, {:.3f} % of the height off at most ({:.4f} % rms); {}", c.targets,
               share(c.largest_error, c.height), share(c.rms_error, c.height),
               counted(to_size(report->joints), "joint", "joints"));
  session.line("written       {} ({:.2f} MB)", output.string(), static_cast<double>(report->glb.bytes) / 1e6);
  session.line("time          {:.1f} s to build, {:.1f} s in the wind, {:.1f} s to write", report->build_seconds,
               report->simulate_seconds, report->write_seconds);
  out["input"] = input;
  out["files"].push_back(output.string());
  out["plant"] = found_json(report->found);
  out["domains"] = report->domains;
  out["kinds"] = report->kinds;
  out["coordinates"] = report->coordinates;
  out["joints"] = report->joints;
  out["frequency_hz"] = report->frequency;
  out["wind_m_s"] = report->sway.speed;
  out["sway_percent"] = 100 * report->sway.sway;
  out["largest_percent"] = 100 * report->sway.largest;
  out["loop_s"] = report->sway.times.back();
  out["loop_gap"] = report->sway.gap;
  out["morphs"] = {{"targets", c.targets},
                   {"largest_error_percent", share(c.largest_error, c.height)},
                   {"rms_error_percent", share(c.rms_error, c.height)}};
  out["bytes"] = report->glb.bytes;
  out["timing"] = {{"build_s", report->build_seconds},
                   {"simulate_s", report->simulate_seconds},
                   {"write_s", report->write_seconds},
                   {"step_us", 1e6 * report->sway.step_seconds}};
  return {};
}

Status init_plant(const std::string& input, const std::string& name, const std::filesystem::path& output,
                  Session& session) {
  session.progress.stage("reading the plant");
  Result<PlantSource> source = load_plant(input);
  if (!source.ok()) return about(input, source.error());
  const Result<PlantPlan> plan = plan_plant(source->surface, source->recipe.body, session.progress);
  if (!plan.ok()) return about(input, plan.error());
  PlantRecipe recipe = source->recipe;
  recipe.input = name;
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(output, write_plant_recipe(recipe, plan->found)));
  tell_found(plan->found, session);
  session.line("written       {}: read it, change what you like", output.string());
  session.result = found_json(plan->found);
  session.result["recipe"] = output.string();
  return {};
}

}  // namespace supple
