// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/prepared_model.h"

#include "supple/runtime/posespace/level_of_detail.h"
#include "supple/runtime/posespace/prepared_surface.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

int padded(int count, int width) { return (count + width - 1) / width * width; }

BlockColumns block_columns(const std::vector<Index>& columns, int width) {
  return {{columns.begin(), columns.end()}, padded(static_cast<int>(columns.size()), width)};
}

/// A power of two above the largest entry of each column in any pose: exact, also of what was rounded.
VecX column_scale(const std::vector<MatX>& poses) {
  VecX largest = VecX::Constant(poses.front().cols(), 1e-300);
  for (const MatX& pose : poses)
    if (pose.rows() > 0) largest = largest.cwiseMax(pose.cwiseAbs().colwise().maxCoeff().transpose());
  return largest.unaryExpr([](double value) { return std::exp2(std::ceil(std::log2(value)) + 1); });
}

template <class T>
PoseMatrices<T> pose_matrices(const std::vector<MatX>& matrices, std::size_t rows, int stride) {
  constexpr Eigen::Index width = LanesOf<T>::width;
  PoseMatrices<T> result;
  result.rows = rows, result.stride = static_cast<std::size_t>(stride), result.poses = matrices.size();
  const bool several = matrices.size() > 1;
  if (several)
    result.packed.assign(matrices.size() * rows * result.stride / width, StoredLanes<T>{});
  else
    result.values.assign(rows * result.stride, T(0));
  const VecX scale = column_scale(matrices);
  result.scale.assign(result.stride, T(1));
  for (Eigen::Index c = 0; c < scale.size() && several; ++c)
    result.scale[static_cast<std::size_t>(c)] = static_cast<T>(scale[c]);
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const MatX& matrix = matrices[i];
    for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
      for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
        const std::size_t vector = static_cast<std::size_t>(r * stride + c) / width * matrices.size() + i;
        if (several)
          result.packed[vector].set(static_cast<int>(c % width), static_cast<T>(matrix(r, c) / scale[c]));
        else
          result.values[static_cast<std::size_t>(r * stride + c)] = static_cast<T>(matrix(r, c));
      }
    }
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
  const VecX scale = column_scale(block.gradients);
  for (const double value : scale) result.scale.push_back(static_cast<T>(value));
  result.gradients.assign(poses * size, typename PreparedElements<T>::Stored{});
  for (std::size_t i = 0; i < poses; ++i)
    store_gradients<T>(block.gradients[i], scale, static_cast<Eigen::Index>(9 * poses),
                       result.gradients.data() + 9 * i);
  return result;
}

template <class T>
PreparedVertices<T> prepare(const VertexBlock& block, int width) {
  PreparedVertices<T> result;
  result.columns = block_columns(block.columns, width);
  result.basis = pose_matrices<T>(block.basis, 3 * block.frames.size(), result.columns.stride);
  return result;
}

template <class T, class Vector>
void stack_up(const std::vector<MatX>& matrices, TriangleStack<Vector>& stack) {
  constexpr int width = LanesOf<T>::width;
  stack.matrices = matrices.size();
  const Eigen::Index size = matrices.front().rows();
  for (Eigen::Index c = 0; c < size; ++c) {
    for (Eigen::Index row = c / width * width; row < size; row += width) {
      const Eigen::Index first = std::max(row, c), count = std::min(row + width, size) - first;
      if (std::all_of(matrices.begin(), matrices.end(),
                      [&](const MatX& matrix) { return matrix.col(c).segment(first, count).isZero(0); }))
        continue;
      stack.places.push_back({static_cast<int>(c), static_cast<int>(row)});
      for (const MatX& matrix : matrices) {
        Vector& lanes = stack.values.emplace_back();
        for (Eigen::Index r = row; r < row + width; ++r) {
          const bool inside = r >= first && r < first + count;
          lanes.set(static_cast<int>(r - row), inside ? static_cast<T>(matrix(r, c)) : T(0));
        }
      }
    }
  }
}

/// Those that a model has; models of one pose may have none.
std::vector<MatX> or_else(const std::vector<MatX>& matrices, std::size_t poses, const MatX& missing) {
  std::vector<MatX> result = matrices;
  result.resize(poses, missing);
  return result;
}

std::vector<MatX> unscaled(std::vector<MatX> matrices, const VecX& scale) {
  for (MatX& matrix : matrices) matrix.array() /= (scale * scale.transpose()).array();
  return matrices;
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
  surface = std::make_shared<const PreparedSurface<T>>(*model);
  prepare_linear();
  std::vector<MatX> pairs = or_else(model->mass, poses * (poses + 1) / 2, MatX::Identity(size, size));
  for (std::size_t i = 0, pair = 0; i < poses; ++i)
    for (std::size_t j = 0; j <= i; ++j, ++pair)
      if (i != j && pair < model->mass.size()) pairs[pair] += model->mass[pair].transpose();
  stack_up<T>(pairs, mass);
}

template <class T>
void PreparedModel<T>::prepare_linear() {
  const auto count = static_cast<std::size_t>(model->linear_pose_count());
  const std::vector<MatX> stiffness = or_else(model->linear, count, model->stiffness.asDiagonal());
  VecX largest = VecX::Constant(size, 1e-300);
  for (const MatX& pose : stiffness) largest = largest.cwiseMax(pose.diagonal());
  const VecX scale = largest.unaryExpr([](double value) { return std::exp2(std::ceil(0.5 * std::log2(value))); });
  linear_scale.assign(static_cast<std::size_t>(stride), T(0));
  for (Eigen::Index c = 0; c < size; ++c) linear_scale[static_cast<std::size_t>(c)] = static_cast<T>(scale[c]);
  const MatX none = MatX::Zero(size, size);
  stack_up<T>(unscaled(or_else(model->added, count, none), scale), added);
  stack_up<T>(unscaled(or_else(model->taken, count, none), scale), taken);
  stack_up<T>(unscaled(stiffness, scale), linear);
}

template struct PreparedModel<float>;
template struct PreparedModel<double>;

}  // namespace supple
