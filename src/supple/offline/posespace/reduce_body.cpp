// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/reduce_body.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/base/parallel.h"
#include "supple/fem/element.h"
#include "supple/fem/modes.h"
#include "supple/math/sparse_factor.h"
#include "supple/mesh/bounds.h"
#include "supple/mesh/topology.h"
#include "supple/offline/cubature/cubature_samples.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/offline/modes/modal_derivatives.h"
#include "supple/offline/posespace/flesh_frequency.h"

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <Eigen/LU>

#include <algorithm>

namespace supple {
namespace {

// ---- what can move --------------------------------------------------------------------------------------------------

/// The given vertices, and all of every piece that none of them holds: it can only follow the rig.
std::vector<Index> hold_loose_pieces(const TetMesh& mesh, const std::vector<Index>& fixed) {
  const Components pieces = connected_components(mesh);
  std::vector<char> is_fixed(mesh.vertices.size(), 0);
  for (const Index v : fixed) is_fixed[static_cast<std::size_t>(v)] = 1;
  std::vector<int> held(static_cast<std::size_t>(pieces.count), 0);
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    int count = 0;
    for (const Index v : mesh.elements[e]) count += is_fixed[static_cast<std::size_t>(v)];
    int& best = held[static_cast<std::size_t>(pieces.label[e])];
    best = std::max(best, count);
  }
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    if (held[static_cast<std::size_t>(pieces.label[e])] >= 3) continue;
    for (const Index v : mesh.elements[e]) is_fixed[static_cast<std::size_t>(v)] = 1;
  }
  std::vector<Index> result;
  for (std::size_t v = 0; v < is_fixed.size(); ++v)
    if (is_fixed[v]) result.push_back(static_cast<Index>(v));
  return result;
}

std::vector<Index> others(const std::vector<Index>& ascending, Index count) {
  std::vector<Index> result;
  std::size_t next = 0;
  for (Index v = 0; v < count; ++v) {
    if (next < ascending.size() && ascending[next] == v)
      ++next;
    else
      result.push_back(v);
  }
  return result;
}

// ---- basis ----------------------------------------------------------------------------------------------------------

// Three kinds of shapes share the basis (measured on the projection of full simulations: docs/theory.md):
//   linear modes         how flesh rings                                             4/9 of r
//   inertial responses   K⁻¹ M a, how flesh gives way when the rig moves it: to      3/9
//                        accelerations of the character's own clips, each in its pose, and of random motion around
//                        the neutral pose
//   modal derivatives    how both curve as they grow, weighted as in Eq. 16 of the   2/9
//                        2005 paper

/// `shapes` without their part in the span of the mass-orthonormal `basis`.
MatX without(const ElasticBody& body, const MatX& basis, MatX shapes) {
  const MatX M_basis = multiply_columns(body.consistent_mass(), basis);
  shapes -= basis * (M_basis.transpose() * shapes).eval();
  return shapes;
}

/// The basis with the `count` most important directions of the weighted shapes that it lacks.
Result<MatX> extend(const ElasticBody& body, const MatX& basis, MatX shapes, const VecX& weights, int count) {
  const Result<MassPca> pca = mass_pca(body.consistent_mass(), without(body, basis, std::move(shapes)), weights);
  if (!pca.ok()) return pca.error();
  const Eigen::Index more = std::min<Eigen::Index>(count, pca->basis.cols());
  MatX all(basis.rows(), basis.cols() + more);
  all << basis, pca->basis.leftCols(more);
  return mass_orthonormalize(body.consistent_mass(), std::move(all));
}

/// K⁻¹ M a in any shape of rest; the pattern is analysed once.
class InertialResponse {
 public:
  InertialResponse(const ElasticBody& body, FreeVertices free)
      : body_(body), free_(std::move(free)), K_(body.make_matrix()), f_(body.dof_count()) {}

  /// Responses in the shape of `posed`, one for each column of accelerations. False where it is not stable.
  bool solve(const ElasticBody& posed, const MatX& accelerations, Eigen::Ref<MatX> responses) {
    posed.internal_force_and_stiffness(VecX::Zero(body_.dof_count()), f_, K_);
    const Eigen::SparseMatrix<double> lower = K_.to_sparse_lower(free_.vertices());
    if (!analyzed_) factor_.analyze(lower, 3);
    analyzed_ = true;
    if (!factor_.factorize(lower)) return false;
    const MatX pushed = multiply_columns(body_.consistent_mass(), accelerations);
    MatX loads(3 * free_.count(), pushed.cols());
    for (Eigen::Index c = 0; c < pushed.cols(); ++c) loads.col(c) = free_.restrict(pushed.col(c));
    const MatX solved = factor_.solve(loads);
    for (Eigen::Index c = 0; c < pushed.cols(); ++c) responses.col(c) = free_.expand(solved.col(c));
    return true;
  }

 private:
  const ElasticBody& body_;
  FreeVertices free_;
  BlockMatrix K_;
  VecX f_;
  SparseFactor factor_;
  bool analyzed_ = false;
};

/// Each vertex's three numbers turned by its rotation, or turned back.
void turn(std::span<const Eigen::Vector4d> turns, bool back, Eigen::Ref<VecX> x) {
  for (std::size_t v = 0; v < turns.size(); ++v) {
    auto at = x.segment<3>(3 * static_cast<Eigen::Index>(v));
    const Quat q = unit_quaternion(turns[v].data());
    at = (back ? q.conjugate() : q) * Vec3(at);
  }
}

/// Rᵀ K_p⁻¹ M R a for every known moment: how flesh gives way in the pose where it is pushed. A posed shape can be
/// unstable where a rig crushes elements; such a moment counts for nothing.
MatX known_responses(const ElasticBody& body, const TetMesh& mesh, const Rig& rest, const FreeVertices& free,
                     const KnownMotion& motion) {
  MatX result = MatX::Zero(body.dof_count(), motion.accelerations.cols());
  constexpr std::int64_t grain = 8;
  parallel_ranges(result.cols(), grain, [&](std::int64_t begin, std::int64_t end) {
    InertialResponse response(body, free);
    for (std::int64_t c = begin; c < end; ++c) {
      const std::vector<Vec3> x = evaluate_all(rest, motion.moments[static_cast<std::size_t>(c)]);
      const std::vector<Eigen::Vector4d> turns = vertex_rotations(mesh, x);
      VecX a = motion.accelerations.col(c);
      turn(turns, false, a);
      const ElasticBody posed = body.posed(Eigen::Map<const VecX>(x.front().data(), body.dof_count()));
      if (response.solve(posed, a, result.middleCols(c, 1))) turn(turns, true, result.col(c));
    }
  });
  return result;
}

/// Responses to the known motion, and to random accelerations around the neutral pose. Both are brought to one size;
/// then random ones count a tenth: they are there for motion that the clips don't show.
Result<MatX> inertial_responses(const ElasticBody& body, const TetMesh& mesh, const Rig& rest,
                                std::span<const Index> fixed, const KnownMotion& motion, const MatX& random) {
  const Result<FreeVertices> free = FreeVertices::create(body, fixed);
  if (!free.ok()) return free.error();
  InertialResponse response(body, *free);
  MatX from_random(body.dof_count(), random.cols());
  if (!response.solve(body, random, from_random))
    return input_error("some flesh isn't held by any bone; mark it as rigid, or let a bone cross it");
  if (!(motion.accelerations.norm() > 0)) return from_random;
  const MatX known = known_responses(body, mesh, rest, *free, motion);
  MatX all(body.dof_count(), known.cols() + random.cols());
  constexpr double share = 0.1;
  all << known / motion.accelerations.norm(), from_random * (share / std::max(random.norm(), 1e-300));
  return all;
}

Result<MatX> add_derivatives(const ElasticBody& body, std::span<const Index> fixed, const Modes& modes,
                             const MatX& basis, int count, Progress& progress) {
  constexpr int most_differentiated = 20;  // n modes have n (n + 1) / 2 derivatives; high ones have no weight
  const int differentiated = std::min(static_cast<int>(modes.shapes.cols()), most_differentiated);
  Result<ModalDerivatives> derivatives = static_derivatives(body, fixed, modes, differentiated, progress);
  if (!derivatives.ok()) return derivatives.error();
  const VecX norms = mass_norms(body.consistent_mass(), derivatives->shapes);
  VecX weights = VecX::Zero(norms.size());
  for (Eigen::Index c = 0; c < norms.size(); ++c) {
    const auto [i, j] = derivatives->pairs[static_cast<std::size_t>(c)];
    const VecX& lambda = modes.eigenvalues;
    if (norms[c] > 1e-9 * norms.maxCoeff()) weights[c] = lambda[0] / lambda[i] * (lambda[0] / lambda[j]) / norms[c];
  }
  return extend(body, basis, std::move(derivatives->shapes), weights, count);
}

Result<MatX> make_basis(const ElasticBody& body, const Rig& rest, const KnownMotion& motion, double height, int size,
                        std::uint64_t seed, ReducedBody& reduced, Progress& progress) {
  const int linear = std::max(1, size * 4 / 9);
  const int responses = (size - linear) * 3 / 5;
  const Result<Modes> modes = compute_modes(body, reduced.fixed, {.count = linear}, progress);
  if (!modes.ok()) return modes.error();
  reduced.frequencies = modes->frequencies;
  if (size <= linear) return modes->shapes;
  progress.stage("responses to motion");
  std::mt19937_64 random(seed);
  Result<MatX> shapes = inertial_responses(body, reduced.mesh, rest, reduced.fixed, motion,
                                           random_accelerations(rest, rest.layout().neutral, height, 80, random));
  if (!shapes.ok()) return shapes.error();
  const Result<MatX> basis = extend(body, modes->shapes, std::move(*shapes), {}, responses);
  if (!basis.ok()) return basis.error();
  return add_derivatives(body, reduced.fixed, *modes, *basis, size - static_cast<int>(basis->cols()), progress);
}

/// A shape and its negative are the same. Which of them comes out of a solver is an accident of rounding, and all that
/// is drawn at random afterwards would depend on it; so each points along one fixed direction that no symmetry knows.
void choose_signs(MatX& U) {
  std::mt19937_64 random(1);
  const VecX along = VecX::NullaryExpr(U.rows(), [&] { return static_cast<double>(random() >> 11) * 0x1p-52 - 1; });
  for (Eigen::Index c = 0; c < U.cols(); ++c)
    if (along.dot(U.col(c)) < 0) U.col(c) *= -1;
}

/// Turns the basis so that UᵀKU is diagonal, ascending.
VecX diagonalize(const ElasticBody& body, MatX& U) {
  BlockMatrix K = body.make_matrix();
  VecX f(body.dof_count());
  body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), f, K);
  const Eigen::SelfAdjointEigenSolver<MatX> eigen(U.transpose() * multiply_columns(K, U));
  U = U * eigen.eigenvectors();
  choose_signs(U);
  return eigen.eigenvalues();
}

// ---- cubature -------------------------------------------------------------------------------------------------------

/// Elements with a vertex that can move; at most as many as fit into memory, evenly spread.
std::vector<Index> candidate_elements(const TetMesh& mesh, const std::vector<Index>& free) {
  std::vector<char> is_free(mesh.vertices.size(), 0);
  for (const Index v : free) is_free[static_cast<std::size_t>(v)] = 1;
  std::vector<Index> all;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    if (std::any_of(mesh.elements[e].begin(), mesh.elements[e].end(),
                    [&](Index v) { return is_free[static_cast<std::size_t>(v)] != 0; }))
      all.push_back(static_cast<Index>(e));
  }
  constexpr std::size_t most = 40'000;
  if (all.size() <= most) return all;
  std::vector<Index> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
  return some;
}

struct CubaturePair {
  Cubature elements, vertices;
};

/// How far the coordinates go: their static answers to the inertia of the known motion, none of them below a tenth of
/// the largest force. Without a known motion all get the same force. Flesh is taken to sway by no more than a
/// two-hundredth of the height: clips jump.
VecX typical_deviations(const ElasticBody& body, const MatX& basis, const VecX& stiffness, const MatX& accelerations,
                        double height) {
  const double largest = 0.005 * height;
  const VecX equal = equal_force_deviations(basis, stiffness, 0.005 * height);
  if (!(accelerations.norm() > 0)) return equal;
  const MatX f = basis.transpose() * multiply_columns(body.consistent_mass(), accelerations);
  const VecX force = (f.rowwise().squaredNorm() / static_cast<double>(f.cols())).cwiseSqrt();
  const VecX deviations = force.cwiseMax(0.1 * force.maxCoeff()).cwiseQuotient(stiffness);
  if (!(deviations.minCoeff() > 0)) return equal;
  const VecX squares = basis.cwiseAbs2() * deviations.cwiseAbs2();
  double sway = 0;
  for (Eigen::Index v = 0; v < squares.size(); v += 3) sway = std::max(sway, std::sqrt(squares.segment<3>(v).sum()));
  return deviations * std::min(1.0, largest / sway);
}

struct Training {
  int most_sites;
  double tolerance;
  double training_error = 0, error = 0;  ///< on samples that were and weren't trained with
};

/// Samples that are neither trained with nor looked at while sites are chosen judge the result.
template <class Sampler>
Cubature choose_sites(const Sampler& sample, int samples, Training& training, Progress& progress) {
  const CubatureSamples known = sample(samples), watched = sample(24);
  Cubature cubature =
      select_cubature(known, {.most_sites = training.most_sites, .tolerance = training.tolerance}, progress, &watched);
  training.training_error = cubature.training_error;
  training.error = cubature_error(sample(40), cubature);
  return cubature;
}

CubaturePair train(const ElasticBody& body, const Rig& rest, const ReduceSettings& settings, double height,
                   const VecX& deviations, const VecX& stiffness, const std::vector<Index>& candidates,
                   ReducedBody& reduced, Progress& progress) {
  std::mt19937_64 random(settings.seed);
  const int samples = std::max(120, static_cast<int>(reduced.basis.cols()));
  CubaturePair result;
  progress.stage("choosing elements");
  Training elastic{settings.cubature_elements, settings.cubature_tolerance};
  result.elements = choose_sites(
      [&](int count) {
        return elastic_samples(reduced.mesh, settings.material, reduced.basis, deviations, candidates, count, random);
      },
      samples, elastic, progress);
  for (Index& site : result.elements.sites) site = candidates[static_cast<std::size_t>(site)];
  reduced.elastic_training_error = elastic.training_error;
  reduced.elastic_error = elastic.error;

  // What counts of an inertial force is how far it moves the flesh, Λ⁻¹ f: a small error along a soft coordinate is
  // seen.
  const MatX responding = reduced.basis * (stiffness[0] * stiffness.cwiseInverse()).asDiagonal();
  progress.stage("choosing vertices");
  Training inertial{settings.cubature_vertices, settings.cubature_tolerance};
  result.vertices = choose_sites(
      [&](int count) { return inertial_samples(body, responding, rest, rest.layout().neutral, height, count, random); },
      samples, inertial, progress);
  reduced.inertial_training_error = inertial.training_error;
  reduced.inertial_error = inertial.error;
  return result;
}

// ---- the model ------------------------------------------------------------------------------------------------------

class ModelBuilder {
 public:
  ModelBuilder(const EmbeddedBody& body, const ReducedBody& reduced)
      : body_(body), reduced_(reduced), place_(body.mesh.vertices.size(), -1) {}

  PosedTet tet(const std::array<Index, 4>& vertices) {
    PosedTet result;
    Mat3 edges;
    for (std::size_t k = 0; k < 4; ++k) {
      result.points[k] = point(vertices[k]);
      if (k > 0) edges.col(static_cast<int>(k) - 1) = vertex(vertices[k]) - vertex(vertices[0]);
    }
    result.inverse_edges = edges.inverse();
    return result;
  }

  void add_elements(const Cubature& cubature) {
    for (std::size_t i = 0; i < cubature.sites.size(); ++i) {
      const auto e = static_cast<std::size_t>(cubature.sites[i]);
      const ElasticMaterial& material = reduced_.mesh.material_of(e);
      const double volume = element_shape(element_nodes(reduced_.mesh, e)).volume();
      model_.elements.push_back({tet(reduced_.mesh.elements[e]),
                                 cubature.weights[static_cast<Eigen::Index>(i)] * volume,
                                 lame_from(material.young, material.poisson)});
    }
  }
  void add_vertices(const Cubature& cubature, const ElasticBody& body) {
    for (std::size_t i = 0; i < cubature.sites.size(); ++i)
      model_.vertices.push_back({point(cubature.sites[i]), cubature.weights[static_cast<Eigen::Index>(i)] *
                                                               body.lumped_mass()[3 * cubature.sites[i]]});
  }
  void add_frames(const FrameSites& frames) {
    for (const auto& site : frames.sites) model_.sites.push_back(tet(site));
  }

  PoseSpaceModel finish(const FrameSites& frames) {
    const auto count = static_cast<Eigen::Index>(model_.points.size());
    model_.basis.resize(3 * count, reduced_.basis.cols());
    for (Eigen::Index k = 0; k < count; ++k) {
      const Index v = model_.points[static_cast<std::size_t>(k)];
      model_.basis.middleRows<3>(3 * k) = reduced_.basis.middleRows<3>(3 * v);
      model_.point_frames.push_back(frames.vertices[static_cast<std::size_t>(v)]);
    }
    model_.surface.basis = body_.embedding.interpolate(reduced_.basis);
    for (std::size_t i = 0; i < body_.embedding.size(); ++i) model_.surface.frames.push_back(surface_frame(i, frames));
    return std::move(model_);
  }
  PoseSpaceModel& model() { return model_; }

 private:
  const Vec3& vertex(Index v) const { return reduced_.mesh.vertices[static_cast<std::size_t>(v)]; }
  Index point(Index v) {
    Index& place = place_[static_cast<std::size_t>(v)];
    if (place < 0) {
      place = static_cast<Index>(model_.points.size());
      model_.points.push_back(v);
    }
    return place;
  }

  /// The blends of the element's vertices, mixed; the four heaviest sites stay.
  FrameBlend surface_frame(std::size_t i, const FrameSites& frames) const {
    std::vector<std::pair<double, Index>> mixed;
    const auto nodes = static_cast<std::size_t>(body_.embedding.nodes);
    for (std::size_t k = 0; k < nodes; ++k) {
      const double share = std::clamp(body_.embedding.weights[i * nodes + k], 0.0, 1.0);
      const FrameBlend& blend = frames.vertices[static_cast<std::size_t>(body_.embedding.vertices[i * nodes + k])];
      for (std::size_t s = 0; s < FrameBlend::most; ++s) {
        const auto found =
            std::find_if(mixed.begin(), mixed.end(), [&](const auto& entry) { return entry.second == blend.site[s]; });
        if (found != mixed.end())
          found->first += share * blend.weight[s];
        else
          mixed.emplace_back(share * blend.weight[s], blend.site[s]);
      }
    }
    std::sort(mixed.begin(), mixed.end(), std::greater<>());
    mixed.resize(FrameBlend::most, {0.0, mixed.front().second});
    FrameBlend result;
    double sum = 0;
    for (const auto& entry : mixed) sum += entry.first;
    for (std::size_t s = 0; s < FrameBlend::most; ++s) {
      result.site[s] = mixed[s].second;
      result.weight[s] = mixed[s].first / sum;
    }
    return result;
  }

  const EmbeddedBody& body_;
  const ReducedBody& reduced_;
  std::vector<Index> place_;
  PoseSpaceModel model_;
};

/// Scales every Young's modulus so that flesh sways as often as wanted.
Status tune_stiffness(const ReduceSettings& settings, ReducedBody& reduced) {
  for (int pass = 0; pass < (settings.frequency ? 2 : 1); ++pass) {
    const Result<ElasticBody> body = ElasticBody::create(reduced.mesh, settings.material);
    if (!body.ok()) return body.error();
    const Result<double> frequency = flesh_frequency(*body, reduced.fixed);
    if (!frequency.ok()) return frequency.error();
    reduced.flesh_frequency = *frequency;
    if (!settings.frequency || pass == 1) break;
    const double factor = std::pow(*settings.frequency / *frequency, 2);
    if (reduced.mesh.materials.empty()) set_uniform_material(reduced.mesh, default_material());
    for (ElasticMaterial& material : reduced.mesh.materials) material.young *= factor;
  }
  reduced.young = reduced.mesh.materials.empty() ? default_material().young : reduced.mesh.materials.front().young;
  for (const ElasticMaterial& material : reduced.mesh.materials)
    reduced.young = std::min(reduced.young, material.young);
  return {};
}

}  // namespace

Result<ReducedBody> reduce_body(const EmbeddedBody& body, std::shared_ptr<const Rig> rest, const KnownMotion& motion,
                                const ReduceSettings& settings, Progress& progress) {
  ReducedBody reduced;
  reduced.mesh = body.mesh;
  reduced.fixed = hold_loose_pieces(body.mesh, body.fixed_vertices);
  const std::vector<Index> free = others(reduced.fixed, static_cast<Index>(body.mesh.vertices.size()));
  if (free.empty())
    return input_error(
        "everything is held by bones or is a hard part, so nothing is left to be soft; see [bones] in the recipe");
  progress.stage("tuning the stiffness");
  SUPPLE_RETURN_IF_ERROR(tune_stiffness(settings, reduced));
  const Result<ElasticBody> elastic = ElasticBody::create(reduced.mesh, settings.material);
  if (!elastic.ok()) return elastic.error();

  auto start = Clock::now();
  const auto available = static_cast<int>(std::min<std::size_t>(3 * free.size(), 1'000'000));
  const double height = bounds_of(body.skin.vertices).size().maxCoeff();
  Result<MatX> basis =
      make_basis(*elastic, *rest, motion, height, std::clamp(settings.size, 1, std::max(1, available / 2)),
                 settings.seed, reduced, progress);
  if (!basis.ok()) return basis.error();
  reduced.basis = std::move(*basis);
  const VecX stiffness = diagonalize(*elastic, reduced.basis);
  reduced.modes_seconds = seconds_since(start);

  start = Clock::now();
  const CubaturePair cubature =
      train(*elastic, *rest, settings, height,
            typical_deviations(*elastic, reduced.basis, stiffness, motion.accelerations, height), stiffness,
            candidate_elements(reduced.mesh, free), reduced, progress);
  reduced.cubature_seconds = seconds_since(start);
  if (progress.cancelled()) return failure("cancelled");

  progress.stage("following the pose");
  std::vector<std::vector<Vec3>> shapes;
  for (const std::vector<double>& p : motion.poses) shapes.push_back(evaluate_all(*rest, p));
  const FrameSites frames = choose_frame_sites(reduced.mesh, free, shapes, settings.frames);
  reduced.frame_error = frames.error;
  ModelBuilder builder(body, reduced);
  builder.model().rest = std::move(rest);
  builder.model().material = settings.material;
  builder.model().stiffness = stiffness;
  builder.model().height = height;
  builder.add_elements(cubature.elements);
  builder.add_vertices(cubature.vertices, *elastic);
  builder.add_frames(frames);
  reduced.model = std::make_shared<const PoseSpaceModel>(builder.finish(frames));
  return reduced;
}

}  // namespace supple
