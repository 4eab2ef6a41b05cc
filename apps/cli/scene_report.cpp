// SPDX-License-Identifier: Apache-2.0
#include "scene_report.h"

namespace supple {
namespace {

Json vector_json(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

}  // namespace

void fill_result(const Scene& scene, const SceneSummary& s, Json& out) {
  out["scene"] = scene.name;
  out["kind"] = scene.dynamic ? "dynamic" : "static";
  out["model"] = to_string(scene.model);
  out["gravity"] = vector_json(scene.gravity);
  out["vertices"] = s.vertices;
  out["elements"] = s.elements;
  out["mass"] = s.mass;
  out["fixed_vertices"] = s.fixed_vertices;
  Json selections = Json::array();
  for (const SceneSelection& f : s.fixed_selections)
    selections.push_back({{"select", f.select}, {"vertices", f.vertices}});
  out["fixed_selections"] = std::move(selections);
  out["steps"] = s.steps;
  out["newton_iterations"] = s.newton_iterations;
  out["converged"] = s.unconverged_steps == 0;
  out["unconverged_steps"] = s.unconverged_steps;
  out["residual"] = s.residual;
  out["time"] = s.time;
  out["energy"] = {{"elastic", s.elastic_energy}, {"kinetic", s.kinetic_energy}, {"gravity", s.gravity_energy}};
  out["peak_displacement"] = s.peak_displacement;
  out["peak_vertex"] = s.peak_vertex;
  out["peak_time"] = s.peak_time;
  out["final_displacement"] = s.final_displacement;
  if (!scene.dynamic) out["reaction"] = vector_json(s.reaction);
  Json tracks = Json::array();
  for (const TrackResult& track : s.tracks) {
    tracks.push_back(
        {{"name", track.name}, {"vertices", track.vertices}, {"displacement", vector_json(track.displacement)}});
  }
  out["tracks"] = std::move(tracks);
  Json files = Json::array();
  for (const auto& file : s.files) files.push_back(file.string());
  out["files"] = std::move(files);
  out["timing"] = {{"setup_s", s.setup_seconds}, {"solve_s", s.solve_seconds}};
}

void warn_of_unconverged(const Scene& scene, const SceneSummary& s, Session& session) {
  if (s.unconverged_steps == 0) return;
  session.warnings.push_back(
      fmt::format("{} of {} steps stopped at the limit of {} Newton iterations (worst residual {:.1e}).",
                  s.unconverged_steps, s.steps, scene.dynamics.max_newton_iterations, s.residual));
}

void write_text(const Scene& scene, const SceneSummary& s, Session& session) {
  session.line("{}", scene.name);
  session.line("body          {} vertices, {} elements, {:.5g} kg, {}", s.vertices, s.elements, s.mass,
               to_string(scene.model));
  if (s.fixed_selections.empty() && s.fixed_vertices > 0)
    session.line("fixed         {} of the model", counted(s.fixed_vertices, "vertex", "vertices"));
  else if (s.fixed_selections.empty())
    session.line("fixed         nothing");
  for (const SceneSelection& f : s.fixed_selections)
    session.line("fixed         {} by {}", counted(f.vertices, "vertex", "vertices"), f.select);
  if (!scene.gravity.isZero())
    session.line("gravity       ({:g}, {:g}, {:g}) m/s²", scene.gravity.x(), scene.gravity.y(), scene.gravity.z());
  if (scene.dynamic) {
    session.line("motion        {:g} s in {} steps, {:.1f} Newton iterations each", s.time, s.steps,
                 static_cast<double>(s.newton_iterations) / s.steps);
    session.line("energy        kinetic {:.5g} J, elastic {:.5g} J, gravity {:.5g} J at the end", s.kinetic_energy,
                 s.elastic_energy, s.gravity_energy);
    session.line("displacement  at most {:.5g} m (vertex {} at {:.4g} s), {:.5g} m at the end", s.peak_displacement,
                 s.peak_vertex, s.peak_time, s.final_displacement);
  } else {
    session.line("equilibrium   {} in {}, residual {:.1e}",
                 counted(to_size(s.newton_iterations), "Newton iteration", "Newton iterations"),
                 counted(to_size(s.steps), "load step", "load steps"), s.residual);
    session.line("energy        elastic {:.5g} J, gravity {:.5g} J", s.elastic_energy, s.gravity_energy);
    session.line("displacement  at most {:.5g} m (vertex {})", s.peak_displacement, s.peak_vertex);
    session.line("reaction      ({:.5g}, {:.5g}, {:.5g}) N at the fixed vertices", s.reaction.x(), s.reaction.y(),
                 s.reaction.z());
  }
  for (const TrackResult& t : s.tracks)
    session.line("track         {} ended at ({:.5g}, {:.5g}, {:.5g}) m from rest", t.name, t.displacement.x(),
                 t.displacement.y(), t.displacement.z());
  session.line("time          {:.2f} s of computing", s.setup_seconds + s.solve_seconds);
  for (const auto& file : s.files) session.line("written       {}", file.string());
}

}  // namespace supple
