// SPDX-License-Identifier: Apache-2.0
// Self-contact in motion (Fig. 5 of the 2016 paper): how deep the skin of baked clips is inside itself over time, as
// the shipped model moves it, without and with `[flesh] contact`, and what a step costs with it. On the arm's flex, the
// bear's walk, and strangers' characters whose skin enters itself.
#include "bench/pose_creatures.h"
#include "bench/report.h"

#include "supple/base/clock.h"
#include "supple/base/parallel.h"
#include "supple/pipeline/character/engine.h"
#include "supple/pipeline/character/resolve_contacts.h"
#include "supple/pipeline/character/skin_depth.h"
#include "supple/rig/motion/clip_motion.h"
#include "supple/runtime/posespace/pose_space_dynamics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace supple::bench {
namespace {

constexpr int tets = 2000, coordinates = 45;
constexpr const char* table = "pose/contact";

struct Subject {
  std::string row, clip;
  Recipe recipe;
  std::filesystem::path folder;
};

/// One way of building and moving it.
struct Moved {
  std::unique_ptr<SoftCharacter> soft;
  std::vector<double> times, depths;  ///< [s], share of the height
  double rms = 0, peak = 0;           ///< of the skin's motion, likewise
  double deepest() const { return *std::max_element(depths.begin(), depths.end()); }
};

const Clip* clip_of(const SoftCharacter& soft, const std::string& name) {
  const std::vector<Clip>& clips = soft.character().clips;
  const auto found = std::find_if(clips.begin(), clips.end(), [&](const Clip& clip) { return clip.name == name; });
  return found == clips.end() ? nullptr : &*found;
}

void measure(ClipRun& run, const Clip& clip, Moved& moved) {
  const double height = height_of(moved.soft->source()), first = std::max(run.start(), 0.0);
  for (double time = first; time <= clip.duration + 1e-9; time += 1.0 / 30) moved.times.push_back(time);
  moved.depths = depths_in_motion(*moved.soft, clip, run, moved.times);
  for (double& depth : moved.depths) depth /= height;
  std::vector<Vec3> u(to_size(moved.soft->vertex_count()));
  double squares = 0;
  for (const double time : moved.times) {
    run.in_world(time, u);
    for (const Vec3& d : u) {
      squares += d.squaredNorm();
      moved.peak = std::max(moved.peak, d.norm() / height);
    }
  }
  moved.rms = std::sqrt(squares / static_cast<double>(u.size() * moved.times.size())) / height;
}

Result<Moved> move(const Subject& subject, bool contact, double exaggeration) {
  Recipe recipe = subject.recipe;
  recipe.flesh.contact = contact;
  Result<CharacterSource> source = load_source(recipe, subject.folder);
  SUPPLE_RETURN_IF_ERROR(source);
  const Result<const CharacterEngine*> engine = find_engine("posespace");
  SUPPLE_RETURN_IF_ERROR(engine);
  Result<std::unique_ptr<SoftCharacter>> soft =
      (*engine)->build(std::make_shared<const CharacterSource>(std::move(*source)));
  SUPPLE_RETURN_IF_ERROR(soft);
  Moved moved;
  moved.soft = std::move(*soft);
  const Clip* clip = clip_of(*moved.soft, subject.clip);
  if (clip == nullptr) return failure(fmt::format("there is no clip {}", subject.clip));
  SimulateSettings settings;
  settings.exaggeration = exaggeration > 0 ? exaggeration : moved.soft->exaggeration();
  const Result<std::unique_ptr<ClipRun>> run = moved.soft->simulate(*clip, settings);
  SUPPLE_RETURN_IF_ERROR(run);
  measure(**run, *clip, moved);
  return moved;
}

/// Steps of one model along the clip, again and again.
class Stepper {
 public:
  static Result<Stepper> create(const Moved& moved, const std::string& clip) {
    const auto& asset = std::get<CharacterAsset>(moved.soft->asset());
    SimulateSettings simulate;
    simulate.time_step = 1.0 / 90;
    Result<PoseSpaceDynamics<float>> dynamics = PoseSpaceDynamics<float>::create(
        asset.model, dynamics_settings(simulate, asset.flesh_frequency, asset.most_acceleration));
    SUPPLE_RETURN_IF_ERROR(dynamics);
    return Stepper(moved, *clip_of(*moved.soft, clip), std::move(*dynamics));
  }
  /// The median of its steps [ms].
  double round() {
    std::vector<double> steps;
    for (int k = 0; k < 90; ++k) {
      motion_.sample(motion_.start() + k / 90.0, pose_);
      const auto start = Clock::now();
      dynamics_.step(pose_.placement, pose_.p);
      steps.push_back(1e3 * seconds_since(start));
    }
    dynamics_.cut();
    return median(steps);
  }

 private:
  Stepper(const Moved& moved, const Clip& clip, PoseSpaceDynamics<float> dynamics)
      : motion_(moved.soft->rig(), clip, false, height_of(moved.soft->source())),
        dynamics_(std::move(dynamics)),
        pose_(moved.soft->rig().neutral()) {}

  ClipMotion motion_;
  PoseSpaceDynamics<float> dynamics_;
  CharacterPose pose_;
};

class ContactRows {
 public:
  ContactRows(Report& report, const Subject& subject) : report_(report), subject_(subject) {}

  void run() {
    set_thread_count(0);
    const Result<Moved> plain = move(subject_, false, 0);
    // As much drive for both, or their motion couldn't be compared.
    const Result<Moved> held = plain.ok() ? move(subject_, true, plain->soft->exaggeration()) : plain.error();
    set_thread_count(1);
    if (!held.ok()) return error(held.error().message);
    add_depths(*plain, *held);
    add_steps(*plain, *held);
  }
  void error(const std::string& message) {
    report_.add({.table = table, .row = subject_.row, .metric = "depth_ratio", .target = 0.1, .error = message});
  }

 private:
  void add(const char* metric, double value, const char* unit, std::optional<double> target = {}) {
    report_.add(
        {.table = table, .row = subject_.row, .metric = metric, .value = value, .unit = unit, .target = target});
  }

  void add_depths(const Moved& plain, const Moved& held) {
    if (const ResolvedContacts* contacts = held.soft->source().contacts.get()) {
      const double percent = 100 / height_of(held.soft->source());
      add("rig_depth", percent * contacts->worst_before(), "%");
      add("rig_depth_resolved", percent * contacts->worst_after(), "%");
      add("corrections", static_cast<double>(contacts->corrections.size()), "");
    }
    add("depth", 100 * plain.deepest(), "%");
    add("depth_contact", 100 * held.deepest(), "%");
    if (plain.deepest() > 0) add("depth_ratio", held.deepest() / plain.deepest(), "", 0.1);
    add("rms_ratio", held.rms / plain.rms, "");
    add("peak_ratio", held.peak / plain.peak, "");
    PlotPanel panel{"time [s]", "deepest skin inside skin [% of the height]", {}};
    for (const auto& [name, moved] : {std::pair{"without contact", &plain}, std::pair{"with", &held}}) {
      PlotSeries series{name, moved->times, {}};
      for (const double depth : moved->depths) series.y.push_back(100 * depth);
      panel.series.push_back(std::move(series));
    }
    std::string file = "pose_contact_" + subject_.row;
    std::replace(file.begin(), file.end(), '/', '_');
    report_.add_plot(file, {.title = fmt::format("Skin inside skin: {}, {}", subject_.row, subject_.clip),
                            .panels = {std::move(panel)},
                            .panel_height = 260});
  }

  void add_steps(const Moved& plain, const Moved& held) {
    Result<Stepper> a = Stepper::create(plain, subject_.clip), b = Stepper::create(held, subject_.clip);
    if (!a.ok() || !b.ok()) return error((a.ok() ? b.error() : a.error()).message);
    std::vector<double> without, with, ratios;
    for (int turn = 0; turn < 15; ++turn) {
      without.push_back(a->round());
      with.push_back(b->round());
      ratios.push_back(with.back() / without.back());
    }
    add("step_ms", median(without), "ms");
    add("step_ms_contact", median(with), "ms");
    add("step_ratio", median(ratios), "", 1.3);
    for (const auto& [name, moved] : {std::pair{"elements", &plain}, std::pair{"elements_contact", &held}})
      add(name, std::get<CharacterAsset>(moved->soft->asset()).model->element_count(), "");
  }

  Report& report_;
  const Subject& subject_;
};

void add_own(Report& report, const PublishedCreature& published) {
  CreatureFolder folder(published.example);
  const Status written = folder.write();
  Subject subject{published.name, published.clip, folder.recipe(), folder.path()};
  ContactRows rows(report, subject);
  if (!written.ok()) return rows.error(written.error().message);
  subject.recipe = folder.recipe();
  subject.recipe.tets = tets;
  subject.recipe.flesh.size = coordinates;
  subject.recipe.clips = {subject.clip};
  rows.run();
}

void add_stranger(Report& report, const std::string& file, const std::string& clip) {
  const std::filesystem::path path = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets/rigged" / file;
  Subject subject{"strangers/" + path.stem().string(), clip, {}, path.parent_path()};
  ContactRows rows(report, subject);
  const Result<CharacterFile> character = read_character_file(path);
  if (!character.ok()) return rows.error(character.error().message);
  subject.recipe = first_recipe(*character, path.filename().string(), tets);
  subject.recipe.flesh.quality = Quality::draft;
  if (subject.clip.empty() && !character->character.clips.empty())
    subject.clip = character->character.clips.front().name;
  subject.recipe.clips = {subject.clip};
  rows.run();
}

}  // namespace

void add_pose_contact(Report& report, const Options& options) {
  for (const PublishedCreature& published : table3())
    if (std::string_view(published.name) == "arm" || (std::string_view(published.name) == "bear" && !options.quick))
      add_own(report, published);
  add_stranger(report, "khr_cesiumman/CesiumMan.glb", "");
  if (options.quick) return;
  add_stranger(report, "quat_trex/Trex.glb", "");
  add_stranger(report, "quat_frog/Frog.glb", "");
}

}  // namespace supple::bench
