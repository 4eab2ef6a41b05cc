// SPDX-License-Identifier: Apache-2.0
#include "bench/pose_stages.h"

#include "supple/runtime/posespace/pose_space_dynamics.h"

#include <fmt/format.h>

#include <algorithm>

namespace supple::bench {
namespace {

constexpr int width = PosedTets<float>::width;
/// Arithmetic of one element besides its r columns, counted in the source: energy and stress, through the rest shape;
/// the energy alone; the change of stress along a direction; the rest shape without singular values; a blend of four
/// rotations. And the numbers that a material keeps of an element.
constexpr double element_flops = 350, energy_flops = 200, change_flops = 330, rest_flops = 450, blend_flops = 70;
constexpr double material_numbers = 35;

struct Sizes {
  double elements = 0;         ///< with the lanes that pad them
  double element_columns = 0;  ///< summed over elements
  double triangle = 0;         ///< entries of a symmetric matrix that are touched
  double blended_columns = 0;  ///< likewise, of all poses that count
  double inertia = 0;          ///< entries of the basis at cubature vertices
  double blended_inertia = 0;  ///< of all poses
  double surface = 0;          ///< of what is shown, of all poses that count
  double r = 0;
  double mass_sums = 0, stiffness_sums = 0;  ///< numbers of all poses' triangles that are summed up
  double stored = 4;                         ///< bytes of a number of bases and gradients
};

Sizes sizes_of(const PreparedModel<float>& model, const PoseInterpolation<float>& pose) {
  Sizes s;
  for (const auto& block : model.elements) {
    const double count = width * static_cast<double>(block.tets.batch_count());
    s.elements += count;
    s.element_columns += count * block.columns.count();
    for (std::size_t c = 0; c < block.stored.columns() && !pose.constant(); ++c)
      for (std::size_t k = block.stored.begin[c]; k < block.stored.begin[c + 1]; ++k)
        if (pose.gradient_factors(to_size(block.stored.pose[k]))[block.columns.place[c]] != 0)
          s.blended_columns += count;
  }
  for (int c = 0; c < model.size; ++c) s.triangle += model.stride - c / width * width;
  for (const auto& block : model.inertia) {
    s.inertia += static_cast<double>(block.basis.rows * block.basis.stride);
    if (!pose.constant()) s.blended_inertia += static_cast<double>(width * block.basis.packed.size());
  }
  for (const auto& block : model.surface->blocks)
    for (const PoseColumn& stored : block.stored)
      if (pose.factors(to_size(stored.pose))[block.place[to_size(stored.column)]] != 0)
        s.surface += static_cast<double>(3 * SurfaceBlock<float>::tile_vertices * block.tiles);
  s.r = model.size;
  s.stored = model.poses > 1 ? 2 : 4;
  s.mass_sums = static_cast<double>(width * model.mass.count());
  s.stiffness_sums = static_cast<double>(width * (model.linear.count() + model.corrections.count()));
  return s;
}

double median_us(const std::function<void()>& work) {
  constexpr int batch = 5;  // one alone is near the clock's grain
  return 1e3 / batch * median_ms(61, [&] {
           for (int k = 0; k < batch; ++k) work();
         });
}

/// Every stage alone, on the pose and state that a simulation came to.
class StageClock {
 public:
  StageClock(PoseSpaceDynamics<float>& dynamics, const CharacterPose& pose, double solver_iterations)
      : dynamics_(dynamics),
        prepared_(dynamics.prepared()),
        p_(pose.p),
        iterations_(solver_iterations),
        pose_(prepared_),
        frames_(prepared_->model->sites),
        forces_(prepared_),
        inertia_(prepared_, dynamics.settings().time_step, true),
        positions_(prepared_->model->points.size()),
        workspace_(prepared_->model->rest->make_workspace(static_cast<Index>(positions_.size()))),
        q_(to_size(prepared_->stride), 0.0f),
        f_(q_),
        y_(q_) {
    std::copy(dynamics.coordinates().begin(), dynamics.coordinates().end(), q_.begin());
    evaluate_rig();
    frames_.update(positions_);
    forces_.set_pose(p_, positions_, &frames_);
    inertia_.set_pose(forces_.pose(), frames_, positions_);
    pose_.update(p_);
    for (int k = 0; k < 3; ++k) remember_frame();
    forces_.evaluate(q_.data());
    forces_.add_force(f_.data());
    sizes_ = sizes_of(*prepared_, pose_);
  }

  std::vector<Stage> run() {
    pose_stages();
    force_stages();
    solve_stage();
    surface_stage();
    return std::move(stages_);
  }

 private:
  void remember_frame() {
    inertia_.begin_frame({}, 1);
    inertia_.begin_substep(1);
    inertia_.remember(q_.data(), q_.data());
    inertia_.end_frame();
  }
  void evaluate_rig() { prepared_->model->rest->evaluate(p_, prepared_->model->points, positions_, *workspace_); }
  /// `footprint`: where it isn't given, every byte is touched once.
  void add(const char* name, double us, double flops, double bytes, std::optional<double> paper = {},
           std::optional<double> footprint = {}) {
    stages_.push_back({name, us, flops, bytes, footprint.value_or(bytes), paper});
  }

  void pose_stages() {
    const Sizes& s = sizes_;
    const double weights = median_us([&] { pose_.update(p_); });
    const double sums = pose_.constant() ? 0 : 1;
    add("pose_weights", weights, 2 * (s.mass_sums + s.stiffness_sums) * sums,
        s.stored * (s.mass_sums + s.stiffness_sums) * sums);
    // PSD and fitting of the paper. Rigs are black boxes: what they compute isn't counted.
    add("rig", median_us([&] { evaluate_rig(); }), 0, 24.0 * static_cast<double>(positions_.size()), 0.07 + 0.12);
    const auto sites = static_cast<double>(prepared_->model->sites.size());
    add("frames", median_us([&] { frames_.update(positions_); }), rest_flops * sites, 0);
    const double posed = median_us([&] { forces_.set_pose(p_, positions_, &frames_); });
    const double inertial = median_us([&] { inertia_.set_pose(forces_.pose(), frames_, positions_); });
    const double written = pose_.constant() ? 0 : s.element_columns;
    add("basis_blending", posed - weights + inertial,
        18 * s.blended_columns + 2 * s.blended_inertia + rest_flops * s.elements +
            blend_flops * prepared_->model->inertial_vertex_count(),
        9 * s.stored * (s.blended_columns + written) + s.stored * s.blended_inertia + 4 * s.inertia, 0.2);
  }

  void force_stages() {
    const Sizes& s = sizes_;
    const double us = median_us([&] {
      forces_.evaluate(q_.data());
      forces_.add_force(f_.data());
      forces_.energy(q_.data());
    });
    add("elastic", us, 54 * s.element_columns + (element_flops + energy_flops) * s.elements + 16 * s.triangle,
        2 * 9 * s.stored * s.element_columns + 4 * (material_numbers + 12) * s.elements + 16 * s.triangle, 0.48,
        9 * s.stored * s.element_columns + 4 * (material_numbers + 12) * s.elements + 4 * s.triangle);
    std::fill(f_.begin(), f_.end(), 0.0f);
    const double inertial = median_us([&] {
      inertia_.begin_frame({}, 1);
      inertia_.begin_substep(1);
      inertia_.add_force({}, f_.data());
      inertia_.remember(q_.data(), q_.data());
      inertia_.end_frame();
    });
    add("inertia", inertial, 10 * s.inertia, 2 * 4 * s.inertia, 0.11, 4 * s.inertia);
  }

  void solve_stage() {
    const Sizes& s = sizes_;
    const double h = dynamics_.settings().time_step;
    const auto mass = static_cast<float>(4 / (h * h));
    const auto linear = static_cast<float>(2 / h * dynamics_.settings().stiffness_damping);
    StepSystem<float> system(*prepared_);
    std::fill(f_.begin(), f_.end(), 0.0f);
    forces_.add_force(f_.data());
    float nudge = 0;  // equal factors would be recognised, also near the pose; a step of a walk sets P in one of nine
    const bool constant = pose_.constant();
    const double set = median_us([&] { system.set(forces_.pose(), mass + (constant ? 0 : ++nudge), linear); });
    int own_iterations = 0;
    const double solve = median_us([&] { own_iterations = system.solve(forces_, f_.data(), y_.data(), 5e-3F); });
    const double k = own_iterations;
    const double product = 36 * s.element_columns + change_flops * s.elements + 12 * s.triangle;
    const double once = constant ? 0 : 5 * s.triangle + s.r * s.r * s.r / 3;
    const double taken = solve * (iterations_ + 1) / (k + 1);  // as many iterations as steps of the clip take
    add("linear_solve", set + taken, once + product * iterations_ + 4 * s.triangle,
        4 * ((constant ? 0 : 5 * s.triangle) +
             (9 * s.stored / 4 * s.element_columns + material_numbers * s.elements + 3 * s.triangle) * iterations_ +
             s.triangle),
        0.24,
        4 * ((constant ? 2 : 5) * s.triangle + 9 * s.stored / 4 * s.element_columns + material_numbers * s.elements));
  }

  /// The shape alone: the rig, the frames and the weights of the pose are stages of their own. Read are the bases of
  /// poses that count, the blends of frames, and what each vertex hangs on; three floats are written.
  void surface_stage() {
    const Sizes& s = sizes_;
    const PreparedSurface<float>& prepared = *prepared_->surface;
    SurfaceShape<float> surface(prepared_);
    std::vector<Eigen::Vector3f> shown(prepared.holds.size());
    const double us = median_us(
        [&] { surface.displacements(pose_.basis(), frames_, q_.data(), Eigen::Matrix3f::Identity(), shown); });
    const auto count = static_cast<double>(shown.size()), turned = static_cast<double>(width * prepared.frames.size());
    add("surface", us, 2 * s.surface + blend_flops * turned + 24 * count,
        sizeof(HalfPack) / width * s.surface + static_cast<double>(sizeof(FrameLanes<float>) * prepared.frames.size()) +
            static_cast<double>(sizeof(SurfaceHold<float>) + sizeof(Eigen::Vector3f)) * count,
        0.1);
  }

  PoseSpaceDynamics<float>& dynamics_;
  std::shared_ptr<const PreparedModel<float>> prepared_;
  const std::vector<double>& p_;
  double iterations_;
  PoseInterpolation<float> pose_;
  FrameField<float> frames_;
  CubatureForces<float> forces_;
  InertialForces<float> inertia_;
  std::vector<Vec3> positions_;
  std::unique_ptr<RigWorkspace> workspace_;
  std::vector<float> q_, f_, y_;
  Sizes sizes_;
  std::vector<Stage> stages_;
};

}  // namespace

std::vector<Stage> measure_stages(PoseSpaceDynamics<float>& dynamics, const CharacterPose& pose,
                                  double solver_iterations) {
  return StageClock(dynamics, pose, solver_iterations).run();
}

void add_stages(Report& report, const std::string& row, const std::vector<Stage>& stages, bool published) {
  const double peak = product_gflops();
  const auto add = [&](const Stage& stage, const char* metric, double value, const char* unit,
                       std::optional<double> paper = {}, std::optional<double> target = {}) {
    report.add({.table = "pose/table2",
                .row = fmt::format("{}/{}", row, stage.name),
                .metric = metric,
                .value = value,
                .unit = unit,
                .paper = paper,
                .target = target});
  };
  const auto largest =
      std::max_element(stages.begin(), stages.end(), [](const Stage& a, const Stage& b) { return a.us < b.us; });
  for (auto stage = stages.begin(); stage != stages.end(); ++stage) {
    add(*stage, "stage_ms", stage->us / 1e3, "ms", published ? stage->paper_ms : std::nullopt);
    add(*stage, "flops", stage->flops, "");
    add(*stage, "bytes", stage->bytes, "B");
    add(*stage, "footprint", stage->footprint, "B");
    const double arithmetic = stage->flops / (1e3 * stage->us) / peak;
    double memory = 0;
    if (const auto footprint = to_size(stage->footprint); footprint >= 4096)
      memory = stage->bytes / (1e3 * stage->us) / read_bandwidth(footprint);
    add(*stage, "fraction_of_peak", std::max(arithmetic, memory), "", {},
        stage == largest ? std::optional(0.4) : std::nullopt);
  }
}

}  // namespace supple::bench
