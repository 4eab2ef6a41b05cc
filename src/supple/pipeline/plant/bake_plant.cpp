// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/plant/bake_plant.h"

#include "supple/base/clock.h"
#include "supple/offline/domains/tune_frequencies.h"
#include "supple/pipeline/plant/plant_rig.h"

#include <algorithm>
#include <cmath>

namespace supple {

Result<PlantModel> build_plant(const PlantSource& source, Progress& progress) {
  Result<PlantPlan> plan = plan_plant(source.surface, source.recipe.body, progress);
  SUPPLE_RETURN_IF_ERROR(plan);
  PlantModel out;
  out.plan = std::move(*plan);
  Result<DomainBuild> build = build_domains(out.plan.tree, progress);
  SUPPLE_RETURN_IF_ERROR(build);
  out.build = std::move(*build);
  const double height = out.plan.found.height;
  out.frequency = source.recipe.frequency.value_or(std::clamp(2 / std::sqrt(height), 0.5, 2.5));
  tune_frequencies(out.build.model, out.frequency, height);
  return out;
}

Result<PlantReport> bake_plant(const PlantSource& source, const std::filesystem::path& output, const SoftOutput& soft,
                               Progress& progress) {
  PlantReport report;
  auto start = Clock::now();
  const Result<PlantModel> plant = build_plant(source, progress);
  SUPPLE_RETURN_IF_ERROR(plant);
  const DomainModel& model = plant->build.model;
  report.found = plant->plan.found;
  report.domains = model.domain_count();
  report.kinds = static_cast<Index>(model.parts.size());
  report.coordinates = model.size();
  report.frequency = plant->frequency;
  report.build_seconds = seconds_since(start);

  start = Clock::now();
  const Result<PlantSway> sway = sway_plant(model, source.recipe, source.base ? &*source.base : nullptr,
                                            plant->frequency, report.found.height, progress);
  SUPPLE_RETURN_IF_ERROR(sway);
  report.simulate_seconds = seconds_since(start);

  start = Clock::now();
  progress.stage("hanging the meshes on joints");
  const Result<std::unique_ptr<PlantRig>> rig = rig_plant(source, plant->plan, model, *sway);
  SUPPLE_RETURN_IF_ERROR(rig);
  report.joints = (*rig)->joints;
  const Result<SoftGlbReport> written = write_soft_glb(output, (*rig)->document, (*rig)->motion, soft, progress);
  SUPPLE_RETURN_IF_ERROR(written);
  report.glb = *written;
  report.write_seconds = seconds_since(start);
  report.sway = *sway;
  report.sway.q.clear();
  report.sway.root.clear();
  return report;
}

}  // namespace supple
