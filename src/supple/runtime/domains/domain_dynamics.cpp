// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/domains/domain_dynamics.h"

#include "supple/runtime/domains/interface_motion.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <utility>

namespace supple {
namespace {

Status check_domain_settings(const DomainSettings& s) {
  if (!(s.time_step > 0 && s.time_step <= 0.1)) return input_error("the time step must be positive and at most 0.1 s");
  if (!(s.newmark_beta > 0 && s.newmark_beta <= 0.5) || !(s.newmark_gamma >= 0.5 && s.newmark_gamma <= 1))
    return input_error("Newmark needs 0 < beta <= 0.5 and 0.5 <= gamma <= 1");
  if (!(s.fast_loss >= 0 && s.fast_loss <= 1.0 / 3)) return input_error("the loss of fast vibrations is 0 to 1/3");
  if (!(s.mass_damping >= 0) || !(s.stiffness_damping >= 0)) return input_error("damping must not be negative");
  if (s.iterations < 1 || s.most_forces < 0 || !s.gravity.allFinite())
    return input_error("domains need at least one iteration, finite gravity, and room for no fewer than no forces");
  return {};
}

/// The rotation by |w| about w.
Mat3 rotation_by(const Vec3& w) {
  const double angle = w.norm();
  return angle > 0 ? Eigen::AngleAxisd(angle, w / angle).toRotationMatrix() : Mat3::Identity();
}

using RowMajor3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
Mat3 rotation_of(const FrameMotion& f) { return Eigen::Map<const RowMajor3>(f.R); }
Vec3 position_of(const FrameMotion& f) { return {f.c[0], f.c[1], f.c[2]}; }
void copy(const Vec3& from, double* to) { Eigen::Map<Vec3>(to, 3) = from; }

}  // namespace

Result<DomainDynamics> DomainDynamics::create(std::shared_ptr<const PreparedTree> tree,
                                              const DomainSettings& settings) {
  SUPPLE_RETURN_IF_ERROR(check_domain_settings(settings));
  const auto weightless = [](const PreparedPart& part) { return !(part.mass > 0); };
  if (settings.inertia != SubtreeInertia::full && std::any_of(tree->parts.begin(), tree->parts.end(), weightless))
    return input_error(
        "joints and closed loops need the full inertia of what hangs on them; choose inertia = \"full\"");
  DomainDynamics out;
  out.tree_ = std::move(tree);
  out.settings_ = settings;
  const PreparedTree& t = *out.tree_;
  for (auto* values : {&out.q_, &out.v_, &out.a_, &out.q_new_, &out.v_new_, &out.a_new_, &out.q_at_, &out.v_at_,
                       &out.shown_, &out.load_})
    values->assign(t.coordinates, 0.0);
  out.frames_.resize(t.part.size());
  out.moving_.assign(t.moving_lanes, Pack4(0.0));
  out.sums_.assign(t.sums, 0.0);
  out.load_wrench_.assign(6 * t.part.size(), 0.0);
  out.forces_.reserve(to_size(settings.most_forces));
  out.scratch_size_ = scratch_size(t);
  out.scratch_.assign(t.most_chunks * out.scratch_size_, Pack4(0.0));
  out.shared_sums_.assign(t.most_chunks * to_size(PreparedTree::sum_count(t.largest)), 0.0);
  out.sound_.assign(t.chunks.size(), 1);
  out.power_.assign(t.chunks.size(), 0.0);
  if (!t.closures.empty()) out.loops_.emplace(t);
  for (const DomainBatch& batch : t.batches) out.elastic_.push_back(t.lanes[batch.constants + PreparedTree::elastic]);
  out.reset();
  return out;
}

void DomainDynamics::reset() {
  for (auto* values : {&q_, &v_, &a_, &q_new_, &v_new_, &a_new_}) std::fill(values->begin(), values->end(), 0.0);
  if (loops_) std::fill(loops_->parting.begin(), loops_->parting.end(), 0.0);
  root_ = RootMotion{};
  root_.rotation = tree_->root_rotation;
  root_.position = tree_->root_position;
  root_next_ = root_;
  root_given_ = root_moves_ = false;
  time_ = 0;
  target_ = {};
  if (!tree_->anchored || limits_energy()) initialize();
  update_frames();
}

void DomainDynamics::set_gravity(const Vec3& gravity) {
  // Energy is counted with the new gravity from here on.
  if (limits_energy()) {
    const DomainMeasures now = sum_domains(false);
    energy_ -= now.mass * (gravity - settings_.gravity).dot(now.centre);
  }
  settings_.gravity = gravity;
}

void DomainDynamics::set_root(const RootMotion& motion) {
  if (tree_->anchored) {
    root_next_ = motion;
    root_given_ = true;
    return;
  }
  root_ = motion;
  initialize();
}

void DomainDynamics::place_root(const RootMotion& motion) {
  root_ = root_next_ = motion;
  root_given_ = false;
  root_moves_ = true;
  initialize();
}

void DomainDynamics::add_force(Index domain, Index vertex, const Vec3& force) {
  if (to_size(domain) >= tree_->part.size() || !force.allFinite() || forces_.size() == forces_.capacity()) return;
  if (to_size(vertex) >= tree_->part_of(to_size(domain)).surface_rest.size()) return;
  forces_.push_back({domain, vertex, force});
}

void DomainDynamics::set_frequency(Index domain, double factor) {
  if (!(factor > 0) || !std::isfinite(factor)) return;
  for (std::size_t b = 0; b < elastic_.size(); ++b) {
    const DomainBatch& batch = tree_->batches[b];
    const Pack4 built = tree_->lanes[batch.constants + PreparedTree::elastic];
    for (int lane = 0; lane < 4; ++lane)
      if (batch.domain[to_size(lane)] == domain) elastic_[b].set(lane, factor * factor * built[lane]);
  }
}

DomainMeasures DomainDynamics::measure() {
  std::copy(q_.begin(), q_.end(), shown_.begin());
  return sum_domains(true);
}

DomainDynamics::Scheme DomainDynamics::newmark() const {
  const double h = settings_.time_step, loss = settings_.fast_loss;
  Scheme s;
  s.h = h;
  s.share = 1 - loss;
  s.beta_h2 = settings_.newmark_beta * (1 + loss) * (1 + loss) * h * h;
  s.gamma_h = (settings_.newmark_gamma + loss) * h;
  s.mass = 1 + s.share * settings_.mass_damping * s.gamma_h;
  s.stiffness = s.share * (s.beta_h2 + settings_.stiffness_damping * s.gamma_h);
  return s;
}

/// A root that is moved, after some of the step.
RootMotion DomainDynamics::root_during(double share) const {
  RootMotion at = root_next_;
  if (!root_given_) {
    for (Vec3* rate : {&at.velocity, &at.angular_velocity, &at.acceleration, &at.angular_acceleration}) rate->setZero();
    return at;
  }
  if (share == 1) return at;
  const Eigen::AngleAxisd turn(Mat3(root_next_.rotation * root_.rotation.transpose()));
  at.rotation = rotation_by(share * turn.angle() * turn.axis()) * root_.rotation;
  for (Vec3 RootMotion::*part : {&RootMotion::position, &RootMotion::velocity, &RootMotion::angular_velocity,
                                 &RootMotion::acceleration, &RootMotion::angular_acceleration})
    at.*part = share * root_next_.*part + (1 - share) * root_.*part;
  if (!root_moves_) at.acceleration = root_next_.acceleration;  // motion that begins does so at once
  if (!root_moves_) at.angular_acceleration = root_next_.angular_acceleration;
  return at;
}

/// Where frames and inertia are taken: at first where the coordinates would be then without changes of acceleration.
void DomainDynamics::extrapolate(const Scheme& scheme, int iteration) {
  const double h = scheme.share * scheme.h;
  at_ = iteration == 0 ? Sampling{q_.data(), v_.data(), a_.data(), h}
                       : Sampling{q_at_.data(), v_at_.data(), a_new_.data(), 0};
  if (iteration > 0) {
    for (std::size_t k = 0; k < q_.size(); ++k) {
      q_at_[k] = q_[k] + scheme.share * (q_new_[k] - q_[k]);
      v_at_[k] = v_[k] + scheme.share * (v_new_[k] - v_[k]);
    }
  }
  if (tree_->anchored) {
    root_at_ = root_during(scheme.share);
    return;
  }
  if (iteration > 0) {
    const double share = scheme.share;
    root_at_ = root_new_;
    if (share == 1) return;
    const Vec3 mean = (root_.angular_velocity + root_new_.angular_velocity) / 2;
    root_at_.rotation = rotation_by(share * scheme.h * mean) * root_.rotation;
    for (Vec3 RootMotion::*part : {&RootMotion::position, &RootMotion::velocity, &RootMotion::angular_velocity})
      root_at_.*part = share * root_new_.*part + (1 - share) * root_.*part;
    return;
  }
  root_at_ = root_;
  root_at_.position += h * root_.velocity + h * h / 2 * root_.acceleration;
  root_at_.rotation = rotation_by(h * root_.angular_velocity) * root_.rotation;
  root_at_.velocity += h * root_.acceleration;
  root_at_.angular_velocity += h * root_.angular_acceleration;
}

void DomainDynamics::place_root_frame() {
  FrameMotion& f = frames_[0];
  Eigen::Map<RowMajor3>(f.R, 3, 3) = root_at_.rotation;
  copy(root_at_.position, f.c);
  copy(root_at_.rotation.transpose() * root_at_.velocity, f.v);
  copy(root_at_.rotation.transpose() * root_at_.angular_velocity, f.w);
}

/// Point forces, as loads on coordinates and frames.
void DomainDynamics::spread_forces() {
  if (forces_.empty()) return;
  std::fill(load_.begin(), load_.end(), 0.0);
  std::fill(load_wrench_.begin(), load_wrench_.end(), 0.0);
  for (const PointForce& push : forces_) {
    const auto d = to_size(push.domain);
    const PreparedPart& part = tree_->part_of(d);
    const double s = tree_->domain_scale[d];
    const Vec3 f = rotation_of(frames_[d]).transpose() * push.force;
    const double* row = part.surface_rows.data() + 3 * to_size(push.vertex) * to_size(part.r);
    double* load = load_.data() + tree_->offset_of[d];
    const double *q = at_.q + tree_->offset_of[d], *v = at_.v + tree_->offset_of[d];
    Vec3 p = part.surface_rest[to_size(push.vertex)];
    for (Eigen::Index i = 0; i < 3; ++i, row += part.r) {
      for (int l = 0; l < part.r; ++l) {
        load[l] += s * row[l] * f[i];
        p[i] += row[l] * (q[l] + at_.ahead * v[l]);
      }
    }
    const Vec3 torque = s * p.cross(f);
    for (Eigen::Index i = 0; i < 3; ++i) {
      load_wrench_[6 * d + to_size(i)] += f[i];
      load_wrench_[6 * d + 3 + to_size(i)] += torque[i];
    }
  }
}

/// A held root is accelerated as it is moved, a free one by what acts on it. Gravity is an acceleration of all frames.
void DomainDynamics::accelerate_root() {
  FrameMotion& f = frames_[0];
  const Mat3& R = root_at_.rotation;
  if (tree_->anchored) {
    copy(R.transpose() * (root_at_.acceleration - settings_.gravity), f.A);
    copy(R.transpose() * root_at_.angular_acceleration, f.A + 3);
    return;
  }
  double y[6];
  for (int i = 0; i < 6; ++i) y[i] = -root_wrench_[i];
  solve_root_inertia(y);
  std::copy(y, y + 6, f.A);
  root_at_.acceleration = R * Vec3(y[0], y[1], y[2]) + settings_.gravity;
  root_at_.angular_acceleration = R * Vec3(y[3], y[4], y[5]);
}

/// y ← I⁻¹ y with the inertia of a free root and of all that hangs on it.
void DomainDynamics::solve_root_inertia(double (&y)[6]) const {
  Eigen::Matrix<double, 6, 6> I;
  int k = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) I(i, j) = I(j, i) = root_inertia_[k++];
  for (int i = 0; i < 3; ++i)
    for (int j = 3; j < 6; ++j) I(i, j) = I(j, i) = root_inertia_[k++];
  for (int i = 3; i < 6; ++i)
    for (int j = i; j < 6; ++j) I(i, j) = I(j, i) = root_inertia_[k++];
  // Six unknowns, without pivoting: the matrix is positive definite.
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < i; ++j) {
      I(i, j) /= I(j, j);
      for (int c = j + 1; c < 6; ++c) I(i, c) -= I(i, j) * I(j, c);
      y[i] -= I(i, j) * y[j];
    }
  }
  for (int i = 5; i >= 0; --i) {
    for (int j = i + 1; j < 6; ++j) y[i] -= I(i, j) * y[j];
    y[i] /= I(i, i);
  }
}

/// The root at the end of the step, of its new accelerations.
void DomainDynamics::finish_root(const Scheme& scheme) {
  const double h = scheme.h, early_q = h * h / 2 - scheme.beta_h2, early_v = h - scheme.gamma_h;
  root_new_ = root_at_;
  if (tree_->anchored) {
    root_new_ = root_during(1);
    return;
  }
  root_new_.position =
      root_.position + h * root_.velocity + early_q * root_.acceleration + scheme.beta_h2 * root_at_.acceleration;
  root_new_.velocity = root_.velocity + early_v * root_.acceleration + scheme.gamma_h * root_at_.acceleration;
  root_new_.angular_velocity =
      root_.angular_velocity + early_v * root_.angular_acceleration + scheme.gamma_h * root_at_.angular_acceleration;
  root_new_.rotation = rotation_by(h / 2 * (root_.angular_velocity + root_new_.angular_velocity)) * root_.rotation;
}

/// Momentum changes by external forces alone: they say where the centre of a free body is, how fast it is and how the
/// body turns.
void DomainDynamics::keep_momentum(double h) {
  const Vec3 before = target_.linear;
  const DomainMeasures now = sum_domains(false);
  const Vec3 force = root_.rotation * Vec3(root_load_[0], root_load_[1], root_load_[2]);
  const Vec3 torque = root_.rotation * Vec3(root_load_[3], root_load_[4], root_load_[5]);  // about the root's origin
  target_.linear += h * (now.mass * settings_.gravity + force);
  target_.angular += h * (torque - (now.centre - root_.position).cross(force));
  target_.centre += h / 2 * (before + target_.linear) / now.mass;
  meet_momentum(now);
}

void DomainDynamics::meet_momentum(const DomainMeasures& now) {
  const Vec3 spin = now.inertia.inverse() * (target_.angular - now.angular_momentum);
  root_.angular_velocity += spin;
  root_.position += target_.centre - now.centre;
  // Turning by `spin` about the root moves the centre; the rest is the root's own velocity.
  root_.velocity += (target_.linear - now.momentum) / now.mass - spin.cross(target_.centre - root_.position);
}

/// But for a constant. Gravity acts on the centre.
double DomainDynamics::energy_of(const DomainMeasures& sums) const {
  return sums.kinetic_energy + sums.elastic_energy - sums.mass * settings_.gravity.dot(sums.centre);
}

/// Scales what moves within the whole, so that energy is at most what it was at first and what external forces
/// and damping have done since.
void DomainDynamics::keep_energy(double h, bool moved) {
  const DomainMeasures now = sum_domains(true);
  const double energy = energy_of(now);
  if (moved) {  // whoever moves the root does work, too
    energy_ = energy;
    return;
  }
  for (const double power : power_) energy_ += h * power;
  double inner = now.kinetic_energy;
  if (!tree_->anchored)
    inner -= now.momentum.squaredNorm() / (2 * now.mass) +
             0.5 * now.angular_momentum.dot(now.inertia.inverse() * now.angular_momentum);
  const double excess = energy - energy_;
  if (!(excess > 0)) return;
  const double factor = inner > excess ? std::sqrt(1 - excess / inner) : 0.0;
  for (double& v : v_) v *= factor;
  if (tree_->anchored) return;
  root_.velocity *= factor;
  root_.angular_velocity *= factor;
  meet_momentum(sum_domains(false));
}

void DomainDynamics::initialize() {
  at_ = {q_.data(), v_.data(), a_.data(), 0};
  root_at_ = root_;
  solve(Scheme{});
  std::copy(a_new_.begin(), a_new_.end(), a_.begin());
  if (loops_) std::copy(loops_->parting_new.begin(), loops_->parting_new.end(), loops_->parting.begin());
  if (limits_energy()) energy_ = energy_of(measure());
  if (tree_->anchored) return;
  root_.acceleration = root_at_.acceleration;
  root_.angular_acceleration = root_at_.angular_acceleration;
  const DomainMeasures now = measure();
  target_ = {now.centre, now.momentum, now.angular_momentum};
}

bool DomainDynamics::all_finite() const {
  return std::find(sound_.begin(), sound_.end(), 0) == sound_.end() && root_new_.position.allFinite() &&
         root_new_.rotation.allFinite() && root_new_.angular_velocity.allFinite();
}

DomainReport DomainDynamics::step() {
  const Scheme scheme = newmark();
  for (int iteration = 0; iteration < settings_.iterations; ++iteration) {
    extrapolate(scheme, iteration);
    solve(scheme);
    finish_root(scheme);
  }
  const bool moved = root_moves_ = std::exchange(root_given_, false);
  if (!all_finite()) return {.recovered = true};
  std::swap(q_, q_new_);
  std::swap(v_, v_new_);
  std::swap(a_, a_new_);
  if (loops_) std::swap(loops_->parting, loops_->parting_new);
  root_ = root_new_;
  time_ += scheme.h;
  if (!tree_->anchored) keep_momentum(scheme.h);
  if (limits_energy()) keep_energy(scheme.h, moved);
  return {};
}

// ---- what is shown --------------------------------------------------------------------------------------------------

void DomainDynamics::show(std::span<const double> q, const RootMotion& root) {
  std::copy(q.begin(), q.end(), shown_.begin());
  at_ = {shown_.data(), shown_.data(), shown_.data(), 0};
  root_at_ = root;
  move_frames(false);
}

void DomainDynamics::frame(Index domain, Mat3& rotation, Vec3& position) const {
  rotation = rotation_of(frames_[to_size(domain)]);
  position = position_of(frames_[to_size(domain)]);
}

namespace {

/// Where a vertex of the surface of a domain's part is in the world.
Vec3 vertex_position(const PreparedTree& tree, const FrameMotion& f, std::size_t domain, Index vertex,
                     const double* q) {
  const PreparedPart& part = tree.part_of(domain);
  Vec3 p = part.surface_rest[to_size(vertex)];
  const double* row = part.surface_rows.data() + 3 * to_size(vertex) * to_size(part.r);
  for (Eigen::Index i = 0; i < 3; ++i, row += part.r)
    for (int l = 0; l < part.r; ++l) p[i] += row[l] * q[l];
  return position_of(f) + tree.domain_scale[domain] * (Eigen::Map<const RowMajor3>(f.R) * p);
}

}  // namespace

void DomainDynamics::surface_positions(std::span<double> xyz) const {
  const DomainSurface& shown = tree_->surface;
  for (std::size_t v = 0; v < to_size(shown.vertex_count()) && 3 * v + 3 <= xyz.size(); ++v) {
    Vec3 sum = Vec3::Zero();
    for (auto k = to_size(shown.first[v]); k < to_size(shown.first[v + 1]); ++k) {
      const auto d = to_size(shown.domain[k]);
      sum += shown.weight_of(v, k) *
             vertex_position(*tree_, frames_[d], d, shown.vertex[k], shown_.data() + tree_->offset_of[d]);
    }
    copy(sum, xyz.data() + 3 * v);
  }
}

double DomainDynamics::largest_gap() const {
  const DomainSurface& shown = tree_->surface;
  double largest = 0;
  const auto at = [&](Index domain, Index vertex) {
    const auto d = to_size(domain);
    return vertex_position(*tree_, frames_[d], d, vertex, shown_.data() + tree_->offset_of[d]);
  };
  for (const auto& seam : shown.seams)
    largest = std::max(largest, (at(seam[0], seam[1]) - at(seam[2], seam[3])).norm());
  if (!shown.weight.empty()) return largest;
  for (std::size_t v = 0; v < to_size(shown.vertex_count()); ++v) {
    const auto place = [&](std::size_t k) { return at(shown.domain[k], shown.vertex[k]); };
    const auto first = to_size(shown.first[v]);
    for (std::size_t k = first + 1; k < to_size(shown.first[v + 1]); ++k)
      largest = std::max(largest, (place(k) - place(first)).norm());
  }
  return largest;
}

double DomainDynamics::interface_strain(Index domain) const {
  for (const DomainBatch& batch : tree_->batches) {
    if (batch.parent[0] < 0) continue;
    for (int lane = 0; lane < batch.lanes; ++lane) {
      if (batch.domain[to_size(lane)] != domain) continue;
      const float* c = tree_->coefficients.data() + batch.coefficients + lane;
      const double* q = shown_.data() + tree_->offset_of[to_size(batch.parent[to_size(lane)])];
      domains::Matrix3<double> A = domains::Matrix3<double>::identity();
      for (int l = 0; l < tree_->groups[to_size(batch.group)].parent_r; ++l, c += 48)
        for (int k = 0; k < 9; ++k) A.m[k] += static_cast<double>(c[12 + 4 * k]) * q[l];
      const domains::Matrix3<double> Q = domains::polar_rotation(A);
      double sum = 0;
      for (int k = 0; k < 9; ++k) sum += (A.m[k] - Q.m[k]) * (A.m[k] - Q.m[k]);
      return std::sqrt(sum / 3);
    }
  }
  return 0;
}

}  // namespace supple
