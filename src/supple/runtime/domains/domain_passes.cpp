// SPDX-License-Identifier: Apache-2.0
// The three passes of a step over batches of four domains: frames, inertia, accelerations.
#include "supple/runtime/domains/body_terms.h"
#include "supple/runtime/domains/domain_dynamics.h"
#include "supple/runtime/domains/interface_motion.h"

#include <Eigen/Geometry>

#include <cmath>
#include <utility>

namespace supple {
namespace {

using domains::BodyTerms;
using domains::cross;
using domains::InterfaceTurn;
using domains::LaneInertia;
using domains::LaneMatrix;
using domains::LaneVector;
using domains::transposed_times;

/// One number of each of four domains.
Pack4 collect(const double* a, const double* b, const double* c, const double* d) {
  return Pack4(Pack4::Vector{*a, *b, *c, *d});
}

/// `count` numbers of each of four domains.
void collect(const double* const (&from)[4], int count, Pack4* to) {
  for (int k = 0; k < count; ++k) to[k] = collect(from[0] + k, from[1] + k, from[2] + k, from[3] + k);
}

/// Where the numbers of the four domains of a batch begin.
struct LanePointers {
  const double* at[4];
  LanePointers(const double* base, const std::vector<std::size_t>& offsets, const std::array<Index, 4>& domains) {
    for (std::size_t lane = 0; lane < 4; ++lane) at[lane] = base + offsets[to_size(domains[lane])];
  }
};

template <std::size_t count>
void collect_frames(const std::vector<FrameMotion>& frames, const std::array<Index, 4>& domains,
                    const double (FrameMotion::*field)[count], Pack4* to) {
  const double* const from[4] = {frames[to_size(domains[0])].*field, frames[to_size(domains[1])].*field,
                                 frames[to_size(domains[2])].*field, frames[to_size(domains[3])].*field};
  collect(from, static_cast<int>(count), to);
}

template <std::size_t count>
void scatter_frames(std::vector<FrameMotion>& frames, const DomainBatch& batch, double (FrameMotion::*field)[count],
                    const Pack4* from) {
  for (int lane = 0; lane < batch.lanes; ++lane) {
    double* to = frames[to_size(batch.domain[to_size(lane)])].*field;
    for (std::size_t k = 0; k < count; ++k) to[k] = from[k][lane];
  }
}

LaneVector vector_at(const Pack4* p) { return {p[0], p[1], p[2]}; }
LaneMatrix matrix_at(const Pack4* p) { return {{p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]}}; }
void put(const LaneVector& v, Pack4* p) {
  p[0] = v.x;
  p[1] = v.y;
  p[2] = v.z;
}
void put(const LaneMatrix& m, Pack4* p) {
  for (int k = 0; k < 9; ++k) p[k] = m.m[k];
}

/// y = A x for a symmetric matrix by pairs.
void multiply_pairs(const Pack4* pairs, int r, const Pack4* x, Pack4* y) {
  for (int b = 0; b < r; ++b) {
    Pack4 sum(0.0);
    for (int a = 0; a < b; ++a) {
      sum += pairs[a] * x[a];
      y[a] += pairs[a] * x[b];
    }
    y[b] = sum + pairs[b] * x[b];
    pairs += b + 1;
  }
}

/// L Lᵀ = A by pairs (row b holds A(b, 0 … b)), in place, with inverse pivots. A pivot that is not positive, as when a
/// part is crushed, is kept at a small part of the mass.
void factorize_pairs(Pack4* A, int r, const double* mass, Pack4 mass_scale) {
  for (int b = 0; b < r; ++b) {
    Pack4* row = A + b * (b + 1) / 2;
    for (int a = 0; a <= b; ++a) {
      const Pack4* above = A + a * (a + 1) / 2;
      Pack4 sum = row[a];
      for (int k = 0; k < a; ++k) sum -= row[k] * above[k];
      if (a < b) {
        row[a] = sum * above[a];
      } else {
        const Pack4 least = mass_scale * Pack4(1e-3 * mass[b * (b + 1) / 2 + b]);
        row[b] = Pack4(1.0) / sqrt(select(sum > least, sum, least));
      }
    }
  }
}

/// x ← L⁻¹ x for `columns` right-hand sides side by side.
template <int columns>
void solve_lower(const Pack4* L, int r, Pack4* x) {
  for (int b = 0; b < r; ++b) {
    const Pack4* row = L + b * (b + 1) / 2;
    for (int c = 0; c < columns; ++c) {
      Pack4 sum = x[b * columns + c];
      for (int k = 0; k < b; ++k) sum -= row[k] * x[k * columns + c];
      x[b * columns + c] = sum * row[b];
    }
  }
}

/// x ← L⁻ᵀ x
void solve_upper(const Pack4* L, int r, Pack4* x) {
  for (int b = r - 1; b >= 0; --b) {
    const Pack4* row = L + b * (b + 1) / 2;
    x[b] *= row[b];
    for (int k = 0; k < b; ++k) x[k] -= row[k] * x[b];
  }
}

/// 21 numbers of a symmetric 6×6 matrix: block of force, mixed block, block of torque.
void pack_inertia(const LaneInertia& I, Pack4 (&out)[21]) {
  int k = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) out[k++] = I.force(i, j);
  for (int i = 0; i < 9; ++i) out[k++] = I.mixed.m[i];
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) out[k++] = I.torque(i, j);
}

LaneInertia unpack_inertia(const Pack4 (&in)[21]) {
  LaneInertia I;
  int k = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) I.force(j, i) = I.force(i, j) = in[k++];
  for (int i = 0; i < 9; ++i) I.mixed.m[i] = in[k++];
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) I.torque(j, i) = I.torque(i, j) = in[k++];
  return I;
}

/// The same inertia in the axes of the parent: R B Rᵀ of each block.
LaneInertia turned(const LaneInertia& I, const LaneMatrix& R) {
  const LaneMatrix Rt = R.transposed();
  return {R * I.force * Rt, R * I.mixed * Rt, R * I.torque * Rt};
}

/// Xᵀ I X for the shift of the origin by −x: a ↦ a + α × x.
LaneInertia shifted(const LaneInertia& I, const LaneVector& x) {
  const LaneMatrix cross_x = LaneMatrix::cross_with(x);  // α × x = −x̃ α
  const LaneMatrix mixed = I.mixed - I.force * cross_x;
  const LaneMatrix torque = I.torque + cross_x * I.mixed - (I.mixed.transposed() + cross_x * I.force) * cross_x;
  return {I.force, mixed, torque};
}

/// A subtree's mass in one point at `r` of its frame, which turns with `omega`.
void lump(Pack4 mass, const LaneVector& r, const LaneVector& omega, LaneInertia& I, LaneVector& force,
          LaneVector& torque) {
  const Pack4 zero(0.0);
  I.force = {{mass, zero, zero, zero, mass, zero, zero, zero, mass}};
  I.mixed = (zero - mass) * LaneMatrix::cross_with(r);
  I.torque = (zero - mass) * (LaneMatrix::cross_with(r) * LaneMatrix::cross_with(r));
  force = mass * cross(omega, cross(omega, r));
  torque = cross(r, force);
}

}  // namespace

// ---- root to leaves: frames and velocities --------------------------------------------------------------------------

void DomainDynamics::move_batch(const DomainBatch& batch, bool with_rates) {
  const PreparedTree& tree = *tree_;
  const DomainGroup& group = tree.groups[to_size(batch.group)];
  const Pack4* constants = tree.lanes.data() + batch.constants;
  Pack4* moving = moving_.data() + batch.moving;
  const int r = group.parent_r;
  const LanePointers q(q_at_.data(), tree.offset_of, batch.parent), v(v_at_.data(), tree.offset_of, batch.parent);
  const Pack4* coefficient = constants + PreparedTree::coefficients;
  Pack4 value[12], rate[12];
  for (int k = 0; k < 12; ++k) value[k] = rate[k] = Pack4(0.0);
  for (int l = 0; l < r; ++l, coefficient += 12) {
    const Pack4 ql = collect(q.at[0] + l, q.at[1] + l, q.at[2] + l, q.at[3] + l);
    const Pack4 vl = collect(v.at[0] + l, v.at[1] + l, v.at[2] + l, v.at[3] + l);
    for (int k = 0; k < 12; ++k) {
      value[k] += coefficient[k] * ql;
      rate[k] += coefficient[k] * vl;
    }
  }
  const Pack4 s = constants[PreparedTree::parent_scale];
  const LaneVector x = s * (vector_at(constants + PreparedTree::centre) + vector_at(value));
  LaneMatrix A = matrix_at(value + 3);
  for (int i = 0; i < 3; ++i) A(i, i) += Pack4(1.0);
  const InterfaceTurn<Pack4> interface(A);
  const LaneMatrix turn = interface.Q * matrix_at(constants + PreparedTree::rest_turn);
  put(x, moving + PreparedTree::offset);
  put(turn, moving + PreparedTree::turn);

  Pack4 above[9], place[9];
  collect_frames(frames_, batch.parent, &FrameMotion::R, above);
  const LaneMatrix R = matrix_at(above);
  put(R * turn, place);
  scatter_frames(frames_, batch, &FrameMotion::R, place);
  collect_frames(frames_, batch.parent, &FrameMotion::c, above);
  put(vector_at(above) + R * x, place);
  scatter_frames(frames_, batch, &FrameMotion::c, place);
  if (!with_rates) return;

  const LaneVector x_dot = s * vector_at(rate);
  const LaneVector turning = interface.velocity(matrix_at(rate + 3));
  collect_frames(frames_, batch.parent, &FrameMotion::w, above);
  const LaneVector omega = vector_at(above);
  collect_frames(frames_, batch.parent, &FrameMotion::v, above);
  put(transposed_times(turn, vector_at(above) + cross(omega, x) + x_dot), place);
  scatter_frames(frames_, batch, &FrameMotion::v, place);
  put(transposed_times(turn, omega + turning), place);
  scatter_frames(frames_, batch, &FrameMotion::w, place);
  const Pack4 two(2.0);
  put(cross(omega, cross(omega, x) + two * x_dot), moving + PreparedTree::bias);
  put(interface.bias(matrix_at(rate + 3), turning) + cross(omega, turning), moving + PreparedTree::bias + 3);

  LaneVector Z[9];
  interface.jacobian(Z);
  coefficient = constants + PreparedTree::coefficients;
  Pack4* J = moving + PreparedTree::jacobian;
  for (int l = 0; l < r; ++l, coefficient += 12, J += 6) {
    LaneVector w = LaneVector::zero();
    for (int k = 0; k < 9; ++k) w += coefficient[3 + k] * Z[k];
    put(s * vector_at(coefficient), J);
    put(w, J + 3);
  }
}

// ---- leaves to root: inertia and forces -----------------------------------------------------------------------------

void DomainDynamics::add_wind(const DomainBatch& batch, const Scheme& scheme, const PreparedPart& part,
                              const Pack4* constants, const LaneScratch& s, Pack4 (&wrench)[6]) {
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
  Pack4 there[9];
  collect_frames(frames_, batch.domain, &FrameMotion::R, there);
  const LaneMatrix R = matrix_at(there);
  collect_frames(frames_, batch.domain, &FrameMotion::c, there);
  const LaneVector place = vector_at(there) + R * arm;
  LaneVector wind;
  for (int lane = 0; lane < 4; ++lane) {
    const Vec3 w = wind_.at({place.x[lane], place.y[lane], place.z[lane]}, time_ + scheme.h);
    wind.x.set(lane, w.x());
    wind.y.set(lane, w.y());
    wind.z.set(lane, w.z());
  }
  collect_frames(frames_, batch.domain, &FrameMotion::v, there);
  const LaneVector v = vector_at(there);
  collect_frames(frames_, batch.domain, &FrameMotion::w, there);
  const LaneVector against = transposed_times(R, wind) - v - cross(vector_at(there), arm) - per_area * rate;
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
    s.rate[l] += per_area * dot(phi, F);
  }
  const LaneVector torque = cross(arm, F);
  Pack4 sum[6];
  put(F, sum);
  put(torque, sum + 3);
  for (int k = 0; k < 6; ++k) wrench[k] += sum[k];
}

void DomainDynamics::gather_inertia(const DomainBatch& batch, const Scheme& scheme) {
  const PreparedTree& tree = *tree_;
  const DomainGroup& group = tree.groups[to_size(batch.group)];
  const PreparedPart& part = tree.parts[to_size(group.part)];
  const Pack4* constants = tree.lanes.data() + batch.constants;
  Pack4* moving = moving_.data() + batch.moving;
  const int r = group.r, padded = part.polynomial.padded_pairs();
  Pack4* S = moving + PreparedTree::jacobian + 6 * group.parent_r;
  Pack4* coupling = S + padded;
  Pack4* rhs = coupling + 6 * r;
  Pack4* next = scratch_.data();
  const auto take = [&](int count) { return std::exchange(next, next + count); };
  const LaneScratch s = {take(r), take(r), take(r), take(r), rhs, take(padded), take(padded), take(r)};
  collect(LanePointers(q_at_.data(), tree.offset_of, batch.domain).at, r, s.q);
  collect(LanePointers(v_at_.data(), tree.offset_of, batch.domain).at, r, s.q_dot);
  Pack4 omega[3];
  collect_frames(frames_, batch.domain, &FrameMotion::w, omega);
  const BodyTerms body = domains::body_terms(part, constants, s.q, s.q_dot, vector_at(omega), coupling, s.bias);

  // rhs: external forces, then the wind's.
  collect(LanePointers(load_.data(), tree.offset_of, batch.domain).at, r, rhs);
  Pack4 load[6];
  for (int k = 0; k < 6; ++k) {
    const double* w = load_wrench_.data();
    const auto at = [&](std::size_t lane) { return w + 6 * batch.domain[lane] + k; };
    load[k] = collect(at(0), at(1), at(2), at(3));
  }
  add_wind(batch, scheme, part, constants, s, load);

  // Elastic and damping forces at the end of the step, linearised at q^k:
  //   R + K (q_pred − q^k) + α M v_pred + β K v_pred, and what q̈ adds to them is in S.
  const Pack4 elastic = constants[PreparedTree::elastic], s5 = constants[PreparedTree::scale5];
  collect(LanePointers(q_new_.data(), tree.offset_of, batch.domain).at, r, s.at);
  part.polynomial.evaluate(s.at, S, s.mixed, s.products);
  Pack4* force = s.products;  // free again
  multiply_pairs(s.mixed, r, s.at, force);
  for (int l = 0; l < r; ++l) rhs[l] -= elastic * force[l] + s.bias[l];
  const LanePointers q0(q_.data(), tree.offset_of, batch.domain), v0(v_.data(), tree.offset_of, batch.domain),
      a0(a_.data(), tree.offset_of, batch.domain);
  const double h = scheme.h, early_q = h * h / 2 - scheme.beta_h2, early_v = h - scheme.gamma_h;
  const Pack4 stiffness_damping(settings_.stiffness_damping);
  for (int l = 0; l < r; ++l) {
    const auto of = [l](const LanePointers& p) { return collect(p.at[0] + l, p.at[1] + l, p.at[2] + l, p.at[3] + l); };
    const Pack4 q = of(q0), v = of(v0), a = of(a0);
    const Pack4 v_pred = v + Pack4(early_v) * a;
    s.bias[l] = v_pred;
    s.change[l] = q + Pack4(h) * v + Pack4(early_q) * a - s.at[l] + stiffness_damping * v_pred;
  }
  multiply_pairs(S, r, s.change, force);
  for (int l = 0; l < r; ++l) rhs[l] -= elastic * force[l];
  const double* mass = part.reduced_mass.data();
  const Pack4 mass_factor = Pack4(scheme.mass) * s5, stiffness_factor = Pack4(scheme.stiffness) * elastic;
  const Pack4 drag = Pack4(settings_.mass_damping) * s5;
  for (int b = 0, p = 0; b < r; ++b) {
    for (int a = 0; a <= b; ++a, ++p) {
      const Pack4 m(mass[p]);
      S[p] = mass_factor * m + stiffness_factor * S[p];
      rhs[b] -= drag * m * s.bias[a];
      if (a != b) rhs[a] -= drag * m * s.bias[b];
    }
  }

  Pack4 inertia[21], wrench[6];
  pack_inertia(body.inertia, inertia);
  put(body.force, wrench);
  put(body.torque, wrench + 3);
  for (int k = 0; k < 6; ++k) wrench[k] -= load[k];
  if (group.has_children) {
    const LanePointers sums(sums_.data(), tree.sum_of, batch.domain);
    int at = 0;
    const auto add = [&](Pack4& to, double sign) {
      to += Pack4(sign) * collect(sums.at[0] + at, sums.at[1] + at, sums.at[2] + at, sums.at[3] + at);
      ++at;
    };
    for (int p = 0; p < r * (r + 1) / 2; ++p) add(S[p], 1);
    for (int k = 0; k < 6 * r; ++k) add(coupling[k], 1);
    for (int l = 0; l < r; ++l) add(rhs[l], -1);
    for (Pack4& entry : inertia) add(entry, 1);
    for (Pack4& entry : wrench) add(entry, 1);
    for (Pack4& entry : load) add(entry, 1);
  }

  factorize_pairs(S, r, mass, s5);
  solve_lower<6>(S, r, coupling);
  solve_lower<1>(S, r, rhs);
  const bool root = batch.parent[0] < 0;
  if (root || settings_.inertia == SubtreeInertia::full) {
    // I ← I − YᵀY and p ← p + Yᵀy with Y = L⁻¹ M_qf, y = L⁻¹ rhs
    static constexpr int first[21] = {0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5};
    static constexpr int second[21] = {0, 1, 2, 1, 2, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5, 3, 4, 5, 4, 5, 5};
    for (int l = 0; l < r; ++l) {
      const Pack4* Y = coupling + 6 * l;
      for (int k = 0; k < 21; ++k) inertia[k] -= Y[first[k]] * Y[second[k]];
      for (int k = 0; k < 6; ++k) wrench[k] += Y[k] * rhs[l];
    }
  } else {
    LaneInertia point;
    LaneVector force_bias, torque_bias;
    const bool centre = settings_.inertia == SubtreeInertia::centre;
    lump(constants[PreparedTree::subtree_mass],
         centre ? vector_at(constants + PreparedTree::subtree_centre) : LaneVector::zero(), vector_at(omega), point,
         force_bias, torque_bias);
    pack_inertia(point, inertia);
    put(force_bias, wrench);
    put(torque_bias, wrench + 3);
    // Mass at the interface feels forces, not torques (Eq. 16).
    for (int k = 0; k < (centre ? 6 : 3); ++k) wrench[k] -= load[k];
  }
  if (root) {
    for (int k = 0; k < 21; ++k) root_inertia_[k] = inertia[k][0];
    for (int k = 0; k < 6; ++k) root_wrench_[k] = wrench[k][0];
    for (int k = 0; k < 6; ++k) root_load_[k] = load[k][0];
    return;
  }
  pass_to_parents(batch, moving, inertia, wrench, load);
}

void DomainDynamics::pass_to_parents(const DomainBatch& batch, Pack4* moving, const Pack4 (&inertia)[21],
                                     const Pack4 (&wrench)[6], const Pack4 (&load)[6]) {
  const PreparedTree& tree = *tree_;
  const int r = tree.groups[to_size(batch.group)].parent_r, pairs = r * (r + 1) / 2;
  const LaneVector x = vector_at(moving + PreparedTree::offset);
  const LaneMatrix R = matrix_at(moving + PreparedTree::turn);
  const LaneInertia I = turned(unpack_inertia(inertia), R);
  const LaneVector b = vector_at(moving + PreparedTree::bias), beta = vector_at(moving + PreparedTree::bias + 3);
  const LaneVector force = R * vector_at(wrench) + I.force * b + I.mixed * beta;
  const LaneVector torque = R * vector_at(wrench + 3) + transposed_times(I.mixed, b) + I.torque * beta;

  Pack4* out = child_scratch_.data();
  Pack4* Y = out + pairs;
  Pack4* on_coordinates = Y + 6 * r;
  const Pack4* J = moving + PreparedTree::jacobian;
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
  Pack4* rest = on_coordinates + r;
  Pack4 moved[21];
  pack_inertia(shifted(I, x), moved);
  for (int k = 0; k < 21; ++k) rest[k] = moved[k];
  put(force, rest + 21);
  put(torque + cross(x, force), rest + 24);
  const LaneVector pushed = R * vector_at(load), twisted = R * vector_at(load + 3);
  put(pushed, rest + 27);
  put(twisted + cross(x, pushed), rest + 30);
  const int count = pairs + 7 * r + 33;
  for (int lane = 0; lane < batch.lanes; ++lane) {
    double* sum = sums_.data() + tree.sum_of[to_size(batch.parent[to_size(lane)])];
    for (int k = 0; k < count; ++k) sum[k] += out[k][lane];
  }
}

// ---- root to leaves: accelerations ----------------------------------------------------------------------------------

void DomainDynamics::accelerate_batch(const DomainBatch& batch) {
  const PreparedTree& tree = *tree_;
  const DomainGroup& group = tree.groups[to_size(batch.group)];
  Pack4* moving = moving_.data() + batch.moving;
  Pack4 A[6];
  if (batch.parent[0] < 0) {
    collect_frames(frames_, batch.domain, &FrameMotion::A, A);
  } else {
    collect_frames(frames_, batch.parent, &FrameMotion::A, A);
    const LaneVector x = vector_at(moving + PreparedTree::offset);
    LaneVector a = vector_at(A) + cross(vector_at(A + 3), x) + vector_at(moving + PreparedTree::bias);
    LaneVector alpha = vector_at(A + 3) + vector_at(moving + PreparedTree::bias + 3);
    const LanePointers above(a_new_.data(), tree.offset_of, batch.parent);
    const Pack4* J = moving + PreparedTree::jacobian;
    for (int l = 0; l < group.parent_r; ++l, J += 6) {
      const Pack4 al = collect(above.at[0] + l, above.at[1] + l, above.at[2] + l, above.at[3] + l);
      a += al * vector_at(J);
      alpha += al * vector_at(J + 3);
    }
    const LaneMatrix turn = matrix_at(moving + PreparedTree::turn);
    put(transposed_times(turn, a), A);
    put(transposed_times(turn, alpha), A + 3);
    scatter_frames(frames_, batch, &FrameMotion::A, A);
  }
  const int padded = tree.parts[to_size(group.part)].polynomial.padded_pairs();
  const Pack4* S = moving + PreparedTree::jacobian + 6 * group.parent_r;
  const Pack4* Y = S + padded;
  const Pack4* y = Y + 6 * group.r;
  Pack4* a = scratch_.data();
  for (int l = 0; l < group.r; ++l, Y += 6) {
    a[l] = y[l];
    for (int k = 0; k < 6; ++k) a[l] -= Y[k] * A[k];
  }
  solve_upper(S, group.r, a);
  for (int lane = 0; lane < batch.lanes; ++lane) {
    double* to = a_new_.data() + tree.offset_of[to_size(batch.domain[to_size(lane)])];
    for (int l = 0; l < group.r; ++l) to[l] = a[l][lane];
  }
}

// ---- sums over all domains ------------------------------------------------------------------------------------------

DomainMeasures DomainDynamics::sum_domains(bool with_elastic_energy) {
  q_at_ = q_;
  v_at_ = v_;
  root_at_ = root_;
  move_frames(true);
  const PreparedTree& tree = *tree_;
  DomainMeasures sum;
  Vec3 about_origin = Vec3::Zero(), first = Vec3::Zero();
  Mat3 second = Mat3::Zero();  // inertia about the world's origin
  for (const DomainBatch& batch : tree.batches) {
    const DomainGroup& group = tree.groups[to_size(batch.group)];
    const PreparedPart& part = tree.parts[to_size(group.part)];
    const Pack4* constants = tree.lanes.data() + batch.constants;
    const int r = group.r, padded = part.polynomial.padded_pairs();
    Pack4* next = scratch_.data();
    const auto take = [&](int count) { return std::exchange(next, next + count); };
    Pack4 *q = take(r), *q_dot = take(r), *coupling = take(6 * r), *bias = take(r), *stiffness = take(padded),
          *mixed = take(padded), *products = take(padded);
    collect(LanePointers(q_.data(), tree.offset_of, batch.domain).at, r, q);
    collect(LanePointers(v_.data(), tree.offset_of, batch.domain).at, r, q_dot);
    Pack4 omega[3];
    collect_frames(frames_, batch.domain, &FrameMotion::w, omega);
    const BodyTerms body = domains::body_terms(part, constants, q, q_dot, vector_at(omega), coupling, bias);
    Pack4 elastic(0.0);
    if (with_elastic_energy)
      elastic = constants[PreparedTree::elastic] * part.polynomial.energy(q, stiffness, mixed, products);
    Pack4 own(0.0);
    for (int b = 0, p = 0; b < r; ++b)
      for (int a = 0; a <= b; ++a, ++p)
        own += Pack4((a == b ? 0.5 : 1.0) * part.reduced_mass[to_size(p)]) * q_dot[a] * q_dot[b];
    own *= constants[PreparedTree::scale5];
    const LaneVector swirl = twist_of(body.stretch_rate);  // ∫ p × ṗ
    for (int lane = 0; lane < batch.lanes; ++lane) {
      const FrameMotion& f = frames_[to_size(batch.domain[to_size(lane)])];
      const auto vec = [lane](const LaneVector& a) { return Vec3(a.x[lane], a.y[lane], a.z[lane]); };
      const Eigen::Matrix3d R = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(f.R);
      const Vec3 c(f.c[0], f.c[1], f.c[2]), v(f.v[0], f.v[1], f.v[2]), w(f.w[0], f.w[1], f.w[2]);
      const Vec3 mu = vec(body.first), mu_rate = vec(body.first_rate), inner = vec(swirl);
      const double m = body.inertia.force.m[0][lane];
      Mat3 I;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) I(i, j) = body.inertia.torque(i, j)[lane];
      const Vec3 P = m * v + w.cross(mu) + mu_rate, L = mu.cross(v) + I * w + inner;
      sum.mass += m;
      const Vec3 place = m * c + R * mu;
      first += place;
      sum.momentum += R * P;
      about_origin += c.cross(R * P) + R * L;
      // ∫ |x|² − x xᵀ with x = c + R p
      const Vec3 Rmu = R * mu;
      second += R * I * R.transpose() + m * (c.squaredNorm() * Mat3::Identity() - c * c.transpose()) +
                2 * c.dot(Rmu) * Mat3::Identity() - c * Rmu.transpose() - Rmu * c.transpose();
      sum.kinetic_energy +=
          0.5 * m * v.squaredNorm() + v.dot(w.cross(mu) + mu_rate) + 0.5 * w.dot(I * w) + w.dot(inner) + own[lane];
      sum.elastic_energy += elastic[lane];
    }
  }
  sum.centre = first / sum.mass;
  sum.angular_momentum = about_origin - sum.centre.cross(sum.momentum);
  sum.inertia = second - sum.mass * (sum.centre.squaredNorm() * Mat3::Identity() - sum.centre * sum.centre.transpose());
  return sum;
}

}  // namespace supple
