// SPDX-License-Identifier: Apache-2.0
// Flesh at rest (2014 paper): both tables of section 7 with our own arm and body at the paper's sizes. Stages of a
// frame, and surface against volume as an elbow bends into itself. All cores, as in the paper, whose machine had four.
#include "bench/report.h"

#include "samples/creatures.h"
#include "supple/base/clock.h"
#include "supple/base/memory.h"
#include "supple/base/parallel.h"
#include "supple/offline/quasistatic/approach.h"
#include "supple/offline/quasistatic/build_quasistatic.h"
#include "supple/offline/quasistatic/flesh_turns.h"
#include "supple/offline/quasistatic/quasistatic_solver.h"
#include "supple/offline/quasistatic/self_collision.h"

#include <fmt/format.h>

#include <numbers>

namespace supple::bench {
namespace {

/// A row of the first table: seconds.
struct PublishedFlesh {
  const char* row;
  const char* example;
  const char* joint;  ///< that is bent
  int tets;
  bool graded;
  double skinning, stiffness, interior_iteration, interior_solve, boundary_iteration, boundary_step, frame;
};
constexpr PublishedFlesh table1[] = {
    {"arm220k", "arm", "elbow", 220'000, true, 0.013, 0.128, 0.0087, 0.054, 0.0176, 0.095, 0.280},
    {"arm259k", "arm", "elbow", 259'000, false, 0.018, 0.135, 0.0108, 0.097, 0.0238, 0.120, 0.463},
    {"body864k", "mascot", "left_elbow", 864'000, true, 0.141, 0.680, 0.0348, 0.579, 0.0573, 0.864, 2.282}};

/// A row of the second table.
struct PublishedBend {
  int degrees;
  double pairs, surface, volume;  ///< seconds of a frame
};
constexpr PublishedBend table2[] = {{45, 0, 0.349, 0.293},   {90, 0, 0.38, 0.306},    {105, 64, 0.397, 0.407},
                                    {120, 239, 0.619, 1.25}, {135, 530, 0.673, 2.11}, {150, 1094, 0.691, 2.77}};

/// A character of ours whose flesh is to be bent at a joint.
struct Bender {
  RawCharacter character;
  std::optional<CharacterRig> rig;
  QuasistaticModel model;
  Index joint = -1;

  Result<ExRotatedBody> body() const { return ExRotatedBody::create(model.mesh, model.fixed); }
};

Result<Bender> make_bender(const PublishedFlesh& flesh, int tets, bool biharmonic = false) {
  Bender made;
  const CreatureExample* example = find_creature_example(flesh.example);
  made.character = make_character(example->make(), example->vertices);
  Result<CharacterRig> rig = CharacterRig::create(made.character);
  SUPPLE_RETURN_IF_ERROR(rig);
  made.rig = std::move(*rig);
  EmbedSettings settings;
  settings.meshing.tets = tets;
  settings.meshing.graded = flesh.graded;
  settings.bones.radius = 0.012;
  const Result<EmbeddedBody> body = embed_character(made.character, *made.rig, settings);
  SUPPLE_RETURN_IF_ERROR(body);
  Result<QuasistaticModel> model =
      build_quasistatic(*body, made.character, *made.rig, {.frequency = {}, .biharmonic = biharmonic});
  SUPPLE_RETURN_IF_ERROR(model);
  made.model = std::move(*model);
  made.joint = find_joint(made.rig->skeleton(), flesh.joint);
  if (made.joint < 0) return failure(fmt::format("{} has no joint {}", flesh.example, flesh.joint));
  return made;
}

struct Frame {
  QuasistaticReport report;
  double skinning = 0, seconds = 0;
  int solves = 0;  ///< one, where contacts don't need steps
};

/// One way to solve, followed from angle to angle.
class BendRun {
 public:
  BendRun(const Bender& bender, const QuasistaticSettings& settings)
      : bender_(bender),
        turns_(bender.model),
        contacts_(bender.body().value()),
        solver_(bender.body().value(), settings) {}
  BendRun(const Bender& bender, QuasistaticMethod method, double tolerance = QuasistaticSettings().tolerance)
      : BendRun(bender, {.method = method, .tolerance = tolerance}) {}

  /// From the last angle, in steps where contacts need them, as bakes do.
  Frame bend(double degrees) {
    Frame frame;
    const auto start = Clock::now();
    const bool anew = before_.x.size() == 0;
    if (anew) before_ = at_rest();
    const double from = before_.degrees;
    frame.report =
        approach_pose({}, {.solve =
                               [&](double share, int most_looks, bool again) {
                                 if (again) solver_.recall(before_.contacts);
                                 solver_.settings().most_looks = most_looks;
                                 ++frame.solves;
                                 return solve_at(from + share * (degrees - from), again || !anew, frame.skinning);
                               },
                           .keep = [&] { before_ = now_; }});
    x = before_.x;
    frame.seconds = seconds_since(start);
    return frame;
  }
  /// Solves anew at the last angle with the rotations that the flesh has there.
  void follow_flesh() {
    solver_.turn_elements(solver_.body().rotations_of(x));
    double skinning = 0;
    solve_at(before_.degrees, true, skinning);
    before_ = now_;
    x = now_.x;
  }
  const ExRotatedBody& body() const { return solver_.body(); }

  VecX x;

 private:
  /// Flesh at an angle.
  struct Bent {
    double degrees = 0;
    VecX x;
    std::vector<Eigen::Vector4d> rotations;
    std::vector<Vec3> carried;
    QuasistaticSolver::Contacts contacts;
  };

  void evaluate(double degrees, Bent& bent) {
    CharacterPose pose = bender_.rig->neutral();
    Pose locals = pose.locals;
    Quat& turn = locals[to_size(bender_.joint)].rotation;
    turn = Quat(Eigen::AngleAxisd(-degrees * std::numbers::pi / 180, Vec3::UnitY())) * turn;
    bender_.rig->set_joints(locals, pose);
    bent.degrees = degrees;
    bent.rotations.resize(to_size(body().vertex_count()));
    turns_.evaluate(pose.p, bent.rotations);
    bent.carried = evaluate_all(*bender_.model.rest, pose.p);
    bent.x.resize(3 * std::ssize(bent.carried));
    for (Index n = 0; n < body().vertex_count(); ++n)
      bent.x.segment<3>(3 * Eigen::Index{n}) = bent.carried[to_size(body().vertex_of()[to_size(n)])];
  }
  Bent at_rest() {
    Bent rest;
    evaluate(0, rest);
    return rest;
  }

  QuasistaticReport solve_at(double degrees, bool near, double& skinning) {
    const auto start = Clock::now();
    now_.contacts = {};
    evaluate(degrees, now_);
    std::vector<Eigen::Vector4d> own(now_.rotations.size());
    for (Index n = 0; n < body().vertex_count(); ++n) {
      const auto v = to_size(body().vertex_of()[to_size(n)]);
      own[to_size(n)] = now_.rotations[v];
      if (!near || n >= body().held().begin) continue;
      now_.x.segment<3>(3 * Eigen::Index{n}) +=
          Quat(now_.rotations[v]).normalized() * (Quat(before_.rotations[v]).normalized().conjugate() *
                                                  (before_.x.segment<3>(3 * Eigen::Index{n}) - before_.carried[v]));
    }
    skinning += seconds_since(start);
    const QuasistaticReport report = solver_.solve(own, now_.x, &contacts_, Vec3::Zero(), near);
    now_.contacts = solver_.contacts();
    return report;
  }

  const Bender& bender_;
  FleshTurns turns_;
  SelfCollision contacts_;
  QuasistaticSolver solver_;
  Bent before_, now_;
};

double over(double seconds, int count) { return count > 0 ? seconds / count : 0; }

void add_stages(Report& report, const PublishedFlesh& flesh, BendRun& run) {
  constexpr double step = 3;  // degrees, as in the paper's bend of 150 in 50 frames
  run.bend(0);
  std::vector<double> skinning, stiffness, frames;
  QuasistaticReport sum;
  constexpr int count = 5;
  for (int k = 1; k <= count; ++k) {
    const Frame frame = run.bend(30 + k * step);
    skinning.push_back(frame.skinning);
    stiffness.push_back(frame.report.pose_seconds);
    frames.push_back(frame.seconds);
    sum.interior_seconds += frame.report.interior_seconds;
    sum.boundary_seconds += frame.report.boundary_seconds;
    sum.interior_iterations += frame.report.interior_iterations;
    sum.boundary_iterations += frame.report.boundary_iterations;
    sum.rounds += frame.report.rounds;
  }
  const auto add = [&](const char* metric, double value, const char* unit, std::optional<double> paper) {
    report.add({.table = "quasistatic/table1",
                .row = flesh.row,
                .metric = metric,
                .value = value,
                .unit = unit,
                .paper = paper});
  };
  add("tets", static_cast<double>(run.body().elements().size()), "", flesh.tets);
  add("boundary_vertices", run.body().boundary().count(), "", {});
  add("interior_vertices", run.body().interior().count(), "", {});
  add("skinning_s", median(skinning), "s", flesh.skinning);
  add("stiffness_s", median(stiffness), "s", flesh.stiffness);
  add("interior_iteration_s", over(sum.interior_seconds, sum.interior_iterations), "s", flesh.interior_iteration);
  add("interior_solve_s", over(sum.interior_seconds, sum.rounds + count), "s", flesh.interior_solve);
  add("boundary_iteration_s", over(sum.boundary_seconds, sum.boundary_iterations), "s", flesh.boundary_iteration);
  add("boundary_step_s", over(sum.boundary_seconds, sum.rounds), "s", flesh.boundary_step);
  add("surface_frame_s", median(frames), "s", flesh.frame);
}

void add_volume_frame(Report& report, const PublishedFlesh& flesh, const Bender& bender) {
  BendRun run(bender, QuasistaticMethod::volume);
  run.bend(0);
  std::vector<double> frames;
  for (int k = 1; k <= 5; ++k) frames.push_back(run.bend(30 + 3 * k).seconds);
  report.add({.table = "quasistatic/table1",
              .row = flesh.row,
              .metric = "frame_s",
              .value = median(frames),
              .unit = "s",
              .paper = flesh.frame,
              .target = flesh.frame});
}

double farthest(const VecX& a, const VecX& b) {
  double largest = 0;
  for (Eigen::Index k = 0; k < a.size(); k += 3) largest = std::max(largest, (a - b).segment<3>(k).norm());
  return largest;
}

/// Surface and volume at 90 degrees, where nothing touches, solved further than frames are.
void add_equality(Report& report, const PublishedFlesh& flesh, const Bender& bender) {
  BendRun surface(bender, QuasistaticMethod::surface, 1e-6), volume(bender, QuasistaticMethod::volume, 1e-6);
  surface.bend(90);
  volume.bend(90);
  report.add({.table = "quasistatic/equality",
              .row = flesh.row,
              .metric = "difference_over_height",
              .value = farthest(surface.x, volume.x) / bender.model.extent,
              .target = 1e-5});
}

/// The second table: the elbow bends by `step` degrees a frame; each row is the mean of the frames up to its angle.
void add_bending(Report& report, const PublishedFlesh& flesh, const Bender& bender, double step) {
  BendRun surface(bender, QuasistaticMethod::surface), volume(bender, QuasistaticMethod::volume);
  // The paper's volumetric way: its preconditioner knows nothing of contact.
  BendRun plain(bender, {.press = false});
  double angle = 0;
  for (const PublishedBend& bend : table2) {
    double seconds[3] = {0, 0, 0}, pairs = 0, deepest = 0, contact = 0, apart = 0, residual = 0;
    int frames = 0, solves = 0;
    for (; angle <= bend.degrees + 1e-9; angle += step, ++frames) {
      const Frame by_surface = surface.bend(angle), by_volume = volume.bend(angle);
      seconds[0] += by_surface.seconds;
      seconds[1] += by_volume.seconds;
      seconds[2] += plain.bend(angle).seconds;
      pairs += by_surface.report.contacts;
      deepest = std::max({deepest, by_surface.report.deepest, by_volume.report.deepest});
      contact = std::max({contact, by_surface.report.contact_depth, by_volume.report.contact_depth});
      solves = std::max({solves, by_surface.solves, by_volume.solves});
      residual = std::max({residual, by_surface.report.residual, by_volume.report.residual});
      apart = farthest(surface.x, volume.x);
    }
    const auto add = [&](const char* metric, double value, const char* unit, std::optional<double> paper,
                         std::optional<double> target = {}) {
      report.add({.table = "quasistatic/table2",
                  .row = fmt::format("{}_{}deg", flesh.row, bend.degrees),
                  .metric = metric,
                  .value = value,
                  .unit = unit,
                  .paper = paper,
                  .target = target});
    };
    add("collision_pairs", over(pairs, frames), "", bend.pairs);
    add("surface_frame_s", over(seconds[0], frames), "s", bend.surface);
    add("volume_frame_s", over(seconds[1], frames), "s", bend.volume);
    add("plain_volume_frame_s", over(seconds[2], frames), "s", bend.volume);
    add("surface_vs_plain_volume_speedup", seconds[2] / seconds[0], "", bend.volume / bend.surface);
    add("surface_vs_volume_speedup", seconds[1] / seconds[0], "", bend.volume / bend.surface,
        bend.degrees == 150 ? std::optional<double>(4) : std::nullopt);
    add("fastest_frame_s", over(std::min(seconds[0], seconds[1]), frames), "s", std::min(bend.volume, bend.surface));
    add("difference_percent", 100 * apart / bender.model.extent, "% of the height", {});
    add("deepest_percent", 100 * deepest / bender.model.extent, "% of the height", {});
    add("contact_percent", 100 * contact / bender.model.extent, "% of the height", {});
    add("most_solves", solves, "", {});
    add("worst_residual", residual, "", {}, 1e-5);
  }
}

/// Iterations of the boundary's conjugate gradients at 90 degrees, with and without what stands before them (Figure 4).
void add_iterations(Report& report, const PublishedFlesh& flesh, const Bender& bender) {
  double iterations[2] = {};
  for (const bool precondition : {false, true}) {
    QuasistaticSolver solver(
        bender.body().value(),
        {.method = QuasistaticMethod::surface, .round_tolerance = 1e-4, .precondition = precondition});
    FleshTurns turns(bender.model);
    CharacterPose pose = bender.rig->neutral();
    Pose locals = pose.locals;
    Quat& turn = locals[to_size(bender.joint)].rotation;
    turn = Quat(Eigen::AngleAxisd(-std::numbers::pi / 2, Vec3::UnitY())) * turn;
    bender.rig->set_joints(locals, pose);
    std::vector<Eigen::Vector4d> rotations(bender.model.mesh.vertices.size()), own(rotations.size());
    turns.evaluate(pose.p, rotations);
    const std::vector<Vec3> carried = evaluate_all(*bender.model.rest, pose.p);
    VecX x(3 * std::ssize(carried));
    for (std::size_t n = 0; n < own.size(); ++n) {
      const auto v = to_size(solver.body().vertex_of()[n]);
      own[n] = rotations[v];
      x.segment<3>(3 * static_cast<Eigen::Index>(n)) = carried[v];
    }
    const QuasistaticReport done = solver.solve(own, x);
    iterations[precondition ? 1 : 0] = over(done.boundary_iterations, done.rounds);
  }
  report.add({.table = "quasistatic/figure4",
              .row = flesh.row,
              .metric = "unpreconditioned_iterations",
              .value = iterations[0]});
  report.add({.table = "quasistatic/figure4",
              .row = flesh.row,
              .metric = "preconditioned_iterations",
              .value = iterations[1]});
  report.add({.table = "quasistatic/figure4",
              .row = flesh.row,
              .metric = "fewer_iterations",
              .value = iterations[0] / iterations[1],
              .target = 5});
}

/// Ex-rotated flesh, whose rotations are the rig's, against corotational flesh, which finds its own, at some angles
/// where nothing touches: how far the two are apart at most, with rotations by the skin's weights and by biharmonic
/// ones.
void add_corotational(Report& report, const PublishedFlesh& flesh, int tets) {
  constexpr int turns = 12;  // of rotations and positions, after which neither moves
  for (const bool biharmonic : {false, true}) {
    const Result<Bender> bender = make_bender(flesh, tets, biharmonic);
    for (const double degrees : {30.0, 60.0, 90.0}) {
      const auto add = [&](std::optional<double> value, std::string error) {
        report.add({.table = "quasistatic/corotational",
                    .row = fmt::format("{}_{:g}deg", flesh.row, degrees),
                    .metric = biharmonic ? "biharmonic_difference_percent" : "skin_difference_percent",
                    .value = value,
                    .unit = "% of the height",
                    .error = std::move(error)});
      };
      if (!bender.ok()) {
        add({}, bender.error().message);
        continue;
      }
      BendRun run(*bender, QuasistaticMethod::volume, 1e-6);
      run.bend(degrees);
      const VecX by_rig = run.x;
      for (int k = 0; k < turns; ++k) run.follow_flesh();
      add(100 * farthest(by_rig, run.x) / bender->model.extent, {});
    }
  }
}

void fail_row(Report& report, const PublishedFlesh& flesh, const std::string& why) {
  report.add({.table = "quasistatic/table1", .row = flesh.row, .metric = "frame_s", .error = why});
}

}  // namespace

Report run_quasistatic(const Options& options) {
  Report report;
  set_thread_count(0);
  for (const PublishedFlesh& flesh : table1) {
    if (!options.wants(flesh.row)) continue;
    const int tets = options.quick ? flesh.tets / 20 : flesh.tets;
    const Result<Bender> bender = make_bender(flesh, tets);
    if (!bender.ok()) {
      fail_row(report, flesh, bender.error().message);
      continue;
    }
    {
      BendRun run(*bender, QuasistaticMethod::surface);
      add_stages(report, flesh, run);
    }
    add_volume_frame(report, flesh, *bender);
    if (std::string_view(flesh.row) != "arm259k") continue;
    add_iterations(report, flesh, *bender);
    add_equality(report, flesh, *bender);
    add_corotational(report, flesh, flesh.tets / 20);  // at this size in both, because twelve turns are dear
    add_bending(report, flesh, *bender, options.quick ? 15 : 7.5);
  }
  set_thread_count(1);
  return report;
}

}  // namespace supple::bench
