// SPDX-License-Identifier: Apache-2.0
// Cubature: planted solutions found again, errors on samples never seen, the same bits for any number of threads.
#include "supple/offline/cubature/cubature.h"

#include "supple/base/parallel.h"
#include "supple/fem/modes.h"
#include "supple/offline/cubature/cubature_samples.h"
#include "support/bodies.h"
#include "support/soft_limb.h"

#include <fstream>

namespace supple::cubature_test {
namespace {

/// Random sites, and totals made of few of them.
CubatureSamples planted(int sites, int size, int samples, const std::vector<Index>& chosen, const VecX& weights) {
  CubatureSamples result;
  result.site_size = 3;
  result.bases.emplace_back(random_vector(size * 3 * sites, 1).reshaped(size, 3 * sites).cast<float>());
  result.counts.push_back(samples);
  result.values = random_vector(samples * 3 * sites, 2).reshaped(samples, 3 * sites).cast<float>();
  result.totals = MatX::Zero(size, samples);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Eigen::Index first = 3 * static_cast<Eigen::Index>(chosen[i]);
    result.totals += weights[static_cast<Eigen::Index>(i)] * result.bases[0].middleCols(first, 3).cast<double>() *
                     result.values.middleCols(first, 3).transpose().cast<double>();
  }
  result.length = result.totals.norm();
  return result;
}

TEST(Cubature, FindsAPlantedSolution) {
  const std::vector<Index> chosen{3, 17, 40, 41, 77, 120, 199};
  VecX weights(7);
  weights << 1, 3, 0.5, 2, 5, 0.7, 1.3;
  const CubatureSamples samples = planted(200, 8, 30, chosen, weights);
  const Cubature found = select_cubature(samples, {.most_sites = 0, .tolerance = 1e-4, .max_iterations = 10});
  EXPECT_LT(found.training_error, 1e-4);
  // What else was taken along weighs nothing.
  std::vector<double> all(200, 0.0);
  for (std::size_t i = 0; i < found.sites.size(); ++i)
    all[to_size(found.sites[i])] = found.weights[static_cast<Eigen::Index>(i)];
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    double& w = all[to_size(chosen[i])];
    EXPECT_NEAR(w, weights[static_cast<Eigen::Index>(i)], 1e-3);
    w = 0;
  }
  for (const double w : all) EXPECT_LT(w, 1e-3);
  EXPECT_TRUE(std::is_sorted(found.sites.begin(), found.sites.end()));
  EXPECT_GT(found.weights.minCoeff(), 0);
}

TEST(Cubature, ErrorIsWhatItSays) {
  const CubatureSamples samples = planted(30, 5, 12, {2, 9}, Eigen::Vector2d(1, 2));
  const Cubature some{{2, 20}, Eigen::Vector2d(1, 0.5), 0};
  MatX sum = MatX::Zero(5, 12);
  for (std::size_t i = 0; i < 2; ++i)
    for (int d = 0; d < 3; ++d)
      sum += some.weights[static_cast<Eigen::Index>(i)] * samples.bases[0].col(3 * some.sites[i] + d).cast<double>() *
             samples.values.col(3 * some.sites[i] + d).transpose().cast<double>();
  EXPECT_NEAR(cubature_error(samples, some), (sum - samples.totals).norm() / samples.totals.norm(), 1e-6);
  EXPECT_NEAR(cubature_error(samples, {{}, VecX(), 0}), 1, 1e-12);
  const Cubature fitted = fit_weights(samples, std::vector<Index>{2, 9, 20});
  EXPECT_LT(fitted.training_error, 1e-5);
  EXPECT_NEAR(cubature_error(samples, fitted), fitted.training_error, 1e-6);
}

// ---- on a body ------------------------------------------------------------------------------------------------------

struct Body {
  SoftLimb limb = make_soft_limb();
  ElasticBody body = body_of(limb.body.mesh, MaterialModel::stable_neo_hookean);
  Modes modes = must(compute_modes(body, limb.body.fixed_vertices, {.count = 10}));
  std::vector<Index> elements;
  std::vector<std::vector<Vec3>> shapes;  ///< neutral, bent

  Body() {
    shapes = {limb.body.mesh.vertices, evaluate_all(*limb.rig.rig(), limb_pose(limb, {{}, 0.8, -0.3}).p)};

    for (std::size_t e = 0; e < limb.body.mesh.elements.size(); ++e) elements.push_back(static_cast<Index>(e));
  }
  CubatureSamples elastic(int count, std::uint64_t seed, MaterialModel model = MaterialModel::stable_neo_hookean) {
    std::mt19937_64 random(seed);
    double largest = 0;  // of the softest mode at a vertex
    for (Eigen::Index v = 0; v < modes.shapes.rows(); v += 3)
      largest = std::max(largest, modes.shapes.col(0).segment<3>(v).norm());
    const MatX spread =
        0.03 / largest * modes.eigenvalues[0] * modes.eigenvalues.cwiseInverse().asDiagonal().toDenseMatrix();
    const MatX stiffness = modes.eigenvalues.asDiagonal();
    const PoseBasis neutral{{},
                            limb.body.mesh.vertices,
                            std::vector<Mat3>(limb.body.mesh.vertices.size(), Mat3::Identity()),
                            modes.shapes,
                            {}};
    return elastic_samples(
        {limb.body.mesh, model, neutral, BasisDirections::rotating, stiffness, spread, elements, shapes}, count,
        random);
  }
  CubatureSamples inertial(int count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const Rig& rest = *limb.rig.rig();
    return inertial_samples(body, modes.shapes, rest, rest.layout().neutral, 1.0, count, random);
  }
};

TEST(CubatureSamples, AllSitesTogetherAreTheTotals) {
  Body b;
  const CubatureSamples elastic = b.elastic(6, 1);
  EXPECT_LT(cubature_error(elastic, {b.elements, VecX::Ones(std::ssize(b.elements)), 0}), 1e-5);
  // Samples are what is left of unit forces when the linear answer is taken away.
  const MatX linear = b.modes.eigenvalues.asDiagonal() * elastic.coordinates;
  for (Eigen::Index k = 0; k < 6; ++k) EXPECT_NEAR((elastic.totals + linear).col(k).norm(), 1, 1e-12);
  // Also of inertia: sites see the basis as consistent mass does.
  const CubatureSamples inertial = b.inertial(6, 1);
  std::vector<Index> vertices(b.limb.body.mesh.vertices.size());
  for (std::size_t v = 0; v < vertices.size(); ++v) vertices[v] = static_cast<Index>(v);
  EXPECT_LT(cubature_error(inertial, {vertices, VecX::Ones(std::ssize(vertices)), 0}), 1e-5);
}

TEST(Cubature, HoldsOnSamplesItHasNotSeen) {
  Body b;
  for (const bool elastic : {true, false}) {
    const CubatureSamples training = elastic ? b.elastic(80, 1) : b.inertial(80, 1);
    const CubatureSamples unseen = elastic ? b.elastic(40, 77) : b.inertial(40, 77);
    const Cubature cubature = select_cubature(training);
    EXPECT_LE(cubature.training_error, 0.02);
    EXPECT_LE(cubature_error(unseen, cubature), 0.03) << (elastic ? "elastic" : "inertial");
    EXPECT_LT(cubature.sites.size(), to_size(8 * training.size() + 64));
  }
}

TEST(Cubature, MoreSitesMakeLessError) {
  Body b;
  const CubatureSamples training = b.elastic(80, 1);
  const CubatureSamples unseen = b.elastic(40, 77);
  double before = 1;
  for (const int most : {10, 20, 40, 80, 160}) {
    const Cubature cubature = select_cubature(training, {.most_sites = most});
    EXPECT_LE(cubature.sites.size(), to_size(most));
    const double error = cubature_error(unseen, cubature);
    measured("elastic cubature error with at most " + std::to_string(most) + " elements", error);
    EXPECT_LT(error, before) << most;
    before = error;
  }
  EXPECT_LT(before, 0.01);
}

TEST(Cubature, EveryMaterialCanBeTrained) {
  Body b;
  for (const MaterialModel model : all_models) {
    const Cubature cubature = select_cubature(b.elastic(40, 1, model));
    // Classical neo-Hookean and StVK break down under crushing; moderate samples must stay finite for all.
    EXPECT_LE(cubature.training_error, 0.02) << to_string(model);
  }
}

/// Largest memory this process has held since the last reset [MiB]; 0 where the system doesn't tell.
double peak_memory(bool reset) {
  if (reset) std::ofstream("/proc/self/clear_refs") << 5;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

TEST(Cubature, NeverFormsTheWholeMatrix) {
  // 60 samples of 20 numbers at 40,000 sites: a matrix of 183 MiB, told by 37 MiB.
  const std::vector<Index> chosen{5, 1000, 22'222, 39'999};
  const CubatureSamples samples = planted(40'000, 20, 60, chosen, VecX::Ones(4));
  const double before = peak_memory(true);
  if (!(before > 0)) GTEST_SKIP() << "the system doesn't tell how much memory a process holds";
  const Cubature cubature = select_cubature(samples, {.most_sites = 0, .tolerance = 1e-4});
  EXPECT_LT(cubature.training_error, 1e-4);
  EXPECT_LT(peak_memory(false) - before, 60);
}

TEST(Cubature, SameBitsForAnyNumberOfThreads) {
  Body b;
  const int before = thread_count();
  std::vector<Cubature> results;
  for (const int threads : {1, 2, 5}) {
    set_thread_count(threads);
    results.push_back(select_cubature(b.elastic(40, 3)));
  }
  set_thread_count(before);
  for (const Cubature& other : results) {
    EXPECT_EQ(other.sites, results[0].sites);
    EXPECT_EQ(other.weights, results[0].weights);
  }
}

}  // namespace
}  // namespace supple::cubature_test
