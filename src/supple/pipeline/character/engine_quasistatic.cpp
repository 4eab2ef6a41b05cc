// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/engine_quasistatic.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/offline/quasistatic/approach.h"
#include "supple/offline/quasistatic/build_quasistatic.h"
#include "supple/offline/quasistatic/colliders.h"
#include "supple/offline/quasistatic/flesh_swing.h"
#include "supple/offline/quasistatic/flesh_turns.h"
#include "supple/offline/quasistatic/mesh_distance.h"
#include "supple/offline/quasistatic/quasistatic_solver.h"
#include "supple/offline/quasistatic/self_collision.h"
#include "supple/offline/stage_archives.h"
#include "supple/pipeline/character/feel.h"
#include "supple/pipeline/character/fingerprint.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

namespace supple {
namespace {

constexpr int steps_per_frame = 8;
/// Where flesh has inertia: 120 frames a second with the usual step, 30 of them for a swing of 4 Hz.
constexpr int steps_per_swinging_frame = 2;
/// [s] that a loop is run for at least before the round that is kept.
constexpr double run_up = 2;
/// Each so many-th frame of a clip is solved from nothing but its pose; those between start from the one before.
constexpr std::int64_t frames_per_group = 8;

/// p without morph targets: they move the skin after the flesh has.
void without_morphs(const PoseLayout& layout, std::span<double> p) {
  for (const ParameterGroup& group : layout.groups)
    if (group.kind == ParameterKind::scalar) p[to_size(group.first)] = layout.neutral[to_size(group.first)];
}

/// The skin in terms of the mesh.
class HangingSkin {
 public:
  explicit HangingSkin(const QuasistaticModel& model) : model_(model) {
    for (const auto& nodes : model.surface_vertex) {
      const auto held = [&](Index v) { return std::binary_search(model.fixed.begin(), model.fixed.end(), v); };
      stiff_.push_back(std::all_of(nodes.begin(), nodes.end(), held) ? 1 : 0);
    }
  }
  /// Tells whether nothing soft moves a vertex of the skin: it stays where the rig has it.
  bool stiff(std::size_t v) const { return stiff_[v] != 0; }
  Vec3 position(std::size_t v, const VecX& x) const {
    Vec3 sum = Vec3::Zero();
    for (std::size_t k = 0; k < QuasistaticModel::nodes; ++k)
      sum += model_.surface_weight[v][k] * x.segment<3>(3 * Eigen::Index{model_.surface_vertex[v][k]});
    return sum;
  }
  Quat rotation(std::size_t v, std::span<const Eigen::Vector4d> rotations) const {
    const auto& nodes = model_.surface_vertex[v];
    // Nodes of skin that lies outside of the mesh have negative weights, which quaternions don't need.
    Eigen::Vector4d sum = Eigen::Vector4d::Zero();
    for (std::size_t k = 0; k < QuasistaticModel::nodes; ++k) {
      const Eigen::Vector4d& q = rotations[to_size(nodes[k])];
      sum += (q.dot(sum) < 0 ? -1.0 : 1.0) * std::max(model_.surface_weight[v][k], 0.0) * q;
    }
    return Quat(sum).normalized();
  }

 private:
  const QuasistaticModel& model_;
  std::vector<char> stiff_;
};

void add_content(ContentHash& content, const Collider& collider) {
  content.add(collider.shape).add(collider.radius).add(collider.friction);
  for (const Vec3& v : {collider.at, collider.to, collider.normal, collider.size})
    for (const double component : v) content.add(component);
  content.add(std::string_view(collider.joint)).add(collider.level != nullptr);
  if (collider.level) add_content(content, collider.level->surface());
}

/// What makes frames follow from those before them.
struct FrameHistory {
  double friction = 0;  ///< of flesh against itself
  bool inertia = false;
  bool in_turn = false;  ///< because of either, or of a collider's friction

  explicit FrameHistory(const Recipe& recipe) : friction(recipe.flesh.friction), inertia(recipe.flesh.inertia) {
    in_turn = inertia || friction > 0 ||
              std::any_of(recipe.colliders.begin(), recipe.colliders.end(),
                          [](const Collider& collider) { return collider.friction > 0; });
  }
};

/// What clips of one character share.
struct SharedStillness {
  const QuasistaticModel& model;
  HangingSkin skin{model};
};

/// Solves frames of one clip.
class FrameSolver {
 public:
  /// `swing`: where flesh has inertia; `body` then has it too.
  FrameSolver(const SharedStillness& shared, const CharacterRig& rig, ExRotatedBody body,
              std::vector<Collider> colliders, double friction, std::optional<FleshSwing> swing)
      : shared_(shared),
        rig_(rig),
        pose_(rig.neutral()),
        turns_(shared.model),
        carriers_(carriers_of(colliders, rig.skeleton())),
        collision_(body, {.friction = friction}),
        colliders_(body, std::move(colliders)),
        solver_(std::move(body)),
        swing_(std::move(swing)) {
    rotations_.resize(to_size(shared.model.vertex_count()));
    numbered_.resize(rotations_.size());
    skin_.resize(to_size(rig.rig()->vertex_count()));
  }

  /// The skin's displacements at a moment of a clip, each turned back with the flesh. `anew`: from nothing but the
  /// pose.
  QuasistaticReport solve(const ClipMotion& motion, double time, bool anew, const Vec3& gravity, VecX& local) {
    const CharacterPose target = pose_at(motion, time);
    const bool first = anew || before_.x.size() == 0;
    if (first) {
      before_ = at_rest();
      contacts_.slide_from({});
    }
    if (swing_) draw(target, first);
    const CharacterPose from = before_.pose;
    const QuasistaticReport report = approach_pose(
        {}, {.solve =
                 [&](double share, int most_looks, bool again) {
                   if (again) solver_.recall(before_.contacts);
                   solver_.settings().most_looks = most_looks;
                   return solve_pose(share < 1 ? between(from, target, share) : target, gravity, again || !first);
                 },
             .keep =
                 [&] {
                   before_ = {pose_, x_, rotations_, carried_, solver_.contacts()};
                   contacts_.slide_from(x_);
                 }});
    if (swing_) swing_on(motion, time, first);
    take_skin(local);
    return report;
  }

 private:
  /// The joint that carries a collider, or −1, and where it is while the skeleton rests.
  struct Carrier {
    Index joint = -1;
    RigidTransform rest;
  };

  static std::vector<Carrier> carriers_of(std::span<const Collider> colliders, const Skeleton& skeleton) {
    const std::vector<Affine> rest = world_matrices(skeleton, rest_pose(skeleton));
    std::vector<Carrier> carriers;
    for (const Collider& collider : colliders) {
      const Index joint = collider.joint.empty() ? -1 : find_joint(skeleton, collider.joint);
      carriers.push_back({joint, joint < 0 ? RigidTransform() : without_stretch(rest[to_size(joint)])});
    }
    return carriers;
  }
  static RigidTransform without_stretch(const Affine& matrix) { return {matrix.translation(), rotation_of(matrix)}; }

  void place_colliders() {
    for (std::size_t c = 0; c < carriers_.size(); ++c) {
      const auto& [joint, rest] = carriers_[c];
      colliders_.place(c, joint < 0
                              ? pose_.placement
                              : rest * without_stretch(world_matrix(rig_.skeleton(), pose_.locals, joint)).inverse());
    }
  }
  /// Flesh that was solved for, or is as the rig has it.
  struct Solved {
    CharacterPose pose;
    VecX x;
    std::vector<Eigen::Vector4d> rotations;
    std::vector<Vec3> carried;
    QuasistaticSolver::Contacts contacts;
  };

  CharacterPose pose_at(const ClipMotion& motion, double time) {
    CharacterPose pose = rig_.neutral();
    motion.sample(time, pose);
    without_morphs(rig_.rig()->layout(), pose.p);
    return pose;
  }

  /// Where the rig would have the flesh, in the world and the solver's numbers.
  VecX carried_in_world(const CharacterPose& pose) const {
    const std::vector<Vec3> carried = evaluate_all(*shared_.model.rest, pose.p);
    VecX x(3 * std::ssize(carried));
    for (Index n = 0; n < solver_.body().vertex_count(); ++n)
      x.segment<3>(3 * Eigen::Index{n}) = pose.placement * carried[to_size(solver_.body().vertex_of()[to_size(n)])];
    return x;
  }
  static VecX placed(const RigidTransform& placement, VecX x) {
    for (Eigen::Index k = 0; k < x.size(); k += 3) x.segment<3>(k) = placement * Vec3(x.segment<3>(k));
    return x;
  }

  /// Inertia for the next solve. Flesh begins at rest.
  void draw(const CharacterPose& target, bool first) {
    solver_.set_inertia(first ? 0 : swing_->rate());
    if (!first) solver_.draw_to(placed(target.placement.inverse(), swing_->drawn_to(carried_in_world(target))));
  }
  /// After a solve. A clip starts as if it had moved on at its first speed before.
  void swing_on(const ClipMotion& motion, double time, bool first) {
    const VecX x = placed(pose_.placement, x_);
    if (!first) return swing_->advance(x);
    const VecX here = carried_in_world(pose_);
    const bool cut = motion.is_cut(time, time + swing_->step());
    const VecX next = cut ? here : carried_in_world(pose_at(motion, time + swing_->step()));
    swing_->begin(x, (next - here) / swing_->step(), here);
  }

  void evaluate(const CharacterPose& pose) {
    turns_.evaluate(pose.p, rotations_);
    carried_ = evaluate_all(*shared_.model.rest, pose.p);
  }

  Solved at_rest() {
    Solved rest;
    rest.pose = rig_.neutral();
    without_morphs(rig_.rig()->layout(), rest.pose.p);
    evaluate(rest.pose);
    rest.x.resize(3 * std::ssize(carried_));
    for (Index n = 0; n < solver_.body().vertex_count(); ++n)
      rest.x.segment<3>(3 * Eigen::Index{n}) = carried_[to_size(solver_.body().vertex_of()[to_size(n)])];
    rest.rotations = rotations_;
    rest.carried = carried_;
    return rest;
  }

  /// From where the flesh was relative to its surroundings. `near`: as it was solved for.
  QuasistaticReport solve_pose(const CharacterPose& pose, const Vec3& gravity, bool near) {
    pose_ = pose;
    place_colliders();
    evaluate(pose);
    const ExRotatedBody& body = solver_.body();
    x_.resize(before_.x.size());
    for (Index n = 0; n < body.vertex_count(); ++n) {
      const auto v = to_size(body.vertex_of()[to_size(n)]);
      numbered_[to_size(n)] = rotations_[v];
      auto x = x_.segment<3>(3 * Eigen::Index{n});
      const Quat now(rotations_[v]), then(before_.rotations[v]);
      x = carried_[v];
      if (near && n < body.held().begin)
        x += now.normalized() *
             (then.normalized().conjugate() * (before_.x.segment<3>(3 * Eigen::Index{n}) - before_.carried[v]));
    }
    return solver_.solve(numbered_, x_, &contacts_, pose.placement.rotation.conjugate() * gravity, near);
  }

  CharacterPose between(const CharacterPose& from, const CharacterPose& to, double t) const {
    CharacterPose pose = to;
    for (std::size_t k = 0; k < pose.p.size(); ++k) pose.p[k] = from.p[k] + t * (to.p[k] - from.p[k]);
    Pose locals = to.locals;
    for (std::size_t j = 0; j < locals.size(); ++j) {
      const Transform &a = from.locals[j], &b = to.locals[j];
      locals[j] = {a.translation + t * (b.translation - a.translation), a.rotation.slerp(t, b.rotation),
                   a.scale + t * (b.scale - a.scale)};
    }
    rig_.set_joints(locals, pose);
    pose.placement = to.placement;
    return pose;
  }

  void take_skin(VecX& local) {
    const ExRotatedBody& body = solver_.body();
    in_mesh_.resize(x_.size());
    for (Index n = 0; n < body.vertex_count(); ++n)
      in_mesh_.segment<3>(3 * Eigen::Index{body.vertex_of()[to_size(n)]}) = x_.segment<3>(3 * Eigen::Index{n});
    skin_ = evaluate_all(*rig_.rig(), pose_.p);
    for (std::size_t v = 0; v < skin_.size(); ++v) {
      auto u = local.segment<3>(3 * static_cast<Eigen::Index>(v));
      u.setZero();
      if (shared_.skin.stiff(v)) continue;
      u = shared_.skin.rotation(v, rotations_).conjugate() * (shared_.skin.position(v, in_mesh_) - skin_[v]);
    }
  }

  const SharedStillness& shared_;
  const CharacterRig& rig_;
  CharacterPose pose_;
  FleshTurns turns_;
  std::vector<Carrier> carriers_;  ///< of each collider
  SelfCollision collision_;
  ColliderContacts colliders_;
  JoinedContacts contacts_{{&collision_, &colliders_}};
  QuasistaticSolver solver_;
  std::optional<FleshSwing> swing_;
  std::vector<Eigen::Vector4d> rotations_, numbered_;
  std::vector<Vec3> skin_, carried_;
  VecX x_, in_mesh_;
  Solved before_;
};

/// Moments of a clip, a whole number of them from its first key to its end, whichever of them a run needs.
struct FrameGrid {
  double first = 0, step = 1;  ///< [s]
  std::int64_t last = 0;
  std::int64_t group_size = frames_per_group;
  bool loop = false;

  FrameGrid(const Clip& clip, const SimulateSettings& settings, const FrameHistory& history) {
    first = std::min(first_key(clip), clip.duration);
    const double whole = clip.duration - first;
    loop = settings.loop && whole > 0;
    const int steps = history.inertia ? steps_per_swinging_frame : steps_per_frame;
    last = static_cast<std::int64_t>(std::ceil(whole / (steps * settings.time_step) - 1e-9));
    if (history.in_turn) group_size = last + 1;
    step = last > 0 ? whole / static_cast<double>(last) : 1;
  }
  double place(double time) const { return std::clamp((time - first) / step, 0.0, static_cast<double>(last)); }
  double time(std::int64_t frame) const { return first + static_cast<double>(frame) * step; }
  /// The frame that stands for one beyond the ends, or for the end of a loop, which is its start.
  std::int64_t at(std::int64_t frame) const {
    if (loop) return (frame + last) % last;
    return std::clamp<std::int64_t>(frame, 0, last);
  }
  /// Groups with frames that cubic interpolation from one time to another looks at.
  std::vector<Index> groups(double from, double to) const {
    const std::vector<char> marks = needed(from, to);
    std::vector<Index> chosen;
    for (std::size_t k = 0; k < marks.size(); ++k) {
      const auto group = static_cast<Index>(static_cast<std::int64_t>(k) / group_size);
      if (marks[k] != 0 && (chosen.empty() || chosen.back() != group)) chosen.push_back(group);
    }
    return chosen;
  }
  /// Frames that cubic interpolation from one time to another looks at.
  std::vector<char> needed(double from, double to) const {
    std::vector<char> marks(to_size(last) + 1, 0);
    const auto begin = static_cast<std::int64_t>(std::floor(place(from))) - 1;
    const auto end = static_cast<std::int64_t>(std::floor(place(to))) + 2;
    for (std::int64_t k = begin; k <= end; ++k) marks[to_size(at(k))] = 1;
    return marks;
  }
};

/// The first frame of a group, and the one after its last.
struct FrameRange {
  std::int64_t begin = 0, end = 0;
};
FrameRange frames_of_group(const FrameGrid& grid, Index group) {
  const std::int64_t begin = group * grid.group_size;
  return {begin, std::min(begin + grid.group_size, grid.last + 1)};
}

/// What is told of a solved frame, and its displacements, as one column of numbers.
constexpr Eigen::Index told_of_frame = 4;
struct FrameColumn {
  explicit FrameColumn(Eigen::Ref<VecX> column) : numbers(column) {}
  double& converged() { return numbers[0]; }
  double& deepest() { return numbers[1]; }
  double& residual() { return numbers[2]; }
  double& contact_depth() { return numbers[3]; }
  Eigen::Ref<VecX> numbers;
};

std::string bytes_of(const MatX& columns) {
  return {reinterpret_cast<const char*>(columns.data()), to_size(columns.size()) * sizeof(double)};
}

Result<MatX> columns_from(const std::string& bytes, Eigen::Index rows, Eigen::Index columns) {
  MatX matrix(rows, columns);
  if (bytes.size() != to_size(matrix.size()) * sizeof(double)) return input_error("the store holds something else");
  std::memcpy(matrix.data(), bytes.data(), bytes.size());
  if (!matrix.allFinite()) return input_error("the store holds something else");
  return matrix;
}

/// Frames at rest: the skin's displacements turned back with the flesh; empty where none was needed.
struct SolvedFrames {
  FrameGrid grid;
  double from = 0, to = 0;  ///< [s] what lies beyond is held
  std::vector<VecX> frames;

  /// Cubic in between (Catmull-Rom), the same bits whichever other frames were solved.
  VecX at(double time) const {
    const double place = grid.place(std::clamp(time, from, to));
    const auto k = std::min(static_cast<std::int64_t>(place), std::max<std::int64_t>(grid.last - 1, 0));
    const double t = place - static_cast<double>(k);
    const auto frame = [&](std::int64_t i) -> const VecX& { return frames[to_size(grid.at(i))]; };
    const VecX &a = frame(k - 1), &b = frame(k), &c = frame(k + 1), &d = frame(k + 2);
    return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
  }
};

class QuasistaticRun final : public ClipRun {
 public:
  QuasistaticRun(const SharedStillness& shared, const CharacterRig& rig, const Clip& clip, SolvedFrames solved,
                 ClipRunReport report)
      : shared_(shared),
        rig_(rig),
        clip_(clip),
        solved_(std::move(solved)),
        report_(std::move(report)),
        pose_(rig.neutral()),
        turns_(shared.model),
        rotations_(to_size(shared.model.vertex_count())) {}

  double start() const override { return solved_.from; }
  ClipRunReport report() const override { return report_; }
  void in_world(double time, std::span<Vec3> displacement) override {
    in_character(time, displacement);
    for (Vec3& u : displacement) u = pose_.placement.rotation * u;
  }
  void in_character(double time, std::span<Vec3> displacement) override {
    in_neutral_pose(time, displacement);
    rig_.sample(clip_, time, ClipWrap::hold, pose_);
    without_morphs(rig_.rig()->layout(), pose_.p);
    turns_.evaluate(pose_.p, rotations_);
    for (std::size_t v = 0; v < displacement.size(); ++v)
      displacement[v] = shared_.skin.rotation(v, rotations_) * displacement[v];
  }
  void in_neutral_pose(double time, std::span<Vec3> displacement) override {
    const VecX local = solved_.at(time);
    for (std::size_t v = 0; v < displacement.size(); ++v)
      displacement[v] = local.segment<3>(3 * static_cast<Eigen::Index>(v));
  }

 private:
  const SharedStillness& shared_;
  const CharacterRig& rig_;
  const Clip& clip_;
  SolvedFrames solved_;
  ClipRunReport report_;
  CharacterPose pose_;
  FleshTurns turns_;
  std::vector<Eigen::Vector4d> rotations_;
};

/// The range of a clip that a run covers [s].
struct CoveredTime {
  double from = 0, to = 0;
  CoveredTime(const Clip& clip, const SimulateSettings& settings, const FrameGrid& grid)
      : to(std::min(settings.to.value_or(clip.duration), clip.duration)) {
    from = std::min(std::max(settings.from, grid.first), to);
  }
};

class QuasistaticCharacter final : public SoftCharacter {
 public:
  QuasistaticCharacter(std::shared_ptr<const CharacterSource> source, QuasistaticModel model)
      : SoftCharacter(std::move(source)), asset_(std::move(model)), shared_{std::get<QuasistaticModel>(asset_)} {}

  const Asset& asset() const override { return asset_; }
  bool is_driven() const override { return false; }
  std::vector<std::string> warnings() const override { return shared_.model.warnings; }
  Result<std::unique_ptr<ClipRun>> simulate(const Clip& clip, const SimulateSettings& settings,
                                            Progress& progress) const override {
    const auto begin = Clock::now();
    if (settings.from < 0 || settings.from > std::min(settings.to.value_or(clip.duration), clip.duration))
      return input_error(fmt::format("the clip \"{}\" lasts {:g} s; there is nothing from {:g} s to {:g} s in it",
                                     clip.name, clip.duration, settings.from, settings.to.value_or(clip.duration)));
    SolvedFrames solved{FrameGrid(clip, settings, history()), 0, 0, {}};
    const CoveredTime covered(clip, settings, solved.grid);
    solved.from = covered.from, solved.to = covered.to;
    ClipRunReport report;
    report.loop = solved.grid.loop;
    ClipSolve solve(*this, clip, settings, solved.grid);
    SUPPLE_RETURN_IF_ERROR(solve.frames(solved, report, progress));
    report.seconds = seconds_since(begin);
    return std::unique_ptr<ClipRun>(std::make_unique<QuasistaticRun>(shared_, rig(), clip, std::move(solved), report));
  }
  Status solve_parts(const Clip& clip, const SimulateSettings& settings, std::span<const Index> parts,
                     Progress& progress) const override {
    const FrameGrid grid(clip, settings, history());
    ClipSolve solve(*this, clip, settings, grid);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      SUPPLE_RETURN_IF_ERROR(solve.keep_group(parts[k], progress));
      progress.update(static_cast<double>(k + 1) / static_cast<double>(parts.size()));
    }
    return {};
  }

 private:
  /// Solves groups of frames of one clip, each from its first frame on, or finds them in the store of the settings.
  class ClipSolve {
   public:
    ClipSolve(const QuasistaticCharacter& soft, const Clip& clip, const SimulateSettings& settings,
              const FrameGrid& grid)
        : soft_(soft),
          settings_(settings),
          grid_(grid),
          motion_(soft.rig(), clip, grid.loop, soft.shared_.model.extent) {
      if (settings.parts != &StageStore::none()) content_ = soft.content_of(clip, settings);
    }

    /// All frames that the range of `solved` needs.
    Status frames(SolvedFrames& solved, ClipRunReport& report, Progress& progress) {
      const std::vector<char> needed = grid_.needed(solved.from, solved.to);
      solved.frames.resize(needed.size());
      for (const Index group : grid_.groups(solved.from, solved.to)) {
        FrameRange range = frames_of_group(grid_, group);
        while (!content_ && needed[to_size(range.end - 1)] == 0) --range.end;
        Result<MatX> columns = content_ ? found_or_made(group, progress) : solve(range, progress);
        SUPPLE_RETURN_IF_ERROR(columns);
        for (std::int64_t k = range.begin; k < range.end; ++k) {
          if (needed[to_size(k)] == 0) continue;
          FrameColumn frame(columns->col(k - range.begin));
          solved.frames[to_size(k)] = frame.numbers.tail(frame.numbers.size() - told_of_frame);
          ++report.solved_frames;
          if (frame.converged() == 0) ++report.recovered;
          report.penetration = std::max(report.penetration, frame.deepest());
          report.residual = std::max(report.residual, frame.residual());
          report.contact_depth = std::max(report.contact_depth, frame.contact_depth());
        }
      }
      return {};
    }

    Status keep_group(Index group, Progress& progress) {
      if (!content_) return failure("frames of such a rig can't be kept, so that they can't be solved in parts");
      SUPPLE_RETURN_IF_ERROR(found_or_made(group, progress));
      if (settings_.parts->find(stage, content_of(group))) return {};
      return failure("the solved frames can't be kept: look whether the disk is full or the folder may not be written");
    }

   private:
    static constexpr std::string_view stage = "frames";

    ContentHash content_of(Index group) const { return ContentHash(*content_).add(group); }

    Result<MatX> found_or_made(Index group, Progress& progress) {
      const FrameRange range = frames_of_group(grid_, group);
      return find_or_make(
          *settings_.parts, stage, content_of(group), [&] { return solve(range, progress); }, bytes_of,
          [&](const std::string& bytes) { return columns_from(bytes, rows(), range.end - range.begin); });
    }

    Eigen::Index rows() const { return told_of_frame + 3 * Eigen::Index{soft_.vertex_count()}; }

    Result<MatX> solve(FrameRange range, Progress& progress) {
      if (!solver_) SUPPLE_RETURN_IF_ERROR(prepare());
      MatX columns(rows(), range.end - range.begin);
      VecX local(3 * Eigen::Index{soft_.vertex_count()});
      const std::int64_t rounds = rounds_before();
      for (std::int64_t k = 0; k < rounds * grid_.last; ++k) {
        if (progress.cancelled()) return failure("stopped");
        solver_->solve(motion_, grid_.time(k), starts_at(k, 0), settings_.gravity, local);
      }
      for (std::int64_t k = range.begin; k < range.end; ++k) {
        if (progress.cancelled()) return failure("stopped");
        const bool anew = starts_at(k, rounds > 0 ? -1 : range.begin);
        const QuasistaticReport report =
            solver_->solve(motion_, grid_.time(rounds * grid_.last + k), anew, settings_.gravity, local);
        FrameColumn frame(columns.col(k - range.begin));
        frame.converged() = report.converged ? 1 : 0;
        frame.deepest() = report.deepest;
        frame.residual() = report.residual;
        frame.contact_depth() = report.contact_depth;
        frame.numbers.tail(local.size()) = local;
        progress.update(static_cast<double>(k + 1) / static_cast<double>(grid_.last + 1));
      }
      return columns;
    }

    /// Where frames follow from those before, a loop begins as it ends.
    std::int64_t rounds_before() const {
      if (!soft_.history().in_turn || !grid_.loop || grid_.last == 0) return 0;
      const double round = grid_.time(grid_.last) - grid_.time(0);
      return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(run_up / round)));
    }
    /// Whether a frame has nothing before it, or the character was put elsewhere since.
    bool starts_at(std::int64_t k, std::int64_t first) const {
      if (k == first) return true;
      return soft_.history().inertia && k > 0 && motion_.is_cut(grid_.time(k - 1), grid_.time(k));
    }

    Status prepare() {
      const QuasistaticModel& model = soft_.shared_.model;
      Result<ExRotatedBody> body = ExRotatedBody::create(model.mesh, model.fixed);
      SUPPLE_RETURN_IF_ERROR(body);
      const FrameHistory history = soft_.history();
      std::optional<FleshSwing> swing;
      if (history.inertia) {
        const Recipe& recipe = soft_.source().recipe;
        const double damping = 4 * std::numbers::pi * wanted_frequency(recipe) * settings_.damping_ratio;
        swing.emplace(grid_.step, damping);
        body->set_inertia(swing->rate());
        body->pose(std::vector<Eigen::Vector4d>(to_size(body->vertex_count()), Eigen::Vector4d::UnitW()));
      }
      solver_.emplace(soft_.shared_, soft_.rig(), std::move(*body), soft_.colliders(), history.friction,
                      std::move(swing));
      return {};
    }

    const QuasistaticCharacter& soft_;
    const SimulateSettings& settings_;
    FrameGrid grid_;
    ClipMotion motion_;
    std::optional<ContentHash> content_;  ///< of all groups; none: nothing is kept
    std::optional<FrameSolver> solver_;
  };

  FrameHistory history() const { return FrameHistory(source().recipe); }

  std::vector<Collider> colliders() const {
    std::vector<Collider> colliders = source().colliders;
    for (Collider& collider : colliders) {  // the character was brought near the origin
      collider.at -= source().place;
      collider.to -= source().place;
    }
    return colliders;
  }

  /// Everything that frames of a clip are made from; none where the rig can't be told by its bytes.
  std::optional<ContentHash> content_of(const Clip& clip, const SimulateSettings& settings) const {
    const Result<std::string> model = encode_asset(asset_);
    if (!model.ok()) return {};
    ContentHash content;
    content.add(std::string_view(*model));
    if (!add_content(content, *rig().rig())) return {};
    add_content(content, character());
    add_content(content, clip);
    for (const Collider& collider : colliders()) add_content(content, collider);
    content.add(settings.time_step).add(settings.loop).add(told_of_frame);
    content.add(history().friction).add(history().inertia).add(settings.damping_ratio);
    content.add(wanted_frequency(source().recipe));
    for (const double component : settings.gravity) content.add(component);
    return content;
  }

  Asset asset_;
  SharedStillness shared_;
};

class QuasistaticEngine final : public CharacterEngine {
 public:
  bool solves_contacts() const override { return true; }
  std::string_view name() const override { return "quasistatic"; }
  std::string_view brief() const override { return "flesh at rest in every frame, for fine meshes: folds without lag"; }
  bool owns(const Asset& asset) const override { return std::holds_alternative<QuasistaticModel>(asset); }

  std::vector<Index> parts_of(const Recipe& recipe, const Clip& clip, const SimulateSettings& settings) const override {
    const FrameGrid grid(clip, settings, FrameHistory(recipe));
    const CoveredTime covered(clip, settings, grid);
    return grid.groups(covered.from, covered.to);
  }
  Result<std::unique_ptr<SoftCharacter>> take_asset(std::shared_ptr<const CharacterSource> source,
                                                    Asset asset) const override {
    auto* model = std::get_if<QuasistaticModel>(&asset);
    if (model == nullptr) return another_model(asset, name(), "a character's flesh at rest");
    SUPPLE_RETURN_IF_ERROR(
        check_asset_fits(*source, model->surface_vertex_count(), model->rest->layout(), model->made_for));
    return std::unique_ptr<SoftCharacter>(std::make_unique<QuasistaticCharacter>(std::move(source), std::move(*model)));
  }

 protected:
  Result<std::unique_ptr<SoftCharacter>> reduce(std::shared_ptr<const CharacterSource> source,
                                                const CharacterBody& body, Progress& progress,
                                                StageStore& /*store*/) const override {
    QuasistaticBuildSettings settings;
    settings.frequency.reset();
    if (tunes_stiffness(source->recipe) && !body.file_materials) settings.frequency = wanted_frequency(source->recipe);
    settings.base_young = body.base.young;
    settings.biharmonic = source->recipe.flesh.biharmonic;
    Result<QuasistaticModel> model = build_quasistatic(body.body, source->character, source->rig, settings, progress);
    SUPPLE_RETURN_IF_ERROR(model);
    model->name = std::filesystem::path(source->recipe.input).stem().string();
    model->warnings.insert(model->warnings.begin(), body.body.warnings.begin(), body.body.warnings.end());
    model->made_for = fingerprint_of(*source);
    return std::unique_ptr<SoftCharacter>(std::make_unique<QuasistaticCharacter>(std::move(source), std::move(*model)));
  }
};

}  // namespace

const CharacterEngine& quasistatic_engine() {
  static const QuasistaticEngine engine;
  return engine;
}

}  // namespace supple
