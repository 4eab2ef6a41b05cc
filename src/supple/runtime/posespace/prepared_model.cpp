// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/prepared_model.h"

#include "supple/runtime/posespace/level_of_detail.h"

#include <cmath>

namespace supple {
namespace {

int padded(int count, int width) { return (count + width - 1) / width * width; }

BlockColumns block_columns(const std::vector<Index>& columns, int width) {
  return {{columns.begin(), columns.end()}, padded(static_cast<int>(columns.size()), width)};
}

template <class T>
PoseMatrices<T> pose_matrices(const std::vector<MatX>& matrices, std::size_t rows, int stride) {
  PoseMatrices<T> result{rows, static_cast<std::size_t>(stride), {}};
  result.values.assign(matrices.size() * rows * result.stride, T(0));
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const MatX& matrix = matrices[i];
    T* target = result.values.data() + i * rows * result.stride;
    for (Eigen::Index r = 0; r < matrix.rows(); ++r)
      for (Eigen::Index c = 0; c < matrix.cols(); ++c) target[r * stride + c] = static_cast<T>(matrix(r, c));
  }
  return result;
}

/// Whole batches of lanes per pose; unused lanes get `filler`.
template <class T, class Lanes>
std::vector<Lanes> lanes_of(const MatX& values, std::size_t batches, T filler) {
  constexpr auto width = static_cast<std::size_t>(Lanes::width);
  std::vector<Lanes> result(batches * static_cast<std::size_t>(values.cols()), Lanes(filler));
  for (Eigen::Index pose = 0; pose < values.cols(); ++pose) {
    for (Eigen::Index e = 0; e < values.rows(); ++e) {
      const auto place = static_cast<std::size_t>(e);
      result[static_cast<std::size_t>(pose) * batches + place / width].set(static_cast<int>(place % width),
                                                                           static_cast<T>(values(e, pose)));
    }
  }
  return result;
}

/// From nine rows per element to nine vectors per column of a batch, columns divided by their `scale`; `stride` vectors
/// from column to column.
template <class T, class Vector>
void store_gradients(const MatX& gradients, const VecX& scale, Eigen::Index stride, Vector* target) {
  constexpr auto width = static_cast<Eigen::Index>(PosedTets<T>::width);
  for (Eigen::Index row = 0; row < gradients.rows(); ++row) {
    const Eigen::Index element = row / 9, k = row % 9;
    Vector* batch = target + element / width * stride * gradients.cols();
    for (Eigen::Index c = 0; c < gradients.cols(); ++c)
      batch[stride * c + k].set(static_cast<int>(element % width), static_cast<T>(gradients(row, c) / scale[c]));
  }
}

/// A power of two above the largest entry of each column in any pose: exact, also of gradients that were rounded.
VecX column_scale(const std::vector<MatX>& gradients) {
  VecX largest = VecX::Constant(gradients.front().cols(), 1e-300);
  for (const MatX& pose : gradients)
    if (pose.rows() > 0) largest = largest.cwiseMax(pose.cwiseAbs().colwise().maxCoeff().transpose());
  return largest.unaryExpr([](double value) { return std::exp2(std::ceil(std::log2(value)) + 1); });
}

template <class T>
PreparedElements<T> prepare(const ElementBlock& block, int width) {
  PreparedElements<T> result;
  using Lanes = typename PreparedElements<T>::Lanes;
  result.columns = block_columns(block.columns, width);
  result.tets = PosedTets<T>(block.tets);
  const std::size_t batches = result.tets.batch_count();
  result.weight = lanes_of<T, Lanes>(block.weights, batches, T(0));
  result.mu = lanes_of<T, Lanes>(block.mu, batches, T(1));
  result.lambda = lanes_of<T, Lanes>(block.lambda, batches, T(1));
  const std::size_t size = batches * result.batch_size(), poses = block.gradients.size();
  if (poses == 1) {
    result.gradients.assign(size, Lanes(T(0)));
    result.scale.assign(block.columns.size(), T(1));
    store_gradients<T>(block.gradients[0], VecX::Ones(std::ssize(block.columns)), 9, result.gradients.data());
    return result;
  }
  const VecX scale = column_scale(block.gradients);
  for (const double value : scale) result.scale.push_back(static_cast<T>(value));
  result.pose_gradients.assign(poses * size, typename PreparedElements<T>::Stored{});
  for (std::size_t i = 0; i < poses; ++i)
    store_gradients<T>(block.gradients[i], scale, static_cast<Eigen::Index>(9 * poses),
                       result.pose_gradients.data() + 9 * i);
  return result;
}

template <class T>
PreparedVertices<T> prepare(const VertexBlock& block, int width) {
  PreparedVertices<T> result;
  result.columns = block_columns(block.columns, width);
  result.basis = pose_matrices<T>(block.basis, 3 * block.frames.size(), result.columns.stride);
  return result;
}

/// The lower triangle of a symmetric matrix, in padded columns.
template <class T>
void store_lower(const MatX& matrix, int stride, T* target) {
  for (Eigen::Index c = 0; c < matrix.cols(); ++c)
    for (Eigen::Index r = c; r < matrix.rows(); ++r) target[c * stride + r] = static_cast<T>(matrix(r, c));
}

}  // namespace

template <class T>
PreparedModel<T>::PreparedModel(std::shared_ptr<const PoseSpaceModel> source) : model(std::move(source)) {
  size = model->size();
  stride = padded(size, width);
  poses = static_cast<std::size_t>(model->pose_count());
  regions = region_ends(*model);
  for (const ElementBlock& block : model->elements) elements.push_back(prepare<T>(block, width));
  for (const InertialBlock& block : model->inertia) inertia.push_back(prepare<T>(block.vertices, width));
  for (const VertexBlock& block : model->surface.blocks) surface.push_back(prepare<T>(block, width));
  mass.assign(poses * (poses + 1) / 2 * triangle(), T(0));
  for (auto* matrices : {&added, &taken, &linear}) matrices->assign(poses * triangle(), T(0));
  const MatX diagonal = model->stiffness.asDiagonal();
  for (std::size_t i = 0, pair = 0; i < poses; ++i) {
    if (i < model->added.size()) store_lower(model->added[i], stride, added.data() + i * triangle());
    if (i < model->taken.size()) store_lower(model->taken[i], stride, taken.data() + i * triangle());
    store_lower(i < model->linear.size() ? model->linear[i] : diagonal, stride, linear.data() + i * triangle());
    for (std::size_t j = 0; j <= i; ++j, ++pair) {
      MatX both = MatX::Identity(size, size);
      if (pair < model->mass.size())
        both = i == j ? model->mass[pair] : MatX(model->mass[pair] + model->mass[pair].transpose());
      store_lower(both, stride, mass.data() + pair * triangle());
    }
  }
}

template struct PreparedModel<float>;
template struct PreparedModel<double>;

}  // namespace supple
