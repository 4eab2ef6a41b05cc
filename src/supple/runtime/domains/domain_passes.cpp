// SPDX-License-Identifier: Apache-2.0
// The three passes of a step over batches of four domains: frames, inertia, accelerations.
#include "supple/runtime/domains/domain_dynamics.h"
#include "supple/runtime/domains/interface_motion.h"
#include "supple/runtime/domains/lane_solvers.h"

#include <cmath>
#include <utility>

namespace supple {

using domains::BodyTerms;
using domains::collect;
using domains::cross;
using domains::InterfaceTurn;
using domains::LaneInertia;
using domains::LaneMatrix;
using domains::LanePointers;
using domains::LaneVector;
using domains::matrix_at;
using domains::put;
using domains::scatter;
using domains::transposed_times;
using domains::vector_at;
using domains::widened;

namespace {

/// `count` numbers of the frames of four domains, from one of their fields on.
template <std::size_t size>
void collect_frames(const std::vector<FrameMotion>& frames, const std::array<Index, 4>& domains,
                    const double (FrameMotion::*field)[size], int count, Pack4* to) {
  const double* const from[4] = {frames[to_size(domains[0])].*field, frames[to_size(domains[1])].*field,
                                 frames[to_size(domains[2])].*field, frames[to_size(domains[3])].*field};
  collect(from, count, to);
}

}  // namespace

/// Calls body(chunk, scratch) for the chunks of a group, the last ones first where `backward`: what a pass has left in
/// the caches the next one finds there.
template <class Body>
void DomainDynamics::each_chunk(const DomainGroup& group, bool backward, const Body& body) {
  const std::size_t count = group.end_chunk - group.first_chunk;
  struct Job {
    const Body& body;
    std::size_t first, count;
    bool backward;
    Pack4* scratch;
    std::size_t scratch_size;
    void run(std::size_t i, std::size_t desk) const {
      body(first + (backward ? count - 1 - i : i), scratch + desk * scratch_size);
    }
  };
  Job job{body, group.first_chunk, count, backward, scratch_.data(), scratch_size_};
  if (loop_ == nullptr || count < 2) {
    for (std::size_t i = 0; i < count; ++i) job.run(i, 0);
    return;
  }
  const JobBody run = [](void* context, std::int64_t i) {
    static_cast<const Job*>(context)->run(to_size(i), to_size(i));
  };
  loop_(loop_user_, static_cast<std::int64_t>(count), run, &job);
}

// ---- root to leaves: frames and velocities --------------------------------------------------------------------------

void DomainDynamics::sample(const std::array<Index, 4>& domains, int r, Pack4* q, Pack4* q_dot) const {
  collect(LanePointers(at_.q, tree_->offset_of, domains).at, r, q);
  collect(LanePointers(at_.v, tree_->offset_of, domains).at, r, q_dot);
  if (at_.ahead == 0) return;
  const LanePointers a(at_.a, tree_->offset_of, domains);
  const Pack4 h(at_.ahead);
  for (int l = 0; l < r; ++l) {
    q[l] += h * q_dot[l];
    q_dot[l] += h * Pack4(Pack4::Vector{a.at[0][l], a.at[1][l], a.at[2][l], a.at[3][l]});
  }
}

void DomainDynamics::move_batch(const DomainBatch& batch, bool with_rates, Pack4* scratch, LaneFrame& out) {
  const PreparedTree& tree = *tree_;
  const Pack4* constants = tree.lanes.data() + batch.constants;
  const float* coefficient = tree.coefficients.data() + batch.coefficients;
  Pack4* moving = moving_.data() + batch.moving;
  const int r = tree.group_of(batch).parent_r;
  Pack4 *q = scratch, *q_dot = scratch + r;
  sample(batch.parent, r, q, q_dot);
  Pack4 value[12], rate[12];
  for (int k = 0; k < 12; ++k) value[k] = rate[k] = Pack4(0.0);
  for (int l = 0; l < r; ++l, coefficient += 48) {
    for (int k = 0; k < 12; ++k) {
      const Pack4 c = widened(coefficient + 4 * k);
      value[k] += c * q[l];
      rate[k] += c * q_dot[l];
    }
  }
  const Pack4 s = constants[PreparedTree::parent_scale];
  const LaneVector x = s * (vector_at(constants + PreparedTree::centre) + vector_at(value));
  LaneMatrix A = matrix_at(value + 3);
  for (int i = 0; i < 3; ++i) A(i, i) += Pack4(1.0);
  const InterfaceTurn<Pack4> interface(A);
  const LaneMatrix turn = interface.Q * matrix_at(constants + PreparedTree::rest_turn);

  Pack4 above[18];
  collect_frames(frames_, batch.parent, &FrameMotion::R, with_rates ? 18 : 12, above);
  const LaneMatrix R = matrix_at(above);
  out.R = R * turn;
  out.c = vector_at(above + 9) + R * x;
  if (!with_rates) return;

  const LaneVector x_dot = s * vector_at(rate);
  const LaneVector turning = interface.velocity(matrix_at(rate + 3));
  const LaneVector v = vector_at(above + 12), omega = vector_at(above + 15);
  out.v = transposed_times(turn, v + cross(omega, x) + x_dot);
  out.w = transposed_times(turn, omega + turning);
  const Pack4 two(2.0);
  put(x, moving + PreparedTree::offset);
  put(turn, moving + PreparedTree::turn);
  put(cross(omega, cross(omega, x) + two * x_dot), moving + PreparedTree::bias);
  put(interface.bias(matrix_at(rate + 3), turning) + cross(omega, turning), moving + PreparedTree::bias + 3);
  put(interface.Q * interface.inverse, moving + PreparedTree::turning);
}

void DomainDynamics::store_frame(const DomainBatch& batch, const LaneFrame& frame, bool with_rates) {
  Pack4 packed[18];
  put(frame.R, packed);
  put(frame.c, packed + 9);
  if (with_rates) {
    put(frame.v, packed + 12);
    put(frame.w, packed + 15);
  }
  double* const to[4] = {frames_[to_size(batch.domain[0])].R, frames_[to_size(batch.domain[1])].R,
                         frames_[to_size(batch.domain[2])].R, frames_[to_size(batch.domain[3])].R};
  scatter(packed, with_rates ? 18 : 12, batch.lanes, to);
}

DomainDynamics::LaneFrame DomainDynamics::stored_frame(const DomainBatch& batch) const {
  Pack4 packed[18];
  collect_frames(frames_, batch.domain, &FrameMotion::R, 18, packed);
  return {matrix_at(packed), vector_at(packed + 9), vector_at(packed + 12), vector_at(packed + 15)};
}

void DomainDynamics::move_frames(bool with_rates, bool with_leaves) {
  place_root_frame();
  for (const DomainGroup& group : tree_->groups) {
    if (group.level == 0 || (!with_leaves && !group.has_children)) continue;
    each_chunk(group, false, [&](std::size_t chunk, Pack4* scratch) {
      for (std::size_t b = tree_->chunks[chunk].first_batch; b < tree_->chunks[chunk].end_batch; ++b) {
        LaneFrame frame;
        move_batch(tree_->batches[b], with_rates, scratch, frame);
        store_frame(tree_->batches[b], frame, with_rates);
      }
    });
  }
}

// ---- leaves to root: inertia and forces -----------------------------------------------------------------------------

/// What a step knows of four domains while it looks at them: coordinates and rates where frames and inertia are taken,
/// at which coordinates elastic forces are linearised, how far from there the step ends without new accelerations, and
/// so for the rates. `S`, `coupling` and `rhs` become the system of the coordinates.
struct DomainDynamics::LaneScratch {
  Pack4 *q, *q_dot, *at, *change, *rate, *bias, *rhs, *coupling, *S, *mixed, *products, *rest;

  LaneScratch(Pack4* next, int r, int padded) {
    for (Pack4** part : {&q, &q_dot, &at, &change, &rate, &bias, &rhs}) *part = std::exchange(next, next + r);
    coupling = std::exchange(next, next + 6 * r);
    for (Pack4** part : {&S, &mixed, &products}) *part = std::exchange(next, next + padded);
    rest = next;
  }
};

std::size_t DomainDynamics::scratch_size(const PreparedTree& tree) {
  // A batch's own, two rows of its parents' coordinates, their Jacobian, and what is added to them.
  return to_size(21 * tree.largest + 3 * tree.largest_pairs + PreparedTree::sum_count(tree.largest));
}

void DomainDynamics::predict(const DomainBatch& batch, const Scheme& scheme, int r, const LaneScratch& s) const {
  const PreparedTree& tree = *tree_;
  const double h = scheme.h, early_q = h * h / 2 - scheme.beta_h2, early_v = h - scheme.gamma_h;
  Pack4 *q0 = s.at, *v0 = s.rate, *a0 = s.bias;  // for now
  collect(LanePointers(q_.data(), tree.offset_of, batch.domain).at, r, q0);
  collect(LanePointers(v_.data(), tree.offset_of, batch.domain).at, r, v0);
  collect(LanePointers(a_.data(), tree.offset_of, batch.domain).at, r, a0);
  const bool first = at_.q == q_.data();
  if (!first) sample(batch.domain, r, s.q, s.q_dot);
  const Pack4 ahead(at_.ahead), damped(settings_.stiffness_damping), share(scheme.share);
  for (int l = 0; l < r; ++l) {
    const Pack4 q = q0[l], v = v0[l], a = a0[l];
    if (first) {
      s.q[l] = q + ahead * v;
      s.q_dot[l] = v + ahead * a;
    } else {
      s.at[l] = s.q[l];
    }
    s.rate[l] = v + share * Pack4(early_v) * a;
    s.change[l] = (q - s.at[l]) + share * (Pack4(h) * v + Pack4(early_q) * a) + damped * s.rate[l];
  }
}

void DomainDynamics::add_wind(const LaneFrame& frame, const Scheme& scheme, const PreparedPart& part,
                              const Pack4* constants, const LaneScratch& s, Pack4 (&wrench)[6]) const {
  if (!wind_.blows() || !(part.area > 0)) return;
  const Pack4 scale = constants[PreparedTree::scale], per_area = scale * Pack4(1 / part.area);
  const double* field = part.area_first.data();
  LaneVector arm = {Pack4(field[0]), Pack4(field[1]), Pack4(field[2])}, rate = LaneVector::zero();
  for (int l = 0; l < part.r; ++l) {
    const LaneVector F = {Pack4(field[3 * l + 3]), Pack4(field[3 * l + 4]), Pack4(field[3 * l + 5])};
    arm += s.q[l] * F;
    rate += s.q_dot[l] * F;
  }
  arm = per_area * arm;
  const LaneVector place = frame.c + frame.R * arm;
  Pack4 air[3];
  wind_now_.at(place.x, place.y, place.z, air);
  const LaneVector against =
      transposed_times(frame.R, vector_at(air)) - frame.v - cross(frame.w, arm) - per_area * rate;
  const Pack4 speed = sqrt(dot(against, against));
  LaneMatrix facing;
  for (int k = 0; k < 9; ++k) facing.m[k] = Pack4(wind_.drag * part.facing[to_size(k)]);
  for (int i = 0; i < 3; ++i) facing(i, i) += Pack4(wind_.skin_drag * part.area);
  // Light parts take on the wind's speed within a step; damped as an implicit step would, they don't overshoot it.
  const Pack4 pressure = Pack4(0.5 * wind_.air_density) * speed * scale * scale;
  const Pack4 light =
      Pack4(scheme.h * wind_.drag * part.area) * pressure / (constants[PreparedTree::scale3] * Pack4(part.mass));
  const LaneVector F = (pressure / (Pack4(1.0) + light)) * (facing * against);
  for (int l = 0; l < part.r; ++l) {
    const LaneVector phi = {Pack4(field[3 * l + 3]), Pack4(field[3 * l + 4]), Pack4(field[3 * l + 5])};
    s.rhs[l] += per_area * dot(phi, F);
  }
  const LaneVector torque = cross(arm, F);
  Pack4 sum[6];
  put(F, sum);
  put(torque, sum + 3);
  for (int k = 0; k < 6; ++k) wrench[k] += sum[k];
}

/// External forces on coordinates and frames.
void DomainDynamics::take_load(const DomainBatch& batch, int r, Pack4* rhs, Pack4 (&load)[6]) const {
  for (Pack4& entry : load) entry = Pack4(0.0);
  for (int l = 0; l < r; ++l) rhs[l] = Pack4(0.0);
  if (forces_.empty()) return;
  collect(LanePointers(load_.data(), tree_->offset_of, batch.domain).at, r, rhs);
  const double* from[4];
  for (std::size_t lane = 0; lane < 4; ++lane) from[lane] = load_wrench_.data() + 6 * to_size(batch.domain[lane]);
  collect(from, 6, load);
}

/// Elastic and damping forces at the end of the step, linearised at q^k:
///   R + K (q_pred − q^k) + α M v_pred + β K v_pred, and what q̈ adds to them is in S.
/// Returns what damping takes away each second, if anybody asks.
Pack4 DomainDynamics::add_stiffness(const PreparedPart& part, const Scheme& scheme, Pack4 elastic, Pack4 scale5,
                                    const LaneScratch& s) const {
  const int r = part.r;
  Pack4* force = s.products;
  if (part.cubature.empty()) {
    part.polynomial.evaluate(s.at, s.S, s.mixed, s.products);
    domains::multiply_pairs(s.mixed, r, s.at, force);  // products are free again
  } else {
    part.cubature.evaluate(s.at, s.S, force);
  }
  for (int l = 0; l < r; ++l) s.rhs[l] -= elastic * force[l] + s.bias[l];
  domains::multiply_pairs(s.S, r, s.change, force);
  for (int l = 0; l < r; ++l) s.rhs[l] -= elastic * force[l];
  Pack4 lost(0.0);
  if (limits_energy()) {
    domains::multiply_pairs(s.S, r, s.q_dot, force);
    for (int l = 0; l < r; ++l) lost += Pack4(settings_.stiffness_damping) * elastic * force[l] * s.q_dot[l];
    for (int b = 0, p = 0; b < r; ++b)
      for (int a = 0; a <= b; ++a, ++p)
        lost += Pack4((a == b ? 1 : 2) * settings_.mass_damping * part.reduced_mass[to_size(p)]) * scale5 * s.q_dot[a] *
                s.q_dot[b];
  }
  const double* mass = part.reduced_mass.data();
  const Pack4 mass_factor = Pack4(scheme.mass) * scale5, stiffness_factor = Pack4(scheme.stiffness) * elastic;
  const Pack4 drag = Pack4(settings_.mass_damping) * scale5;
  for (int b = 0, p = 0; b < r; ++b) {
    for (int a = 0; a <= b; ++a, ++p) {
      const Pack4 m(mass[p]);
      s.S[p] = mass_factor * m + stiffness_factor * s.S[p];
      s.rhs[b] -= drag * m * s.rate[a];
      if (a != b) s.rhs[a] -= drag * m * s.rate[b];
    }
  }
  return lost;
}

void DomainDynamics::add_children(const DomainBatch& batch, int r, const LaneScratch& s, Pack4 (&inertia)[21],
                                  Pack4 (&wrench)[6], Pack4 (&load)[6]) const {
  Pack4* sums = s.rest;
  collect(LanePointers(sums_.data(), tree_->sum_of, batch.domain).at, PreparedTree::sum_count(r), sums);
  for (int p = 0; p < r * (r + 1) / 2; ++p) s.S[p] += *sums++;
  for (int k = 0; k < 6 * r; ++k) s.coupling[k] += *sums++;
  for (int l = 0; l < r; ++l) s.rhs[l] -= *sums++;
  for (Pack4& entry : inertia) entry += *sums++;
  for (Pack4& entry : wrench) entry += *sums++;
  for (Pack4& entry : load) entry += *sums++;
}

/// The paper's cheaper inertia of a subtree: its mass in one point.
void DomainDynamics::lump_subtree(const Pack4* constants, const LaneVector& omega, const Pack4 (&load)[6],
                                  Pack4 (&inertia)[21], Pack4 (&wrench)[6]) const {
  LaneInertia point;
  LaneVector force, torque;
  const bool centre = settings_.inertia == SubtreeInertia::centre;
  domains::lump(constants[PreparedTree::subtree_mass],
                centre ? vector_at(constants + PreparedTree::subtree_centre) : LaneVector::zero(), omega, point, force,
                torque);
  domains::pack_inertia(point, inertia);
  put(force, wrench);
  put(torque, wrench + 3);
  // Mass at the interface feels forces, not torques (Eq. 16).
  for (int k = 0; k < (centre ? 6 : 3); ++k) wrench[k] -= load[k];
}

/// Returns the power of external forces, less that of damping.
double DomainDynamics::gather_batch(std::size_t index, const Scheme& scheme, const LaneFrame& frame, Pack4* scratch,
                                    const SharedSum& shared) {
  const PreparedTree& tree = *tree_;
  const DomainBatch& batch = tree.batches[index];
  const PreparedPart& part = tree.parts[to_size(tree.group_of(batch).part)];
  const Pack4* constants = tree.lanes.data() + batch.constants;
  const int r = part.r;
  const LaneScratch s(scratch, r, part.polynomial.padded_pairs());
  predict(batch, scheme, r, s);
  const BodyTerms body = domains::body_terms(part, constants, s.q, s.q_dot, frame.w, s.coupling, s.bias);
  Pack4 load[6], inertia[21], wrench[6];
  take_load(batch, r, s.rhs, load);
  add_wind(frame, scheme, part, constants, s, load);
  Pack4 power = dot(vector_at(load), frame.v) + dot(vector_at(load + 3), frame.w);
  for (int l = 0; l < r; ++l) power += s.rhs[l] * s.q_dot[l];
  const Pack4 s5 = constants[PreparedTree::scale5];
  power -= add_stiffness(part, scheme, elastic_[index], s5, s);
  domains::pack_inertia(body.inertia, inertia);
  put(body.force, wrench);
  put(body.torque, wrench + 3);
  for (int k = 0; k < 6; ++k) wrench[k] -= load[k];
  if (tree.group_of(batch).has_children) add_children(batch, r, s, inertia, wrench, load);

  domains::factorize_pairs(s.S, r, part.reduced_mass.data(), s5);
  if (batch.on_path) keep_factors(batch, r, s.S);
  domains::solve_lower<6>(s.S, r, s.coupling);
  domains::solve_lower<1>(s.S, r, s.rhs);
  const bool root = batch.parent[0] < 0;
  if (root || settings_.inertia == SubtreeInertia::full)
    domains::eliminate(s.coupling, s.rhs, r, inertia, wrench);
  else
    lump_subtree(constants, frame.w, load, inertia, wrench);
  domains::solve_upper<6>(s.S, r, s.coupling);
  domains::solve_upper<1>(s.S, r, s.rhs);
  Pack4* answer = moving_.data() + batch.moving + PreparedTree::answer;
  std::copy(s.coupling, s.coupling + 6 * r, answer);
  std::copy(s.rhs, s.rhs + r, answer + 6 * r);
  double sum = 0;
  for (int lane = 0; lane < batch.lanes; ++lane) sum += power[lane];
  if (!root) {
    pass_to_parents(batch, inertia, wrench, load, scratch, shared);
    return sum;
  }
  for (int k = 0; k < 21; ++k) root_inertia_[k] = inertia[k][0];
  for (int k = 0; k < 6; ++k) root_wrench_[k] = wrench[k][0];
  for (int k = 0; k < 6; ++k) root_load_[k] = load[k][0];
  return sum;
}

/// J by coordinates of the parents: velocity of the origin and angular velocity, six numbers each.
void DomainDynamics::fill_jacobian(const DomainBatch& batch, Pack4* J) const {
  const PreparedTree& tree = *tree_;
  const Pack4* constants = tree.lanes.data() + batch.constants;
  const Pack4* moving = moving_.data() + batch.moving;
  const float* coefficient = tree.coefficients.data() + batch.coefficients;
  const LaneMatrix turning = matrix_at(moving + PreparedTree::turning);
  const LaneMatrix Q =
      matrix_at(moving + PreparedTree::turn) * matrix_at(constants + PreparedTree::rest_turn).transposed();
  LaneVector Z[9];
  domains::turn_jacobian(Q, turning, Z);
  const Pack4 s = constants[PreparedTree::parent_scale];
  for (int l = 0; l < tree.group_of(batch).parent_r; ++l, coefficient += 48, J += 6) {
    LaneVector w = LaneVector::zero();
    for (int k = 0; k < 9; ++k) w += widened(coefficient + 12 + 4 * k) * Z[k];
    for (int i = 0; i < 3; ++i) J[i] = s * widened(coefficient + 4 * i);
    put(w, J + 3);
  }
}

void DomainDynamics::pass_to_parents(const DomainBatch& batch, const Pack4 (&inertia)[21], const Pack4 (&wrench)[6],
                                     const Pack4 (&load)[6], Pack4* scratch, const SharedSum& shared) {
  const PreparedTree& tree = *tree_;
  const Pack4* moving = moving_.data() + batch.moving;
  const int r = tree.group_of(batch).parent_r, pairs = r * (r + 1) / 2;
  const LaneVector x = vector_at(moving + PreparedTree::offset);
  const LaneMatrix R = matrix_at(moving + PreparedTree::turn);
  const LaneInertia I = domains::turned(domains::unpack_inertia(inertia), R);
  const LaneVector b = vector_at(moving + PreparedTree::bias), beta = vector_at(moving + PreparedTree::bias + 3);
  const LaneVector force = R * vector_at(wrench) + I.force * b + I.mixed * beta;
  const LaneVector torque = R * vector_at(wrench + 3) + transposed_times(I.mixed, b) + I.torque * beta;

  Pack4* out = scratch;
  Pack4* Y = out + pairs;
  Pack4* on_coordinates = Y + 6 * r;
  Pack4* rest = on_coordinates + r;
  Pack4* J = rest + 33;
  fill_jacobian(batch, J);
  for (int l = 0; l < r; ++l) {
    const LaneVector jv = vector_at(J + 6 * l), jw = vector_at(J + 6 * l + 3);
    put(I.force * jv + I.mixed * jw, Y + 6 * l);
    put(transposed_times(I.mixed, jv) + I.torque * jw, Y + 6 * l + 3);
    on_coordinates[l] = dot(jv, force) + dot(jw, torque);
  }
  Pack4* pair = out;
  for (int l = 0; l < r; ++l) {
    const Pack4* y = Y + 6 * l;
    const Pack4 y0 = y[0], y1 = y[1], y2 = y[2], y3 = y[3], y4 = y[4], y5 = y[5];
    const Pack4* j = J;
    for (int a = 0; a <= l; ++a, j += 6)
      *pair++ = (j[0] * y0 + j[1] * y1 + j[2] * y2) + (j[3] * y3 + j[4] * y4 + j[5] * y5);
  }
  for (int l = 0; l < r; ++l) {
    const LaneVector f = vector_at(Y + 6 * l);
    put(vector_at(Y + 6 * l + 3) + cross(x, f), Y + 6 * l + 3);
  }
  Pack4 moved[21];
  domains::pack_inertia(domains::shifted(I, x), moved);
  for (int k = 0; k < 21; ++k) rest[k] = moved[k];
  put(force, rest + 21);
  put(torque + cross(x, force), rest + 24);
  const LaneVector pushed = R * vector_at(load), twisted = R * vector_at(load + 3);
  put(pushed, rest + 27);
  put(twisted + cross(x, pushed), rest + 30);
  double* to[4];
  for (std::size_t lane = 0; lane < 4; ++lane) {
    const Index parent = batch.parent[lane];
    to[lane] = parent == shared.parent ? shared.to : sums_.data() + tree.sum_of[to_size(parent)];
  }
  domains::scatter_sum(out, PreparedTree::sum_count(r), batch.lanes, to);
}

/// One group: what is at the end of a branch is moved here, while its lanes are near; most domains are there, and
/// memory is what many of them wait for.
void DomainDynamics::gather_group(const DomainGroup& group, const Scheme& scheme, bool with_leaves) {
  const bool move = group.level > 0 && !group.has_children && !with_leaves;
  const auto count = to_size(PreparedTree::sum_count(group.parent_r));
  const auto shared_of = [&](std::size_t chunk) {
    return SharedSum{tree_->chunks[chunk].shared_parent, shared_sums_.data() + (chunk - group.first_chunk) * count};
  };
  each_chunk(group, true, [&](std::size_t chunk, Pack4* scratch) {
    const SharedSum shared = shared_of(chunk);
    if (shared.parent >= 0) std::fill(shared.to, shared.to + count, 0.0);
    power_[chunk] = 0;
    for (std::size_t b = tree_->chunks[chunk].first_batch; b < tree_->chunks[chunk].end_batch; ++b) {
      LaneFrame frame;
      if (move)
        move_batch(tree_->batches[b], true, scratch, frame);
      else
        frame = stored_frame(tree_->batches[b]);
      power_[chunk] += gather_batch(b, scheme, frame, scratch, shared);
    }
  });
  for (std::size_t chunk = group.first_chunk; chunk < group.end_chunk; ++chunk) {
    const SharedSum shared = shared_of(chunk);
    if (shared.parent < 0) continue;
    double* to = sums_.data() + tree_->sum_of[to_size(shared.parent)];
    for (std::size_t k = 0; k < count; ++k) to[k] += shared.to[k];
  }
}

// ---- root to leaves: accelerations ----------------------------------------------------------------------------------

/// How the frames of a batch are accelerated: A = X A_parent + J q̈_parent + b, in their own axes.
void DomainDynamics::accelerate_frames(const DomainBatch& batch, Pack4* scratch, Pack4 (&A)[6]) {
  const PreparedTree& tree = *tree_;
  const Pack4* constants = tree.lanes.data() + batch.constants;
  const Pack4* moving = moving_.data() + batch.moving;
  const float* coefficient = tree.coefficients.data() + batch.coefficients;
  const int r = tree.group_of(batch).parent_r;
  collect_frames(frames_, batch.parent, &FrameMotion::A, 6, A);
  collect(LanePointers(a_new_.data(), tree.offset_of, batch.parent).at, r, scratch);
  Pack4 rate[12];
  for (Pack4& entry : rate) entry = Pack4(0.0);
  for (int l = 0; l < r; ++l, coefficient += 48)
    for (int k = 0; k < 12; ++k) rate[k] += widened(coefficient + 4 * k) * scratch[l];
  const LaneMatrix turn = matrix_at(moving + PreparedTree::turn);
  const LaneMatrix Q = turn * matrix_at(constants + PreparedTree::rest_turn).transposed();
  const LaneVector x = vector_at(moving + PreparedTree::offset);
  const LaneVector spin = matrix_at(moving + PreparedTree::turning) * twist_of(Q.transposed() * matrix_at(rate + 3));
  const LaneVector a = vector_at(A) + cross(vector_at(A + 3), x) + vector_at(moving + PreparedTree::bias) +
                       constants[PreparedTree::parent_scale] * vector_at(rate);
  const LaneVector alpha = vector_at(A + 3) + vector_at(moving + PreparedTree::bias + 3) + spin;
  put(transposed_times(turn, a), A);
  put(transposed_times(turn, alpha), A + 3);
  if (!tree.group_of(batch).has_children) return;  // nobody asks
  double* const to[4] = {frames_[to_size(batch.domain[0])].A, frames_[to_size(batch.domain[1])].A,
                         frames_[to_size(batch.domain[2])].A, frames_[to_size(batch.domain[3])].A};
  scatter(A, 6, batch.lanes, to);
}

/// The accelerations of a batch, and its state at the end of the step. False where that isn't finite.
bool DomainDynamics::finish_batch(const DomainBatch& batch, const Scheme& scheme, Pack4* scratch) {
  const PreparedTree& tree = *tree_;
  const int r = tree.group_of(batch).r;
  Pack4 A[6];
  if (batch.parent[0] < 0)
    collect_frames(frames_, batch.domain, &FrameMotion::A, 6, A);
  else
    accelerate_frames(batch, scratch, A);
  const double h = scheme.h, early_q = h * h / 2 - scheme.beta_h2, early_v = h - scheme.gamma_h;
  const Pack4* G = moving_.data() + batch.moving + PreparedTree::answer;
  const Pack4* g = G + 6 * r;
  Pack4 *q = scratch, *v = q + r, *a = v + r, *a_new = a + r;
  collect(LanePointers(q_.data(), tree.offset_of, batch.domain).at, r, q);
  collect(LanePointers(v_.data(), tree.offset_of, batch.domain).at, r, v);
  collect(LanePointers(a_.data(), tree.offset_of, batch.domain).at, r, a);
  Pack4 differences(0.0);  // of numbers from themselves: zero where they are finite
  for (int l = 0; l < r; ++l, G += 6) {
    Pack4 value = g[l];
    for (int k = 0; k < 6; ++k) value -= G[k] * A[k];
    a_new[l] = value;
    q[l] = q[l] + Pack4(h) * v[l] + Pack4(early_q) * a[l] + Pack4(scheme.beta_h2) * value;
    v[l] = v[l] + Pack4(early_v) * a[l] + Pack4(scheme.gamma_h) * value;
    differences += (value - value) + (q[l] - q[l]) + (v[l] - v[l]);
  }
  const auto write = [&](std::vector<double>& values, const Pack4* from) {
    double* to[4];
    for (std::size_t lane = 0; lane < 4; ++lane) to[lane] = values.data() + tree.offset_of[to_size(batch.domain[lane])];
    scatter(from, r, batch.lanes, to);
  };
  write(a_new_, a_new);
  write(q_new_, q);
  write(v_new_, v);
  return all_lanes(differences <= Pack4(0.0), differences);
}

void DomainDynamics::finish_group(const DomainGroup& group, const Scheme& scheme) {
  each_chunk(group, false, [&](std::size_t chunk, Pack4* scratch) {
    bool sound = true;
    for (std::size_t b = tree_->chunks[chunk].first_batch; b < tree_->chunks[chunk].end_batch; ++b)
      sound &= finish_batch(tree_->batches[b], scheme, scratch);
    sound_[chunk] = sound ? 1 : 0;
  });
}

/// The accelerations a_new_ of all coordinates at `at_`, and the state at the end of the step.
void DomainDynamics::solve(const Scheme& scheme) {
  const bool with_leaves = !forces_.empty() || loops_;
  wind_now_ = wind_.blows() ? WindMoment(wind_, time_ + scheme.share * scheme.h) : WindMoment();
  move_frames(true, with_leaves);
  spread_forces();
  std::fill(sums_.begin(), sums_.end(), 0.0);
  for (std::size_t g = tree_->groups.size(); g-- > 0;) gather_group(tree_->groups[g], scheme, with_leaves);
  accelerate_root();
  close_loops(scheme);
  for (const DomainGroup& group : tree_->groups) finish_group(group, scheme);
}

}  // namespace supple
