// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/cubature/cubature.h"

#include "supple/base/parallel.h"
#include "supple/math/dense/nonnegative_least_squares.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace supple {
namespace {

using Matrix = CubatureSamples::Matrix;

/// Calls with each pose's basis and the range of its samples.
template <class Visit>
void each_pose(const CubatureSamples& samples, Visit visit) {
  Eigen::Index first = 0;
  for (std::size_t i = 0; i < samples.bases.size(); ++i) {
    visit(samples.bases[i], first, samples.counts[i]);
    first += samples.counts[i];
  }
}

/// Column e of the matrix that is never formed: D_eᵀ s_ek for all k, one beside the other.
Matrix column(const CubatureSamples& samples, Index site) {
  const Eigen::Index at = static_cast<Eigen::Index>(site) * samples.site_size;
  Matrix result(samples.size(), samples.samples());
  each_pose(samples, [&](const Matrix& basis, Eigen::Index first, Eigen::Index count) {
    result.middleCols(first, count).noalias() =
        basis.middleCols(at, samples.site_size) * samples.values.block(first, at, count, samples.site_size).transpose();
  });
  return result;
}

Matrix columns_of(const CubatureSamples& samples, std::span<const Index> sites) {
  Matrix result(samples.size() * samples.samples(), static_cast<Eigen::Index>(sites.size()));
  parallel_for(static_cast<std::int64_t>(sites.size()), 1, [&](std::int64_t i) {
    const Matrix c = column(samples, sites[to_size(i)]);
    result.col(i) = Eigen::Map<const Eigen::VectorXf>(c.data(), c.size());
  });
  return result;
}

Eigen::Map<const VecX> stacked(const MatX& matrix) { return {matrix.data(), matrix.size()}; }

VecX column_lengths(const CubatureSamples& samples) {
  VecX lengths(samples.sites());
  parallel_for(samples.sites(), 64, [&](std::int64_t e) {
    // |D s|² = trace((sᵀs)(DᵀD)), both d × d: cheaper than the column itself.
    const Eigen::Index at = e * samples.site_size;
    float square = 0;
    each_pose(samples, [&](const Matrix& basis, Eigen::Index first, Eigen::Index count) {
      const Matrix d = basis.middleCols(at, samples.site_size);
      const Matrix s = samples.values.block(first, at, count, samples.site_size);
      const Matrix dd = d.transpose() * d;
      const Matrix ss = s.transpose() * s;
      square += dd.cwiseProduct(ss).sum();
    });
    lengths[e] = std::sqrt(std::max(0.0F, square));
  });
  return lengths;
}

/// Aᵀ ρ with columns scaled to unit length.
VecX correlations(const CubatureSamples& samples, const MatX& residual, const VecX& lengths) {
  const Matrix rho = residual.cast<float>();
  VecX result = VecX::Zero(samples.sites());
  parallel_ranges(samples.sites(), 64, [&](std::int64_t begin, std::int64_t end) {
    const Eigen::Index d = samples.site_size;
    each_pose(samples, [&](const Matrix& basis, Eigen::Index first, Eigen::Index count) {
      const Matrix product =
          rho.middleCols(first, count).transpose() * basis.middleCols(begin * d, (end - begin) * d);  // T × d·sites
      for (std::int64_t e = begin; e < end; ++e)
        result[e] +=
            product.middleCols((e - begin) * d, d).cwiseProduct(samples.values.block(first, e * d, count, d)).sum();
    });
    for (std::int64_t e = begin; e < end; ++e) result[e] = lengths[e] > 0 ? result[e] / lengths[e] : 0;
  });
  return result;
}

/// AᵀA in double, by blocks of rows: products in single precision would square the noise of A in the weights.
MatX gram(const Matrix& A) {
  constexpr Eigen::Index rows = 1024, columns = 64;
  MatX result = MatX::Zero(A.cols(), A.cols());
  parallel_ranges(A.cols(), columns, [&](std::int64_t begin, std::int64_t end) {
    for (Eigen::Index row = 0; row < A.rows(); row += rows) {
      const Eigen::Index count = std::min(rows, A.rows() - row);
      const MatX left = A.block(row, 0, count, end).cast<double>();  // the upper triangle only
      result.block(0, begin, end, end - begin) += left.transpose() * left.rightCols(end - begin);
    }
  });
  result.triangularView<Eigen::StrictlyLower>() = result.transpose();
  return result;
}

struct Fit {
  Cubature cubature;
  MatX residual;  ///< b − A w
};

/// All sites keep their place; weights of some may be zero.
Fit fit_all(const CubatureSamples& samples, std::vector<Index> sites) {
  const Matrix A = columns_of(samples, sites);
  const VecX b = stacked(samples.totals);
  const VecX h = (A.cast<double>().transpose() * b).eval();
  Fit result;
  result.cubature.weights = nonnegative_least_squares(gram(A), h).cwiseMax(0.0);
  const VecX residual = b - A.cast<double>() * result.cubature.weights;
  result.residual = Eigen::Map<const MatX>(residual.data(), samples.size(), samples.samples());
  result.cubature.training_error = residual.norm() / samples.length;
  result.cubature.sites = std::move(sites);
  return result;
}

Fit fit(const CubatureSamples& samples, std::vector<Index> sites) {
  std::sort(sites.begin(), sites.end());
  Fit result = fit_all(samples, std::move(sites));
  std::vector<Index> kept;
  std::vector<double> weights;
  for (std::size_t i = 0; i < result.cubature.sites.size(); ++i) {
    const double w = result.cubature.weights[static_cast<Eigen::Index>(i)];
    if (w <= 0) continue;
    kept.push_back(result.cubature.sites[i]);
    weights.push_back(w);
  }
  result.cubature.sites = std::move(kept);
  result.cubature.weights = Eigen::Map<const VecX>(weights.data(), static_cast<Eigen::Index>(weights.size()));
  return result;
}

/// The places of the `count` largest positive entries.
std::vector<Index> largest(const VecX& values, Eigen::Index count) {
  std::vector<Index> order;
  for (Eigen::Index i = 0; i < values.size(); ++i)
    if (values[i] > 0) order.push_back(static_cast<Index>(i));
  const auto keep = std::min<std::size_t>(order.size(), to_size(count));
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(keep), order.end(),
                    [&](Index a, Index b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
  order.resize(keep);
  std::sort(order.begin(), order.end());
  return order;
}

/// As many samples as `most` weights need, eight equations for each of them: random sums of the samples, which keep the
/// lengths of residuals in the mean (Johnson & Lindenstrauss 1984). Sites are chosen by them in a fraction of the time.
CubatureSamples sketched(const CubatureSamples& samples, Eigen::Index most) {
  constexpr Eigen::Index equations = 8, least = 64, quick = 20'000;
  const Eigen::Index wanted = std::max(least, equations * most / std::max<Eigen::Index>(1, samples.size()));
  if (samples.size() * samples.samples() < quick || 2 * wanted > samples.samples()) return samples;
  CubatureSamples result;
  result.site_size = samples.site_size;
  result.bases = samples.bases;
  result.length = samples.length;
  for (const Eigen::Index count : samples.counts)
    result.counts.push_back(std::min(count, (wanted * count + samples.samples() - 1) / samples.samples()));
  const Eigen::Index all = std::accumulate(result.counts.begin(), result.counts.end(), Eigen::Index{0});
  result.values.resize(all, samples.values.cols());
  result.totals.resize(samples.totals.rows(), all);
  std::mt19937_64 random(1);
  Eigen::Index from = 0, to = 0;
  for (std::size_t i = 0; i < samples.counts.size(); ++i) {
    Matrix signs(result.counts[i], samples.counts[i]);
    const float size = 1 / std::sqrt(static_cast<float>(signs.rows()));
    for (Eigen::Index k = 0; k < signs.size(); ++k) signs.data()[k] = (random() & 1U) != 0 ? size : -size;
    parallel_ranges(samples.values.cols(), 4096, [&](std::int64_t begin, std::int64_t end) {
      result.values.block(to, begin, signs.rows(), end - begin).noalias() =
          signs * samples.values.block(from, begin, signs.cols(), end - begin);
    });
    result.totals.middleCols(to, signs.rows()) =
        samples.totals.middleCols(from, signs.cols()) * signs.cast<double>().transpose();
    from += signs.cols();
    to += signs.rows();
  }
  return result;
}

class Pursuit {
 public:
  Pursuit(const CubatureSamples& samples) : samples_(samples), lengths_(column_lengths(samples)) {
    best_.residual = samples.totals;
    best_.cubature.training_error = samples.totals.norm() / samples.length;
  }

  const Fit& best() const { return best_; }

  /// Hard thresholding pursuit with at most `count` sites, from the best choice so far.
  void run(Eigen::Index count, int max_iterations) {
    Fit current = best_;
    std::vector<Index> previous;
    for (int iteration = 0; iteration < max_iterations; ++iteration) {
      std::vector<Index> chosen = largest(gradient_step(current), count);
      if (chosen == previous || chosen.empty()) break;
      previous = chosen;
      current = fit(samples_, std::move(chosen));
      if (current.cubature.training_error < best_.cubature.training_error) best_ = current;
    }
  }

  /// Keeps the sites that have weight and fills up to `count` with newcomers, the best of each part of the sites in
  /// their order. The sites that pursuit finds largest lie close together and say the same; where all but a few of them
  /// lose their weight, more of them are no help.
  void fill_up(Eigen::Index count, int rounds) {
    for (int round = 0; round < rounds; ++round) {
      std::vector<Index> sites = best_.cubature.sites;
      const Eigen::Index room = count - static_cast<Eigen::Index>(sites.size());
      if (room <= 0) return;
      for (const Index site : best_of_each_part(correlations(samples_, best_.residual, lengths_), room))
        if (!std::binary_search(best_.cubature.sites.begin(), best_.cubature.sites.end(), site)) sites.push_back(site);
      Fit filled = fit(samples_, std::move(sites));
      if (!(filled.cubature.training_error < best_.cubature.training_error)) return;
      best_ = std::move(filled);
    }
  }

 private:
  static std::vector<Index> best_of_each_part(const VecX& values, Eigen::Index parts) {
    std::vector<Index> result;
    for (Eigen::Index part = 0; part < parts; ++part) {
      const Eigen::Index begin = part * values.size() / parts, end = (part + 1) * values.size() / parts;
      if (begin == end) continue;
      Eigen::Index at = 0;
      if (values.segment(begin, end - begin).maxCoeff(&at) > 0) result.push_back(static_cast<Index>(begin + at));
    }
    return result;
  }

  /// w + μ g in units of unit columns; μ = |g_S|² / |A g_S|² minimises along the gradient g on its own support S.
  VecX gradient_step(const Fit& from) const {
    const VecX g = correlations(samples_, from.residual, lengths_);
    VecX w = VecX::Zero(samples_.sites());
    const Cubature& c = from.cubature;
    for (std::size_t i = 0; i < c.sites.size(); ++i)
      w[c.sites[i]] = c.weights[static_cast<Eigen::Index>(i)] * lengths_[c.sites[i]];
    return w + step_length(g, c) * g;
  }
  double step_length(const VecX& g, const Cubature& c) const {
    std::vector<Index> support = c.sites;
    if (support.empty()) support = largest(g, 64);
    VecX direction(static_cast<Eigen::Index>(support.size()));
    for (std::size_t i = 0; i < support.size(); ++i) direction[static_cast<Eigen::Index>(i)] = g[support[i]];
    // On the fitted support the gradient vanishes; the newcomers decide.
    if (direction.norm() < 0.1 * g.norm()) {
      support = largest(g, std::max<Eigen::Index>(64, static_cast<Eigen::Index>(support.size())));
      direction.resize(static_cast<Eigen::Index>(support.size()));
      for (std::size_t i = 0; i < support.size(); ++i) direction[static_cast<Eigen::Index>(i)] = g[support[i]];
    }
    const Matrix A = columns_of(samples_, support);
    VecX scaled = direction;
    for (std::size_t i = 0; i < support.size(); ++i)
      scaled[static_cast<Eigen::Index>(i)] /= std::max(lengths_[support[i]], 1e-30);
    const double denominator = (A.cast<double>() * scaled).squaredNorm();
    return denominator > 0 ? direction.squaredNorm() / denominator : 0;
  }

  const CubatureSamples& samples_;
  VecX lengths_;
  Fit best_;
};

}  // namespace

MatX cubature_residual(const CubatureSamples& samples, const Cubature& cubature) {
  const VecX sums = columns_of(samples, cubature.sites).cast<double>() * cubature.weights;
  return Eigen::Map<const MatX>(sums.data(), samples.size(), samples.samples()) - samples.totals;
}

double cubature_error(const CubatureSamples& samples, const Cubature& cubature) {
  return cubature_residual(samples, cubature).norm() / samples.length;
}

Cubature fit_weights(const CubatureSamples& samples, std::span<const Index> sites) {
  return fit_all(samples, {sites.begin(), sites.end()}).cubature;
}

std::vector<Cubature> fit_blended_weights(std::span<const CubatureSamples> samples, const MatX& shares,
                                          std::span<const Index> sites) {
  constexpr int sweeps = 3;
  const auto count = static_cast<Eigen::Index>(samples.size());
  std::vector<MatX> G;
  std::vector<VecX> h;
  for (const CubatureSamples& each : samples) {
    const Matrix A = columns_of(each, sites);
    G.push_back(gram(A));
    h.emplace_back(A.cast<double>().transpose() * stacked(each.totals));
  }
  MatX w = MatX::Zero(std::ssize(sites), shares.cols());
  const auto fit_pose = [&](Eigen::Index pose, double least_share) {
    MatX all = MatX::Zero(w.rows(), w.rows());
    VecX right = VecX::Zero(w.rows());
    for (Eigen::Index k = 0; k < count; ++k) {
      const double share = shares(k, pose);
      if (std::abs(share) < least_share) continue;
      const VecX others = w * shares.row(k).transpose() - share * w.col(pose);
      all += share * share * G[to_size(k)];
      right += share * (h[to_size(k)] - G[to_size(k)] * others);
    }
    w.col(pose) = nonnegative_least_squares(all, right).cwiseMax(0.0);
  };
  for (Eigen::Index pose = 0; pose < shares.cols(); ++pose) fit_pose(pose, 0.999);
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (Eigen::Index pose = 0; pose < shares.cols(); ++pose) fit_pose(pose, 1e-6);
  std::vector<Cubature> result;
  for (Eigen::Index pose = 0; pose < shares.cols(); ++pose)
    result.push_back({{sites.begin(), sites.end()}, w.col(pose), 0});
  return result;
}

CubatureSamples joined(std::vector<CubatureSamples> poses) {
  if (poses.size() == 1) return std::move(poses.front());
  CubatureSamples all;
  all.site_size = poses.front().site_size;
  Eigen::Index count = 0;
  double square = 0;
  for (const CubatureSamples& pose : poses) count += pose.samples(), square += pose.length * pose.length;
  all.values.resize(count, poses.front().values.cols());
  all.totals.resize(poses.front().totals.rows(), count);
  all.coordinates.resize(poses.front().coordinates.rows(), count);
  all.length = std::sqrt(square);
  Eigen::Index first = 0;
  for (CubatureSamples& pose : poses) {
    all.values.middleRows(first, pose.samples()) = pose.values;
    all.totals.middleCols(first, pose.samples()) = pose.totals;
    if (pose.coordinates.size() > 0) all.coordinates.middleCols(first, pose.samples()) = pose.coordinates;
    first += pose.samples();
    for (std::size_t i = 0; i < pose.bases.size(); ++i) {
      all.bases.push_back(std::move(pose.bases[i]));
      all.counts.push_back(pose.counts[i]);
    }
  }
  return all;
}

CubatureSamples of_pose(const CubatureSamples& joined, std::size_t pose, std::span<const Index> sites) {
  Eigen::Index first = 0;
  for (std::size_t i = 0; i < pose; ++i) first += joined.counts[i];
  const Eigen::Index count = joined.counts[pose], d = joined.site_size;
  CubatureSamples own;
  own.site_size = joined.site_size;
  own.counts = {count};
  own.bases.emplace_back(joined.size(), d * std::ssize(sites));
  own.values.resize(count, d * std::ssize(sites));
  for (std::size_t k = 0; k < sites.size(); ++k) {
    const auto to = d * static_cast<Eigen::Index>(k), from = d * Eigen::Index{sites[k]};
    own.bases[0].middleCols(to, d) = joined.bases[pose].middleCols(from, d);
    own.values.middleCols(to, d) = joined.values.block(first, from, count, d);
  }
  own.totals = joined.totals.middleCols(first, count);
  own.coordinates = joined.coordinates.middleCols(first, count);
  own.length = std::sqrt(static_cast<double>(count));
  return own;
}

Cubature select_cubature(const CubatureSamples& samples, const CubatureSettings& settings, Progress& progress,
                         const CubatureSamples* unknown) {
  return select_cubature(samples, settings, progress, [&](const Cubature& best) {
    if (settings.most_sites > 0 || best.training_error > settings.tolerance) return false;
    return unknown == nullptr || cubature_error(*unknown, best) <= 1.25 * settings.tolerance;
  });
}

Cubature select_cubature(const CubatureSamples& samples, const CubatureSettings& settings, Progress& progress,
                         const std::function<bool(const Cubature&)>& good_enough) {
  const Eigen::Index most =
      std::min<Eigen::Index>(samples.sites(), settings.most_sites > 0 ? settings.most_sites : 8 * samples.size() + 64);
  const CubatureSamples sums = sketched(samples, most);
  Pursuit pursuit(sums);
  // Grown in steps: each starts from what the last one found, and stops where the tolerance is reached.
  for (Eigen::Index count = std::min<Eigen::Index>(most, std::max<Eigen::Index>(16, samples.size()));;) {
    pursuit.run(count, settings.max_iterations);
    pursuit.fill_up(count, settings.max_iterations);
    progress.update(static_cast<double>(count) / static_cast<double>(most));
    if (count >= most || progress.cancelled() || good_enough(pursuit.best().cubature)) break;
    count = std::min(most, count + std::max<Eigen::Index>(8, count / 8));
  }
  return fit(samples, pursuit.best().cubature.sites).cubature;
}

}  // namespace supple
