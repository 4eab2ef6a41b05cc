// SPDX-License-Identifier: Apache-2.0
// supple demo: something to look at within seconds, from nothing but the program itself.
#include "command.h"
#include "samples/cantilever.h"
#include "samples/falling.h"
#include "supple/fem/modes.h"

#include <memory>

namespace supple::demo_verb {
namespace {

struct Options {
  std::string scene = "cantilever";
  std::string directory = "out/demo";
};

constexpr int shown_modes = 8;

Status cantilever_demo(const Options& options, Session& session) {
  const Cantilever scene = make_cantilever();
  const Result<ElasticBody> body = ElasticBody::create(scene.mesh, MaterialModel::linear);
  SUPPLE_RETURN_IF_ERROR(body);
  const Result<Modes> modes = compute_modes(*body, scene.fixed_vertices, {.count = shown_modes}, session.progress);
  SUPPLE_RETURN_IF_ERROR(modes);
  std::vector<VecX> shapes;
  std::vector<double> frequencies;
  for (Eigen::Index k = 0; k < modes->frequencies.size(); ++k) {
    shapes.emplace_back(modes->shapes.col(k));
    frequencies.push_back(modes->frequencies[k]);
  }
  if (session.progress.cancelled()) return failure("cancelled");
  session.progress.stage("drawing");
  const Status written = write_vibration(scene.mesh, shapes, frequencies, options.directory);
  if (!written.ok()) return about(options.directory, written.error());
  const std::filesystem::path folder = options.directory;
  const std::string picture = (folder / "cantilever.png").string();
  const std::string animation = (folder / "cantilever.glb").string();
  session.line("A soft beam of {} tetrahedra, one end in a wall, swings at {:.2f} Hz.", scene.mesh.elements.size(),
               frequencies[0]);
  session.line("picture of its vibration modes   {}", picture);
  session.line("animation for any glTF viewer    {}", animation);
  session.result["elements"] = scene.mesh.elements.size();
  session.result["frequencies_hz"] = frequencies;
  session.result["beam_theory_hz"] = scene.beam_theory_frequency(1);
  session.result["files"] = {picture, animation};
  return {};
}

Status falling_demo(const Options& options, Session& session) {
  const Result<FallingObjects> scene = make_falling(24, 10, session.progress);
  SUPPLE_RETURN_IF_ERROR(scene);
  Result<FloatingWorld> world = start_falling(*scene);
  SUPPLE_RETURN_IF_ERROR(world);
  const FallingFilm film = film_falling(*world, 2.5, 20, session.progress);
  if (session.progress.cancelled()) return failure("cancelled");
  session.progress.stage("drawing");
  const Status written = write_falling(*scene, film, options.directory);
  if (!written.ok()) return about(options.directory, written.error());
  const std::filesystem::path folder = options.directory;
  const std::string picture = (folder / "falling.png").string();
  const std::string animation = (folder / "falling.glb").string();
  session.line(
      "{} soft objects of {} coordinates each fall on the ground and on each other: {:.2f} ms per step of 1 ms.",
      scene->objects.size(), scene->kinds[0].model.size(), film.step_us / 1000);
  session.line("picture of the fall              {}", picture);
  session.line("animation for any glTF viewer    {}", animation);
  session.result["objects"] = scene->objects.size();
  session.result["step_us"] = film.step_us;
  session.result["files"] = {picture, animation};
  return {};
}

Status demo(const Options& options, Session& session) {
  SUPPLE_RETURN_IF_ERROR(session.files.make_folder(options.directory));
  SUPPLE_RETURN_IF_ERROR(check_output(session, options.directory + "/" + options.scene + ".glb", {}));
  return options.scene == "falling" ? falling_demo(options, session) : cantilever_demo(options, session);
}

RunCommand add(CLI::App& app) {
  describe(app,
           "Shows what Supple does today, on bodies made by the program itself: computes how a soft beam vibrates, or\n"
           "how soft objects fall, and writes a picture (.png) and an animation that any glTF viewer plays (.glb).\n",
           "  supple demo\n"
           "  supple demo falling\n"
           "  supple demo -o /tmp/beam\n");
  const auto options = std::make_shared<Options>();
  app.add_option("scene", options->scene, "What to show: cantilever or falling")
      ->check(CLI::IsMember({"cantilever", "falling"}))
      ->type_name("SAMPLE")
      ->capture_default_str();
  app.add_option("-o,--output", options->directory, "Folder to write to; made if it's missing")
      ->type_name("DIR")
      ->capture_default_str();
  return [options](Session& session) { return demo(*options, session); };
}

const RegisteredCommand registered{80, "demo",
                                   "Make a picture and an animation of a vibrating beam or of falling objects.", add};

}  // namespace
}  // namespace supple::demo_verb
