// SPDX-License-Identifier: Apache-2.0
// DomainDynamics: one instance of a tree of reduced domains in time (2011 paper, section 4 and Algorithm 1). Time is
// linear in the number of domains; a step allocates nothing and never throws, and one that breaks down is undone.
//
// Every domain obeys, in its own frame,
//   M q̈ + D q̇ + R(q) = f_ext + f_sys + Σ_children f_itf                                             (Eq. 10)
// A child j resists the motion of its interface with a wrench I_j A_j + p_j, which is linear in the acceleration A_j =
// X A_i + J q̈_i + b of its frame. How the inertia I_j of the subtree is taken:
//   interface   L1: its mass, at the interface (Eq. 16)
//   centre      L2: its mass, at the subtree's centre at rest. Taken at the centre of the moment, as in the paper, M_ij
//               swings with the modes of the subtree, which nothing in Eq. 15 pays for: that feeds energy into the
//               parent
//   full        all of it: the subtree's own coordinates are eliminated, leaves to root, as in Featherstone's
//               articulated bodies. With S = M + Σ JᵀI_jJ + γhD + βh²K the system matrix of Newmark's step,
//                 I_i = M̃_ff − M̃_fq S⁻¹ M̃_qf      p_i = p̃_f + M̃_fq S⁻¹ (rhs)
//               so that what is stiff is solved implicitly across all domains at once, without iteration.
//
// Passes: root to leaves, frames and velocities; leaves to root, inertia and forces; root to leaves, accelerations and
// the state at the end. Domains of a level may be shared among threads (set_jobs), with the same bits for any number.
// Elastic forces are linearised at the start of the step, frames and inertia at the end of it as extrapolated; further
// iterations of Newton's method take both at the last iterate.
//
// A root that nothing holds flies. Its velocity is set so that momentum and angular momentum are exactly what external
// forces made of them.
//
// Loops (DomainModel::closures) are closed between the passes back and forth by the forces that keep their sites
// together (loop_work.h), which takes time with the lengths of their ways to the root and with the cube of how many
// there are.
//
// Energy. The trapezoidal rule (Newmark with β = ¼, γ = ½) leaves vibrations that are faster than the step as they are,
// and frames that turn feed them: without damping a dragon's horns, which vibrate at hundreds of hertz, tore it apart
// within 5 s at any step. Forces and accelerations therefore balance a little before the end of a step (fast_loss),
// which takes those vibrations away. Mass in a point, L1 and L2, has another fault: a child swings with its parent and
// takes nothing from it, so that equal parts in a chain pump each other up. There, velocities are scaled down to what
// the energy at the start and the work of external forces and of damping since then allow.
#pragma once

#include "supple/base/result.h"
#include "supple/runtime/domains/lane_access.h"
#include "supple/runtime/domains/loop_work.h"
#include "supple/runtime/domains/wind_field.h"
#include "supple/runtime/job_loop.h"

#include <memory>
#include <optional>
#include <span>

namespace supple {

enum class SubtreeInertia { interface, centre, full };

struct DomainSettings {
  double time_step = 1.0 / 240;  ///< h [s]
  double newmark_beta = 0.25;    ///< β of Newmark
  double newmark_gamma = 0.5;    ///< γ of Newmark
  /// −α of Hilber, Hughes and Taylor, 0 to 1/3: how much is lost of vibrations that are too fast for the step, (1 −
  /// fast_loss) / (1 + fast_loss) of their amplitude being left by each; slow ones lose the less, with the third power
  /// of their frequency.
  double fast_loss = 0.1;
  double mass_damping = 0.1;         ///< α of D = α M + β K [1/s], against motion relative to the parent
  double stiffness_damping = 0.002;  ///< β of it [s]
  SubtreeInertia inertia = SubtreeInertia::full;
  int iterations = 1;  ///< of Newton's method in each step
  int most_forces = 64;
  Vec3 gravity = Vec3(0, -9.81, 0);  ///< [m/s²]
};

/// Where the frame of a root is that something moves, and how; everything in the world.
struct RootMotion {
  Mat3 rotation = Mat3::Identity();
  Vec3 position = Vec3::Zero();
  Vec3 velocity = Vec3::Zero(), angular_velocity = Vec3::Zero();
  Vec3 acceleration = Vec3::Zero(), angular_acceleration = Vec3::Zero();
};

struct DomainReport {
  bool recovered = false;  ///< the step broke down and was undone
};

/// Sums over all domains, in the world.
struct DomainMeasures {
  double mass = 0;
  Vec3 centre = Vec3::Zero();
  Vec3 momentum = Vec3::Zero();
  Vec3 angular_momentum = Vec3::Zero();  ///< about the centre
  Mat3 inertia = Mat3::Zero();           ///< about the centre, as if rigid
  double kinetic_energy = 0;
  double elastic_energy = 0;
};

/// The motion of one domain's frame in the last pass: R by rows and c in the world, the rest in the frame's own axes.
struct FrameMotion {
  double R[9], c[3];
  double v[3], w[3];  ///< velocity and angular velocity
  double A[6];        ///< acceleration, less gravity, and angular acceleration
};

class DomainDynamics {
 public:
  /// Fails on settings out of range.
  static Result<DomainDynamics> create(std::shared_ptr<const PreparedTree> tree, const DomainSettings& settings);

  const PreparedTree& tree() const { return *tree_; }
  const DomainSettings& settings() const { return settings_; }
  double time() const { return time_; }
  void set_gravity(const Vec3& gravity);
  void set_wind(const WindField& wind) { wind_ = wind; }
  /// Lets large trees use the caller's threads; null: none.
  void set_jobs(JobLoop loop, void* user) {
    loop_ = loop;
    loop_user_ = user;
  }
  /// Makes a domain swing faster or slower than it was built to: its frequencies, as a factor above zero.
  void set_frequency(Index domain, double factor);
  /// Moves a held root: where it will be at the end of the next step. Moves a free one at once.
  void set_root(const RootMotion& motion);
  /// Puts a held root somewhere at once, moving as it is said to; the rest of the state stays as it is.
  void place_root(const RootMotion& motion);
  const RootMotion& root() const { return root_; }
  /// A force [N] on a vertex of a domain's surface, in the world, until clear_forces(). Beyond most_forces: left out.
  void add_force(Index domain, Index vertex, const Vec3& force);
  void clear_forces() { forces_.clear(); }

  DomainReport step();
  /// At rest and undeformed, where the model was built.
  void reset();
  /// Gives the present state the accelerations that its forces cause, as Newmark's first step wants them, and takes its
  /// momentum as the one to keep. Call it after writing into coordinates() or velocities().
  void initialize();

  /// q, q̇ and q̈ of all domains, one after the other (PreparedTree::offset_of).
  std::span<double> coordinates() { return q_; }
  std::span<double> velocities() { return v_; }
  std::span<double> accelerations() { return a_; }
  std::span<const double> coordinates() const { return q_; }

  /// Brings the frames up to date with the coordinates. Whatever follows here needs it.
  void update_frames() { show(q_, root_); }
  /// The same for other coordinates than the state's, such as some between two steps; the state stays as it is.
  void show(std::span<const double> q, const RootMotion& root);
  void frame(Index domain, Mat3& rotation, Vec3& position) const;
  /// Three numbers for each vertex of the model's surface, in the world.
  void surface_positions(std::span<double> xyz) const;
  /// The largest distance between copies of one vertex of the surface: the gaps that averaging closes [m].
  double largest_gap() const;
  /// How far the interface of a domain is from turning rigidly: |A − Q| / |Q| (Figure 3).
  double interface_strain(Index domain) const;
  DomainMeasures measure();

  /// All that the future depends on, saved or restored by a runtime/state_bytes.h.
  template <class Bytes>
  void exchange(Bytes& bytes) {
    for (auto* values : {&q_, &v_, &a_}) bytes(*values);
    if (loops_) bytes(loops_->parting);
    bytes(root_);
    bytes(target_);
    bytes(energy_);
    bytes(root_moves_);
    bytes(time_);
  }

 private:
  struct PointForce {
    Index domain, vertex;
    Vec3 force;
  };
  /// Momentum of a free body, as external forces made it.
  struct Momentum {
    Vec3 centre = Vec3::Zero(), linear = Vec3::Zero(), angular = Vec3::Zero();
  };
  /// Newmark's factors; all zero to ask for the accelerations of the present state.
  struct Scheme {
    double h = 0, mass = 1, stiffness = 0;  ///< S = mass · M + stiffness · K
    double beta_h2 = 0, gamma_h = 0;
    double share = 1;  ///< of the step after which forces and accelerations balance
  };
  /// What is looked at: q + h v and v + h a.
  struct Sampling {
    const double *q = nullptr, *v = nullptr, *a = nullptr;
    double ahead = 0;  ///< h
  };
  struct LaneFrame {
    domains::LaneMatrix R;
    domains::LaneVector c, v, w;
  };
  /// Where a chunk adds up what its domains add to a parent that it shares with the chunk before.
  struct SharedSum {
    Index parent = -1;
    double* to = nullptr;
  };
  struct LaneScratch;

  DomainDynamics() = default;
  static std::size_t scratch_size(const PreparedTree& tree);
  template <class Body>
  void each_chunk(const DomainGroup& group, bool backward, const Body& body);
  Scheme newmark() const;
  void extrapolate(const Scheme& scheme, int iteration);
  void solve(const Scheme& scheme);

  RootMotion root_during(double share) const;
  void place_root_frame();
  void move_frames(bool with_rates, bool with_leaves = true);
  void sample(const std::array<Index, 4>& domains, int r, Pack4* q, Pack4* q_dot) const;
  void move_batch(const DomainBatch& batch, bool with_rates, Pack4* scratch, LaneFrame& out);
  void store_frame(const DomainBatch& batch, const LaneFrame& frame, bool with_rates);
  LaneFrame stored_frame(const DomainBatch& batch) const;

  void spread_forces();
  void gather_group(const DomainGroup& group, const Scheme& scheme, bool with_leaves);
  double gather_batch(std::size_t index, const Scheme& scheme, const LaneFrame& frame, Pack4* scratch,
                      const SharedSum& shared);
  void predict(const DomainBatch& batch, const Scheme& scheme, int r, const LaneScratch& s) const;
  void take_load(const DomainBatch& batch, int r, Pack4* rhs, Pack4 (&load)[6]) const;
  void add_wind(const LaneFrame& frame, const Scheme& scheme, const PreparedPart& part, const Pack4* constants,
                const LaneScratch& s, Pack4 (&wrench)[6]) const;
  Pack4 add_stiffness(const PreparedPart& part, const Scheme& scheme, Pack4 elastic, Pack4 scale5,
                      const LaneScratch& s) const;
  void add_children(const DomainBatch& batch, int r, const LaneScratch& s, Pack4 (&inertia)[21], Pack4 (&wrench)[6],
                    Pack4 (&load)[6]) const;
  void lump_subtree(const Pack4* constants, const domains::LaneVector& omega, const Pack4 (&load)[6],
                    Pack4 (&inertia)[21], Pack4 (&wrench)[6]) const;
  void fill_jacobian(const DomainBatch& batch, Pack4* J) const;
  void pass_to_parents(const DomainBatch& batch, const Pack4 (&inertia)[21], const Pack4 (&wrench)[6],
                       const Pack4 (&load)[6], Pack4* scratch, const SharedSum& shared);

  void keep_factors(const DomainBatch& batch, int r, const Pack4* L);
  void opening(std::size_t closure, Vec3& apart, Vec3& turned) const;
  void parting_rates(std::size_t closure, Vec3& apart, Vec3& turned) const;
  double closure_energy() const;
  void push_sites();
  void push_parent(std::size_t place);
  void move_sites();
  void move_child(std::size_t place);
  void compare_sites();
  void predict_openings(const Scheme& scheme, double slowness);
  void close_loops(const Scheme& scheme);
  void spread_closure_forces();

  void solve_root_inertia(double (&y)[6]) const;
  void accelerate_root();
  void accelerate_frames(const DomainBatch& batch, Pack4* scratch, Pack4 (&A)[6]);
  bool finish_batch(const DomainBatch& batch, const Scheme& scheme, Pack4* scratch);
  void finish_group(const DomainGroup& group, const Scheme& scheme);
  void finish_root(const Scheme& scheme);
  void keep_momentum(double h);
  void meet_momentum(const DomainMeasures& now);
  bool limits_energy() const { return settings_.inertia != SubtreeInertia::full; }
  double energy_of(const DomainMeasures& sums) const;
  void keep_energy(double h, bool moved);
  DomainMeasures sum_domains(bool with_elastic_energy);
  bool all_finite() const;

  std::shared_ptr<const PreparedTree> tree_;
  DomainSettings settings_;
  WindField wind_;
  WindMoment wind_now_;
  JobLoop loop_ = nullptr;
  void* loop_user_ = nullptr;
  double time_ = 0;
  std::vector<double> q_, v_, a_;              ///< the state
  std::vector<double> q_new_, v_new_, a_new_;  ///< the iterate
  std::vector<double> q_at_, v_at_;            ///< of an iterate, where frames and inertia are taken
  Sampling at_;                                ///< where frames and inertia are taken
  std::vector<double> shown_;                  ///< the coordinates that frames were last shown at
  std::vector<Pack4> elastic_;                 ///< s³ and the stiffness of each batch
  RootMotion root_, root_new_, root_next_, root_at_;
  bool root_given_ = false, root_moves_ = false;  ///< for the next step; in the last one
  Momentum target_;
  double energy_ = 0;          ///< where limits_energy(): what there may be
  std::vector<double> power_;  ///< of external forces and damping on the domains of each chunk
  std::vector<FrameMotion> frames_;
  std::vector<Pack4> moving_;
  std::vector<double> sums_;         ///< what children add to their parents
  std::vector<double> shared_sums_;  ///< the same for parents that chunks of one group share
  std::vector<double> load_;         ///< external forces on coordinates
  std::vector<double> load_wrench_;
  std::vector<PointForce> forces_;
  std::vector<Pack4> scratch_;  ///< for each chunk of a group
  std::size_t scratch_size_ = 0;
  std::vector<char> sound_;        ///< of each chunk: whether all its numbers are finite
  std::optional<LoopWork> loops_;  ///< where there are any
  double root_inertia_[21] = {}, root_wrench_[6] = {}, root_load_[6] = {};
};

}  // namespace supple
