// SPDX-License-Identifier: Apache-2.0
#include "supple/export/soft_samples.h"

#include "supple/base/parallel.h"

#include <fmt/format.h>

#include <cmath>

namespace supple {
namespace {

/// The largest length, not a number where one isn't.
double longest(std::span<const Vec3> vectors) {
  constexpr std::int64_t grain = 4096;
  std::vector<double> largest(vectors.size() / grain + 1, 0.0);
  parallel_ranges(static_cast<std::int64_t>(vectors.size()), grain, [&](std::int64_t begin, std::int64_t end) {
    double most = 0, sum = 0;
    for (std::int64_t v = begin; v < end; ++v) {
      const double squared = vectors[to_size(v)].squaredNorm();
      most = std::max(most, squared);
      sum += squared;
    }
    largest[to_size(begin / grain)] = std::isfinite(sum) ? most : sum;
  });
  double most = 0;
  for (const double squared : largest) {
    if (!std::isfinite(squared)) return squared;
    most = std::max(most, squared);
  }
  return std::sqrt(most);
}

}  // namespace

SoftSamples::SoftSamples(SoftPlayer& player, std::vector<MeshFit*> fits, std::size_t memory)
    : player_(player), fits_(std::move(fits)), made_(to_size(player.frame_count()), false) {
  const auto vertices = to_size(player.meshes().vertex_count());
  keeps_ = 3 * sizeof(float) * vertices * made_.size() <= memory;
  for (const MeshFit* fit : fits_) kept_.emplace_back(3 * fit->vertex_count(), keeps_ ? player.frame_count() : 1);
}

Status SoftSamples::make(Index f) {
  const std::span<const Vec3> displacement = player_.play(f);
  const double most = longest(displacement);
  if (!std::isfinite(most))
    return failure(fmt::format("The soft motion of {} isn't finite at frame {}; bake it with a smaller step.",
                               player_.character().name, f));
  peak_ = std::max(peak_, most);
  for (std::size_t m = 0; m < fits_.size(); ++m) {
    auto column = kept_[m].col(keeps_ ? f : 0);
    const auto first = to_size(player_.meshes().first_vertex()[m]);
    const auto count = to_size(fits_[m]->vertex_count());
    fits_[m]->make_sample(std::span(player_.meshes().matrices()).subspan(first, count),
                          displacement.subspan(first, count), {column.data(), 3 * count});
  }
  made_[to_size(f)] = keeps_;
  return {};
}

Status SoftSamples::gather(std::span<const Index> frames, std::vector<Eigen::MatrixXf>& samples) {
  samples.resize(fits_.size());
  for (std::size_t m = 0; m < fits_.size(); ++m)
    samples[m].resize(kept_[m].rows(), static_cast<Eigen::Index>(frames.size()));
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!made_[to_size(frames[i])]) SUPPLE_RETURN_IF_ERROR(make(frames[i]));
    for (std::size_t m = 0; m < fits_.size(); ++m)
      samples[m].col(static_cast<Eigen::Index>(i)) = kept_[m].col(keeps_ ? frames[i] : 0);
  }
  return {};
}

}  // namespace supple
