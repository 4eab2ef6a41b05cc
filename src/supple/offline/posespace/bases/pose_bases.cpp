// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/bases/pose_bases.h"

#include "supple/base/parallel.h"
#include "supple/offline/modes/constrained_modes.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/offline/posespace/bases/basis_store.h"
#include "supple/offline/posespace/bases/skin_weighted_metric.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <mutex>

namespace supple {
namespace {

/// Of each kind of shapes against known motion; chosen on clips that were, and that weren't, known.
constexpr double made_up_share = 0.7, rig_share = 0.3, mode_share = 0.2, derivative_share = 0.1;
/// Where strain is exact, shapes of flesh at rest in the neutral pose count for little: they are there to be pulled at.
constexpr double rest_share = 0.05;
/// Of elastic energy in what directions are chosen by.
constexpr double energy_share = 0.1;

/// All of the shapes row_scaled one number: the sum of their squares is `size`².
MatX scaled_to(double size, const BlockMatrix& mass, const MatX& shapes) {
  const double now = mass_norms(mass, shapes).norm();
  return now > 0 ? MatX(shapes * (size / now)) : MatX(shapes.rows(), 0);
}

/// Every shape divided by the root of its size, those without size left as they are.
MatX evened_out(const BlockMatrix& mass, MatX shapes) {
  const VecX sizes = mass_norms(mass, shapes);
  for (Eigen::Index c = 0; c < sizes.size(); ++c)
    if (sizes[c] > 1e-9 * sizes.maxCoeff()) shapes.col(c) /= std::sqrt(sizes[c]);
  return shapes;
}

/// The shapes of each clip brought to the fourth root of their mean size, all of them together to one.
MatX balanced(const BlockMatrix& mass, MatX shapes, const std::vector<int>& clips) {
  const VecX sizes = mass_norms(mass, shapes);
  const int count = clips.empty() ? 1 : *std::max_element(clips.begin(), clips.end()) + 1;
  VecX squares = VecX::Zero(count), columns = squares;
  const auto clip = [&](Eigen::Index c) { return clips.empty() ? 0 : clips[to_size(c)]; };
  for (Eigen::Index c = 0; c < sizes.size(); ++c) {
    squares[clip(c)] += sizes[c] * sizes[c];
    columns[clip(c)] += 1;
  }
  for (Eigen::Index c = 0; c < sizes.size(); ++c) {
    const double sum = squares[clip(c)];
    if (sum > 0) shapes.col(c) *= std::pow(sum / columns[clip(c)], 0.125) / std::sqrt(sum);
  }
  const double all = mass_norms(mass, shapes).norm();
  return all > 0 ? MatX(shapes / all) : shapes;
}

MatX beside(std::initializer_list<MatX> parts) {
  Eigen::Index columns = 0;
  for (const MatX& part : parts) columns += part.cols();
  MatX all(parts.begin()->rows(), columns);
  columns = 0;
  for (const MatX& part : parts) {
    all.middleCols(columns, part.cols()) = part;
    columns += part.cols();
  }
  return all;
}

/// `shapes` without their part in the span of the mass-orthonormal `basis`.
MatX without(const BlockMatrix& mass, const MatX& basis, MatX shapes) {
  const MatX M_basis = multiply_columns(mass, basis);
  shapes -= basis * (M_basis.transpose() * shapes).eval();
  return shapes;
}

/// The basis with the `count` most important directions of the weighted shapes that it lacks.
Result<MatX> extend(const BlockMatrix& mass, const MatX& basis, MatX shapes, const VecX& weights, int count) {
  const Result<MassPca> pca = mass_pca(mass, without(mass, basis, std::move(shapes)), weights);
  SUPPLE_RETURN_IF_ERROR(pca);
  const Eigen::Index more = std::min<Eigen::Index>(count, pca->basis.cols());
  MatX all(basis.rows(), basis.cols() + more);
  all << basis, pca->basis.leftCols(more);
  return mass_orthonormalize(mass, std::move(all));
}

/// Each vertex's three numbers turned by its rotation, or turned back.
void turn(std::span<const Mat3> turns, bool back, Eigen::Ref<MatX> x) {
  for (std::size_t v = 0; v < turns.size(); ++v) {
    auto rows = x.middleRows<3>(3 * static_cast<Eigen::Index>(v));
    rows = ((back ? Mat3(turns[v].transpose()) : turns[v]) * rows).eval();
  }
}

/// How much each of some moments has to do with a pose; none is without all say. The few directions of a patch hold
/// less of all motion than those of a whole body: made for each pose from moments of its own, they would span spaces
/// too different to be blended, so there all moments count alike.
VecX moment_weights(const PoseBasesInput& input, std::span<const std::vector<double>> moments, std::size_t pose) {
  VecX result = VecX::Ones(std::ssize(moments));
  if (input.weights == nullptr || input.patches.size() > 1) return result;
  std::vector<double> w(to_size(input.weights->pose_count())), scratch = w;
  for (Eigen::Index m = 0; m < result.size(); ++m) {
    input.weights->evaluate(moments[to_size(m)], w, scratch);
    result[m] = std::clamp(w[pose], 0.05, 1.0);
  }
  return result;
}

/// The part c_k of each patch in what the whole body does: W'_k² / Σ_j W'_j². They add up to one everywhere. Squares,
/// because W' falls off steeply at the border of its patch and would strain there whatever it cuts.
std::vector<VecX> patch_parts(std::span<const Patch> patches) {
  std::vector<VecX> parts;
  if (patches.size() <= 1) return parts;
  VecX sum = VecX::Zero(patches.front().weights.size());
  for (const Patch& patch : patches) sum += parts.emplace_back(patch.weights.cwiseAbs2());
  for (VecX& part : parts) part = (part.array() > 0).select(part.cwiseQuotient(sum), 0.0);
  return parts;
}

/// Each vertex's three numbers row_scaled its factor.
MatX row_scaled(const VecX& factors, MatX shapes) {
  for (Eigen::Index v = 0; v < factors.size(); ++v) shapes.middleRows<3>(3 * v) *= factors[v];
  return shapes;
}

/// What known motion does to the whole body, in any of its poses: shapes, turned back, and the pose of each.
struct KnownShapes {
  MatX shapes;
  std::vector<std::vector<double>> moments;
};

/// Some columns, brought to a size together.
void add_shapes(const PoseBasesInput& input, const TaughtShapes& taught, bool made_up, double size,
                KnownShapes& result) {
  std::vector<Eigen::Index> columns;
  std::vector<int> clips;
  for (Eigen::Index c = 0; c < taught.count(); ++c) {
    const int clip = taught.clips[to_size(c)];
    if ((clip == MotionRun::made_up) != made_up) continue;
    columns.push_back(c);
    clips.push_back(std::max(0, clip));
    result.moments.push_back(taught.poses[to_size(c)]);
  }
  if (columns.empty()) return;
  MatX shapes = taught.displacements(Eigen::all, columns);
  result.shapes = beside({result.shapes, size * balanced(input.body.consistent_mass(), std::move(shapes), clips)});
}

KnownShapes known_shapes(const PoseBasesInput& input) {
  KnownShapes result{MatX(input.body.dof_count(), 0), {}};
  if (!input.teach) return result;
  const TaughtShapes taught = input.teach();
  add_shapes(input, taught, false, 1, result);
  add_shapes(input, taught, true, made_up_share, result);
  return result;
}

/// One patch's basis in one pose.
struct BasisTask {
  const PoseBasis& pose;
  std::size_t number = 0;  ///< of the pose
  std::size_t patch = 0;
  int size = 0;
};

class BasisMaker {
 public:
  explicit BasisMaker(const PoseBasesInput& input)
      : input_(input), metric_(skin_weighted_metric(input.body, input.skin)), parts_(patch_parts(input.patches)) {}

  /// Columns turned back.
  Result<PatchBasis> make(const BasisTask& task, Progress& progress) const {
    const ElasticBody body = posed_body(input_, task.pose);
    ModeProblem problem{.body = body, .fixed = input_.fixed};
    if (!parts_.empty()) problem.vertex_weights = input_.patches[task.patch].weights;
    if (!input_.contacts.empty()) problem.constraints = input_.contacts[task.number];
    const Result<ConstrainedBody> constrained =
        ConstrainedBody::create(problem, ConstraintMethod::null_space, progress);
    SUPPLE_RETURN_IF_ERROR(constrained);
    const int available = static_cast<int>(std::min<Index>(constrained->available_modes(), 1'000'000));
    if (available < task.size)
      return input_error(
          "a part of the body has too little flesh for its number of modes; ask for fewer, or let fewer "
          "parts have modes of their own");
    const int linear = std::max(1, task.size * 4 / 9);
    const Result<Modes> modes = constrained->modes({.count = linear}, progress);
    SUPPLE_RETURN_IF_ERROR(modes);
    if (modes->rigid.cols() > 0)
      return input_error("some flesh isn't held by any bone; mark it as rigid, or let a bone cross it");
    MatX basis = modes->shapes;
    if (task.size > linear) {
      const Result<MatX> all = add_others(task, problem, *constrained, *modes, progress);
      SUPPLE_RETURN_IF_ERROR(all);
      basis = *all;
    }
    turn(task.pose.turns, true, basis);
    return PatchBasis{mass_orthonormalize(input_.body.consistent_mass(), std::move(basis)), modes->frequencies};
  }

 private:
  Result<MatX> add_others(const BasisTask& task, const ModeProblem& problem, const ConstrainedBody& constrained,
                          const Modes& modes, Progress& progress) const {
    const BlockMatrix& mass = input_.body.consistent_mass();
    const Result<MatX> derivatives = weighted_derivatives(problem, constrained, modes, progress);
    SUPPLE_RETURN_IF_ERROR(derivatives);
    const MatX rig =
        constrained.responses(multiply_columns(mass, rig_accelerations(input_.rest, task.pose.p, input_.height)));
    const MatX ringing = modes.shapes * modes.eigenvalues.cwiseInverse().asDiagonal();
    const BlockMatrix stiffness = stiffness_at_rest(problem.body);
    const BlockMatrix metric = metric_with_energy(stiffness, modes.eigenvalues[0]);
    MatX known = known_motion(task, problem, constrained, stiffness);
    // Shapes made within a patch are steep at its border. Brought to one mass they would count for more than shapes
    // that are cut smoothly, so that the metric that directions are chosen by has to tell sizes, too.
    const BlockMatrix& sizes = parts_.empty() ? mass : metric;
    if (!parts_.empty()) known = scaled_to(std::hypot(1.0, made_up_share), sizes, known);
    const double share = input_.exact_strain && known.cols() > 0 ? rest_share : 1;
    const MatX shapes = beside({known, scaled_to(share * rig_share, sizes, evened_out(mass, rig)),
                                scaled_to(share * mode_share, sizes, ringing),
                                scaled_to(share * derivative_share, sizes, *derivatives)});
    const MatX basis = mass_orthonormalize(mass, principal_shapes(metric, shapes, task.size));
    return basis.cols() < task.size ? fill_up(constrained, basis, task.size, progress) : basis;
  }

  /// What is seen, and a tenth of elastic energy, measured by that of the softest mode: small displacements without
  /// which flesh could not give way, such as those that keep its volume, count for what they hold back.
  BlockMatrix metric_with_energy(const BlockMatrix& stiffness, double softest) const {
    BlockMatrix metric = metric_;
    metric.combine(1, energy_share / softest, stiffness);
    return metric;
  }

  static BlockMatrix stiffness_at_rest(const ElasticBody& body) {
    BlockMatrix stiffness = body.make_matrix();
    VecX none(body.dof_count());
    body.internal_force_and_stiffness(VecX::Zero(none.size()), none, stiffness);
    return stiffness;
  }

  static Result<MatX> weighted_derivatives(const ModeProblem& problem, const ConstrainedBody& constrained,
                                           const Modes& modes, Progress& progress) {
    // n modes have n² derivatives; high ones have no weight.
    const int most = problem.vertex_weights.size() > 0 ? 10 : 20;
    const int differentiated = std::min(static_cast<int>(modes.shapes.cols()), most);
    Result<ModalDerivatives> derivatives = constrained.derivatives(modes, differentiated, progress);
    SUPPLE_RETURN_IF_ERROR(derivatives);
    const VecX norms = mass_norms(problem.body.consistent_mass(), derivatives->shapes);
    VecX weights = VecX::Zero(norms.size());
    for (Eigen::Index c = 0; c < norms.size(); ++c) {
      const auto [i, j] = derivatives->pairs[to_size(c)];
      const VecX& lambda = modes.eigenvalues;
      if (norms[c] > 1e-9 * norms.maxCoeff() && norms[c] > 0)
        weights[c] = lambda[0] / lambda[i] * (lambda[0] / lambda[j]) / norms[c];
    }
    return MatX(derivatives->shapes * weights.asDiagonal());
  }

  /// With higher modes, where a linear material has no derivatives, or a simple rig few responses.
  Result<MatX> fill_up(const ConstrainedBody& constrained, const MatX& basis, int size, Progress& progress) const {
    const Result<Modes> more = constrained.modes({.count = size}, progress);
    SUPPLE_RETURN_IF_ERROR(more);
    return extend(input_.body.consistent_mass(), basis, more->shapes, {}, size - static_cast<int>(basis.cols()));
  }

  /// In the directions of the world: what is known of the whole body, or the patch's part of it. Cut from the same
  /// shapes in every pose, the patches' bases of different poses agree, and together they hold what the body does.
  MatX known_motion(const BasisTask& task, const ModeProblem& problem, const ConstrainedBody& constrained,
                    const BlockMatrix& stiffness) const {
    const KnownShapes& known = known_shapes_once();
    if (known.moments.empty()) return MatX(input_.body.dof_count(), 0);
    MatX shapes = known.shapes;
    if (!parts_.empty()) shapes = row_scaled(parts_[task.patch], std::move(shapes));
    turn(task.pose.turns, false, shapes);
    if (problem.constraints.rows() > 0) shapes = allowed(problem, constrained, stiffness, shapes);
    return shapes * moment_weights(input_, known.moments, task.number).asDiagonal();
  }

  /// The nearest to shapes u = W y that contacts allow, by the energy of y. Without weights, and for u = K⁻¹ f, that is
  /// how the body gives way to f while it touches.
  static MatX allowed(const ModeProblem& problem, const ConstrainedBody& constrained, const BlockMatrix& stiffness,
                      const MatX& shapes) {
    if (problem.vertex_weights.size() == 0) return constrained.responses(multiply_columns(stiffness, shapes));
    const VecX& w = problem.vertex_weights;
    const VecX inverse = (w.array() > 0).select(w.cwiseInverse(), 0.0);
    return constrained.responses(row_scaled(inverse, multiply_columns(stiffness, row_scaled(inverse, shapes))));
  }

  /// The first basis that isn't known already asks for them.
  const KnownShapes& known_shapes_once() const {
    std::call_once(asked_, [&] { known_ = known_shapes(input_); });
    return known_;
  }

  const PoseBasesInput& input_;
  BlockMatrix metric_;
  mutable std::once_flag asked_;
  mutable KnownShapes known_;
  std::vector<VecX> parts_;  ///< of the patches; none: there is but one
};

}  // namespace

ElasticBody posed_body(const PoseBasesInput& input, const PoseBasis& pose) {
  const Eigen::Map<const VecX> positions(pose.positions.front().data(), input.body.dof_count());
  if (pose.materials.empty()) return input.body.posed(positions);
  TetMesh mesh = input.mesh;
  set_element_materials(mesh, pose.materials);
  const Result<ElasticBody> body = ElasticBody::create(mesh, input.body.material());
  return (body.ok() ? *body : input.body).posed(positions);
}

Result<PoseBases> make_bases(const PoseBasesInput& input, std::span<PoseBasis> poses, Progress& progress) {
  PoseBases result;
  const std::size_t patches = std::max<std::size_t>(1, input.patches.size());
  for (const Patch& patch : input.patches) result.patch_sizes.push_back(patch.modes);
  if (input.patches.size() <= 1) result.patch_sizes = {input.size};
  const BasisMaker maker(input);
  progress.stage("modes of the poses");
  std::vector<Result<PatchBasis>> made(poses.size() * patches, failure("not made"));
  parallel_for(std::ssize(made), 1, [&](std::int64_t k) {
    const std::size_t pose = to_size(k) / patches, patch = to_size(k) % patches;
    const BasisTask task{poses[pose], pose, patch, result.patch_sizes[patch]};
    made[to_size(k)] = find_or_make_basis(input, task.pose, pose, patch, task.size,
                                          [&] { return maker.make(task, Progress::silent()); });
  });
  for (std::size_t i = 0; i < poses.size(); ++i) {
    int columns = 0;
    for (const int size : result.patch_sizes) columns += size;
    poses[i].basis.resize(input.body.dof_count(), columns);
    int first = 0;
    for (std::size_t k = 0; k < patches; ++k) {
      const Result<PatchBasis>& part = made[i * patches + k];
      SUPPLE_RETURN_IF_ERROR(part);
      if (part->basis.cols() != result.patch_sizes[k])
        return input_error(
            "the flesh has fewer ways to move than the number of modes that was asked for; ask for fewer");
      poses[i].basis.middleCols(first, result.patch_sizes[k]) = part->basis;
      first += result.patch_sizes[k];
    }
  }
  std::vector<double> all;
  for (std::size_t k = 0; k < patches; ++k)
    all.insert(all.end(), made[k]->frequencies.begin(), made[k]->frequencies.end());
  std::sort(all.begin(), all.end());
  result.frequencies = Eigen::Map<const VecX>(all.data(), std::ssize(all));
  return result;
}

}  // namespace supple
