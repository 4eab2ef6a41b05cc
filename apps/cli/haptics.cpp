// SPDX-License-Identifier: Apache-2.0
// supple haptics: a ball's path against a deformable object at a haptic rate; force and latency of every step.
#include "supple/pipeline/object/haptics.h"
#include "command.h"
#include "samples/haptics_bridge.h"
#include "supple/asset/asset_file.h"
#include "supple/io/file.h"
#include "supple/pictures/plot.h"

#include <memory>

namespace supple::haptics_verb {
namespace {

/// Least and largest value of each interval, one after the other.
PlotSeries extremes(const HapticsRun& run, const std::string& name,
                    const std::function<double(const HapticsSample&)>& of) {
  constexpr std::size_t intervals = 600;
  PlotSeries series{.name = name, .x = {}, .y = {}};
  const std::size_t n = run.samples.size(), length = std::max<std::size_t>(1, (n + intervals - 1) / intervals);
  for (std::size_t begin = 0; begin < n; begin += length) {
    double least = of(run.samples[begin]), largest = least;
    for (std::size_t k = begin; k < std::min(n, begin + length); ++k) {
      least = std::min(least, of(run.samples[k]));
      largest = std::max(largest, of(run.samples[k]));
    }
    for (const double value : {least, largest}) {
      series.x.push_back(run.samples[begin].time);
      series.y.push_back(value);
    }
  }
  return series;
}

/// Force and latency over time; each of some hundred intervals shows its extremes.
Plot plot_haptics(const HapticsRun& run, const std::string& title) {
  Plot plot{.title = title, .panels = {}};
  double largest = 0;
  for (const HapticsSample& s : run.samples) largest = std::max(largest, s.contact.force.norm());
  const double unit = largest >= 1e4 ? 1000 : 1;
  plot.panels.push_back(
      {.x_label = "time [s]",
       .y_label = unit > 1 ? "force on the hand [kN]" : "force on the hand [N]",
       .series = {extremes(run, "force", [&](const HapticsSample& s) { return s.contact.force.norm() / unit; })}});
  plot.panels.push_back(
      {.x_label = "time [s]",
       .y_label = "step [µs]",
       .series = {extremes(run, "step, wall clock", [](const HapticsSample& s) { return s.latency_us; }),
                  extremes(run, "step, processor", [](const HapticsSample& s) { return s.processor_us; })}});
  return plot;
}

struct Options {
  std::string object;
  std::string path;
  std::string directory = "out/haptics";
  double radius = 0.0;
  double rate = 1000.0;
  HapticsSettings settings;
};

constexpr std::string_view bridge_name = "bridge";

Result<SubspaceModel> load_object(const Options& options, Session& session) {
  if (options.object == bridge_name) return make_haptics_bridge(session.progress);
  session.progress.stage("reading");
  Result<SubspaceModel> model = load_asset_of<SubspaceModel>(options.object);
  if (!model.ok()) return about(options.object, model.error());
  if (!model->anchored())
    return input_error(options.object +
                       ": the object is not fixed anywhere and would fly from the ball; build it with fixed vertices");
  if (model->surface.triangles.empty())
    return input_error(options.object + ": the object has no surface to touch; build it with one");
  return model;
}

void describe_latency(Session& session, const std::string& name, const std::string& key,
                      const LatencySummary& summary) {
  session.line("{:<14}mean {:.1f} µs, 99.9 % {:.1f} µs, worst {:.1f} µs; above 1 ms: {}", name, summary.mean,
               summary.p999, summary.worst, counted(to_size(summary.above_millisecond), "step", "steps"));
  session.result[key] = {{"mean_us", summary.mean},
                         {"p999_us", summary.p999},
                         {"worst_us", summary.worst},
                         {"above_1ms", summary.above_millisecond}};
}

void describe_run(const Options& options, const SubspaceModel& model, const HapticsRun& run, Session& session) {
  double strongest = 0;
  int touching = 0, most = 0;
  for (const HapticsSample& sample : run.samples) {
    strongest = std::max(strongest, sample.contact.force.norm());
    touching += sample.contact.contacts > 0;
    most = std::max(most, sample.contact.contacts);
  }
  session.line("object        {}: r = {}, {} triangles", options.object, model.size(), model.surface.triangles.size());
  session.line("path          {} at {:g} Hz, ball in contact in {} of them",
               counted(run.samples.size(), "step", "steps"), options.rate, touching);
  session.line("contact       {:.4g} N/m; at most {:.4g} N on the hand, {} triangles at once", run.stiffness, strongest,
               most);
  describe_latency(session, "wall clock", "latency", wall_latency(run));
  describe_latency(session, "processor", "processor", processor_latency(run));
  session.result["steps"] = run.samples.size();
  session.result["steps_in_contact"] = touching;
  session.result["most_contacts"] = most;
  session.result["stiffness"] = run.stiffness;
  session.result["largest_force"] = strongest;
  session.result["incomplete_steps"] = run.incomplete;
  session.result["undone_steps"] = run.recovered;
  if (run.incomplete > 0)
    session.warnings.push_back(fmt::format("in {} the ball touched more than {} triangles and felt only the nearest",
                                           counted(to_size(run.incomplete), "step", "steps"),
                                           options.settings.contact.limits.max_triangles));
  if (run.recovered > 0)
    session.warnings.push_back(fmt::format("{} broke down and had to be undone; try a lower --stiffness",
                                           counted(to_size(run.recovered), "step", "steps")));
  if (options.settings.real_time && !run.prioritised)
    session.warnings.emplace_back("not permitted to run before other programs: latencies include their time");
}

Status write_files(const Options& options, const BallPath& path, const HapticsRun& run, Session& session) {
  const std::filesystem::path folder = options.directory;
  const std::string force = (folder / "force.csv").string(), plot = (folder / "haptics.svg").string();
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(force, encode_haptics_csv(run)));
  SUPPLE_RETURN_IF_ERROR(write_plot(plot, plot_haptics(run, fmt::format("Ball against {}", options.object))));
  session.result["files"] = {force, plot};
  session.line("every step    {}", force);
  session.line("plot          {}", plot);
  if (!options.path.empty()) return {};
  const std::string ball = (folder / "ball.csv").string();
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(ball, encode_ball_path(path)));
  session.result["files"].push_back(ball);
  session.line("made-up path  {}", ball);
  return {};
}

Status haptics(Options options, Session& session) {
  SUPPLE_RETURN_IF_ERROR(session.files.make_folder(options.directory));
  SUPPLE_RETURN_IF_ERROR(check_output(session, options.directory + "/force.csv", {options.object, options.path}));
  const Result<SubspaceModel> model = load_object(options, session);
  SUPPLE_RETURN_IF_ERROR(model);
  session.progress.stage("building the tree");
  const auto tree = std::make_shared<const BoundedDeformationTree>(model->surface);
  const double radius = options.radius > 0 ? options.radius : suitable_ball_radius(*tree);
  const Result<BallPath> path =
      options.path.empty() ? Result<BallPath>(make_ball_path(*tree, radius)) : load_ball_path(options.path, radius);
  if (!path.ok()) return about(options.path, path.error());
  options.settings.dynamics.time_step = 1 / options.rate;
  const Result<HapticsRun> run = run_haptics(*model, tree, *path, options.settings, session.progress);
  if (!run.ok()) return about(options.object, run.error());
  describe_run(options, *model, *run, session);
  return write_files(options, *path, *run, session);
}

RunCommand add(CLI::App& app) {
  describe(app,
           "Plays a ball's path against a deformable object as a force-feedback device would: at every step the\n"
           "ball's contact with the deformed surface is found, the object moves, and the force on the hand is\n"
           "written to force.csv with the time the step took. Without --path a path of 60 s is made up that presses,\n"
           "slides, strikes and leaves. Steps follow each other as fast as they can; --real-time paces them by the\n"
           "clock, and latency then counts from the time a step was due. docs/haptics.md has the file formats.\n",
           "  supple haptics bridge\n"
           "  supple haptics spoon.supple --path ball.csv -o out/spoon --radius 0.05\n"
           "  supple haptics bridge --real-time --json\n");
  const auto options = std::make_shared<Options>();
  app.add_option("OBJECT", options->object, "An asset (.supple) with fixed vertices, or the word bridge")
      ->required()
      ->type_name("");
  app.add_option("--path", options->path, "The ball's path: lines of time,x,y,z[,radius]")->type_name("FILE");
  app.add_option("-o,--output", options->directory, "Folder to write to; made if it's missing")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--radius", options->radius, "Of the ball where the path has none [m]; default: 2 % of the object")
      ->check(positive())
      ->type_name("R");
  app.add_option("--rate", options->rate, "Steps per second")
      ->check(positive(1e6))
      ->type_name("HZ")
      ->capture_default_str();
  app.add_option("--stiffness", options->settings.contact.stiffness,
                 "Of the contact [N/m]; default: as stiff as the rate allows")
      ->check(positive())
      ->type_name("K");
  app.add_option("--damping", options->settings.contact.damping, "Of the contact [s/m]")
      ->check(non_negative())
      ->type_name("TAU")
      ->capture_default_str();
  app.add_flag("--real-time", options->settings.real_time, "Pace the steps by the clock");
  return [options](Session& session) { return haptics(*options, session); };
}

const RegisteredCommand registered{65, "haptics", "Touch a deformable object with a ball at 1 kHz.", add};

}  // namespace
}  // namespace supple::haptics_verb
