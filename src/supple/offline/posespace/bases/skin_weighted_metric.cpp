// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/bases/skin_weighted_metric.h"

#include "supple/math/dense/decompositions.h"
#include "supple/offline/modes/mass_pca.h"

#include <algorithm>

namespace supple {

BlockMatrix skin_weighted_metric(const ElasticBody& body, const Embedding* skin) {
  BlockMatrix metric = body.make_matrix();
  if (skin == nullptr || skin->size() == 0) {
    metric.combine(0, 1, body.consistent_mass());
    return metric;
  }
  const double share = body.lumped_mass().sum() / 3 / static_cast<double>(skin->size());
  const auto nodes = to_size(skin->nodes);
  for (std::size_t k = 0; k < skin->size(); ++k) {
    const Index* vertex = skin->vertices.data() + nodes * k;
    std::vector<double> w(nodes);
    double sum = 0;
    for (std::size_t a = 0; a < nodes; ++a) sum += w[a] = std::max(0.0, skin->weights[nodes * k + a]);
    for (std::size_t a = 0; a < nodes; ++a)
      for (std::size_t b = 0; b < nodes; ++b)
        metric.block_at(vertex[a], vertex[b]) += share * (w[a] / sum) * (w[b] / sum) * Mat3::Identity();
  }
  metric.combine(0.5, 0.5, body.consistent_mass());
  return metric;
}

MatX principal_shapes(const BlockMatrix& metric, const MatX& shapes, int most) {
  if (shapes.cols() == 0 || most <= 0) return MatX(shapes.rows(), 0);
  const MatX gram = shapes.transpose() * multiply_columns(metric, shapes);
  const SymmetricEigen eigen = symmetric_eigen(0.5 * (gram + gram.transpose()));
  const VecX values = eigen.values.reverse();
  Eigen::Index count = 0;
  while (count < std::min<Eigen::Index>(most, values.size()) && values[count] > 1e-14 * values[0]) ++count;
  MatX directions = shapes * eigen.vectors.rightCols(count).rowwise().reverse();
  for (Eigen::Index c = 0; c < count; ++c) directions.col(c) /= std::sqrt(values[c]);
  return directions;
}

}  // namespace supple
