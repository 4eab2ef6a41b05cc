// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/prepared_model.h"

#include "supple/runtime/posespace/level_of_detail.h"
#include "supple/runtime/posespace/prepared_surface.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace supple {
namespace {

int padded(int count, int width) { return (count + width - 1) / width * width; }

BlockColumns block_columns(const std::vector<Index>& columns, int width) {
  return {{columns.begin(), columns.end()}, padded(static_cast<int>(columns.size()), width)};
}

/// A power of two above the largest entry of each column in any pose. Dividing by a power of two is exact, and so is
/// multiplying the rounded number back.
VecX column_scale(const std::vector<MatX>& poses) {
  VecX largest = VecX::Constant(poses.front().cols(), 1e-300);
  for (const MatX& pose : poses)
    if (pose.rows() > 0) largest = largest.cwiseMax(pose.cwiseAbs().colwise().maxCoeff().transpose());
  return largest.unaryExpr([](double value) { return std::exp2(std::ceil(std::log2(value)) + 1); });
}

/// Says for each `width` neighbouring columns which poses own at least one of them.
StoredPoses stored_poses(const ColumnSources& sources, Index poses, const std::vector<Index>& columns,
                         std::size_t width) {
  StoredPoses result;
  for (std::size_t c = 0; c < columns.size(); c += width) {
    const auto group = std::span(columns).subspan(c, std::min(width, columns.size() - c));
    for (Index pose = 0; pose < poses; ++pose)
      if (std::any_of(group.begin(), group.end(), [&](Index column) { return sources.of(pose, column) == pose; }))
        result.pose.push_back(pose);
    result.close_column();
  }
  return result;
}

/// Fills PoseMatrices::packed: rows outside, vectors of columns within, the poses that are stored there innermost.
template <class T>
void store_rows(const std::vector<MatX>& matrices, const VecX& scale, PoseMatrices<T>& result) {
  constexpr auto width = static_cast<Eigen::Index>(LanesOf<T>::width);
  result.packed.assign(result.rows * result.stored.count(), StoredLanes<T>{});
  for (std::size_t vector = 0; vector < result.stored.columns(); ++vector) {
    const Eigen::Index first = static_cast<Eigen::Index>(vector) * width, end = std::min(first + width, scale.size());
    for (std::size_t k = result.stored.begin[vector]; k < result.stored.begin[vector + 1]; ++k) {
      const MatX& matrix = matrices[to_size(result.stored.pose[k])];
      for (Eigen::Index r = 0; r < matrix.rows(); ++r)
        for (Eigen::Index c = first; c < end; ++c)
          result.packed[to_size(r) * result.stored.count() + k].set(static_cast<int>(c - first),
                                                                    static_cast<T>(matrix(r, c) / scale[c]));
    }
  }
}

template <class T>
PoseMatrices<T> pose_matrices(const std::vector<MatX>& matrices, std::size_t rows, int stride, StoredPoses stored) {
  PoseMatrices<T> result;
  result.rows = rows, result.stride = to_size(stride), result.stored = std::move(stored);
  result.scale.assign(result.stride, T(1));
  if (matrices.size() > 1) {
    const VecX scale = column_scale(matrices);
    for (Eigen::Index c = 0; c < scale.size(); ++c) result.scale[to_size(c)] = static_cast<T>(scale[c]);
    store_rows(matrices, scale, result);
    return result;
  }
  result.values.assign(rows * result.stride, T(0));
  for (Eigen::Index r = 0; r < matrices.front().rows(); ++r)
    for (Eigen::Index c = 0; c < matrices.front().cols(); ++c)
      result.values[to_size(r * stride + c)] = static_cast<T>(matrices.front()(r, c));
  return result;
}

/// Turns one number per element and pose into packs, all batches of a pose after each other. Lanes beyond the last
/// element get `filler`.
template <class T, class Lanes>
std::vector<Lanes> lanes_of(const MatX& values, std::size_t batches, T filler) {
  constexpr auto width = to_size(Lanes::width);
  std::vector<Lanes> result(batches * to_size(values.cols()), Lanes(filler));
  for (Eigen::Index pose = 0; pose < values.cols(); ++pose) {
    for (Eigen::Index e = 0; e < values.rows(); ++e) {
      const auto place = to_size(e);
      result[to_size(pose) * batches + place / width].set(static_cast<int>(place % width),
                                                          static_cast<T>(values(e, pose)));
    }
  }
  return result;
}

/// Spreads one column of gradients, `rows` of them per element, over the packs of its batches: element e goes to lane
/// e mod width of batch e / width. `target` is where the column's packs are in the first batch, and batches are
/// `batch_size` packs apart.
template <class T, class Vector>
void store_gradients(const Eigen::Ref<const VecX>& column, std::size_t rows, double scale, std::size_t batch_size,
                     Vector* target) {
  constexpr std::size_t width = PosedTets<T>::width;
  for (std::size_t row = 0; row < to_size(column.size()); ++row) {
    const std::size_t element = row / rows;
    target[element / width * batch_size + row % rows].set(
        static_cast<int>(element % width), static_cast<T>(column[static_cast<Eigen::Index>(row)] / scale));
  }
}

template <class T>
std::vector<std::array<FrameLanes<T>, 4>> corner_lanes(const ElementBlock& block) {
  constexpr std::size_t width = PosedTets<T>::width;
  std::vector<std::array<FrameLanes<T>, 4>> result;
  for (std::size_t first = 0; first < block.corners.size(); first += width) {
    const auto batch = std::span(block.corners).subspan(first, std::min(width, block.corners.size() - first));
    const auto corner = [&](std::size_t k) {
      std::vector<FrameBlend> frames;
      for (const auto& corners : batch) frames.push_back(corners[k]);
      return FrameLanes<T>(frames);
    };
    result.push_back({corner(0), corner(1), corner(2), corner(3)});
  }
  return result;
}

template <class T>
PreparedElements<T> prepare(const PoseSpaceModel& model, const ElementBlock& block, int width) {
  PreparedElements<T> result;
  using Lanes = typename PreparedElements<T>::Lanes;
  result.columns = block_columns(block.columns, width);
  result.tets = PosedTets<T>(block.tets);
  const std::size_t batches = result.tets.batch_count();
  result.weight = lanes_of<T, Lanes>(block.weights, batches, T(0));
  result.mu = lanes_of<T, Lanes>(block.mu, batches, T(1));
  result.lambda = lanes_of<T, Lanes>(block.lambda, batches, T(1));
  const VecX scale = column_scale(block.gradients);
  for (const double value : scale) result.scale.push_back(static_cast<T>(value));
  result.stored = stored_poses(model.gradient_sources, model.pose_count(), block.columns, 1);
  result.rows = to_size(model.element_rows());
  if (model.exact_strain) result.corners = corner_lanes<T>(block);
  const std::size_t batch_size = result.rows * result.stored.count();
  result.gradients.assign(batches * batch_size, typename PreparedElements<T>::Stored{});
  for (std::size_t c = 0; c < result.stored.columns(); ++c) {
    const auto column = static_cast<Eigen::Index>(c);
    for (std::size_t k = result.stored.begin[c]; k < result.stored.begin[c + 1]; ++k)
      store_gradients<T>(block.gradients[to_size(result.stored.pose[k])].col(column), result.rows, scale[column],
                         batch_size, result.gradients.data() + result.rows * k);
  }
  return result;
}

template <class T>
PreparedVertices<T> prepare(const PoseSpaceModel& model, const VertexBlock& block, int width) {
  PreparedVertices<T> result;
  result.columns = block_columns(block.columns, width);
  result.basis = pose_matrices<T>(block.basis, 3 * block.frames.size(), result.columns.stride,
                                  stored_poses(model.sources, model.pose_count(), block.columns, to_size(width)));
  return result;
}

/// The vector that begins at `row` of a column, with zeros above the diagonal and below the end of the matrix.
template <class T, class Vector>
Vector vector_at(const MatX& matrix, Eigen::Index column, Eigen::Index row) {
  constexpr int width = LanesOf<T>::width;
  Vector lanes{};
  for (Eigen::Index r = std::max(row, column); r < std::min(row + width, matrix.rows()); ++r)
    lanes.set(static_cast<int>(r - row), static_cast<T>(matrix(r, column)));
  return lanes;
}

/// What is left of a number once it is stored.
template <class T>
T as_stored(double number) {
  StoredLanes<T> lanes{};
  lanes.set(0, static_cast<T>(number));
  return widened(lanes)[0];
}

template <class Vector>
bool same(const Vector& a, const Vector& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

template <class Vector>
typename TriangleStack<Vector>::Pattern& find_or_add(TriangleStack<Vector>& stack, const std::vector<int>& group,
                                                     std::size_t groups) {
  for (auto& pattern : stack.patterns)
    if (pattern.group == group) return pattern;
  stack.patterns.push_back({.group = group, .groups = groups, .first = stack.groups(), .places = {}, .values = {}});
  return stack.patterns.back();
}

/// Goes through the places of the lower triangle, finds which matrices have the same vector there, bit by bit, and puts
/// the distinct ones to the other places of that pattern.
template <class T, class Vector>
void stack_up(const std::vector<MatX>& matrices, TriangleStack<Vector>& stack) {
  constexpr int width = LanesOf<T>::width;
  stack.matrices = matrices.size();
  const Eigen::Index size = matrices.front().rows();
  for (Eigen::Index c = 0; c < size; ++c) {
    for (Eigen::Index row = c / width * width; row < size; row += width) {
      std::vector<int> group;
      std::vector<Vector> distinct;
      for (const MatX& matrix : matrices) {
        const Vector lanes = vector_at<T, Vector>(matrix, c, row);
        if (same(lanes, Vector{})) {
          group.push_back(-1);
          continue;
        }
        auto known = std::find_if(distinct.begin(), distinct.end(), [&](const Vector& v) { return same(v, lanes); });
        group.push_back(static_cast<int>(known - distinct.begin()));
        if (known == distinct.end()) distinct.push_back(lanes);
      }
      if (distinct.empty()) continue;
      auto& pattern = find_or_add(stack, group, distinct.size());
      pattern.places.push_back({static_cast<int>(c), static_cast<int>(row)});
      pattern.values.insert(pattern.values.end(), distinct.begin(), distinct.end());
    }
  }
}

/// The matrices that a model has, filled up with `missing`: models of one pose may leave theirs out.
std::vector<MatX> or_else(const std::vector<MatX>& matrices, std::size_t poses, const MatX& missing) {
  std::vector<MatX> result = matrices;
  result.resize(poses, missing);
  return result;
}

/// Divides entry (r, c) by scale_r scale_c.
std::vector<MatX> unscaled(std::vector<MatX> matrices, const VecX& scale) {
  for (MatX& matrix : matrices) matrix.array() /= (scale * scale.transpose()).array();
  return matrices;
}

}  // namespace

template <class T>
PreparedModel<T>::PreparedModel(std::shared_ptr<const PoseSpaceModel> source) : model(std::move(source)) {
  size = model->size();
  stride = padded(size, width);
  poses = to_size(model->pose_count());
  patches = patch_ends(*model);
  for (int pose = 0; pose < static_cast<int>(poses); ++pose)
    for (int c = 0; c < stride; ++c) {
      sources.push_back(c < size ? model->sources.of(pose, c) : pose);
      gradient_sources.push_back(c < size ? model->gradient_sources.of(pose, c) : pose);
    }
  for (const ElementBlock& block : model->elements) elements.push_back(prepare<T>(*model, block, width));
  for (const InertialBlock& block : model->inertia) inertia.push_back(prepare<T>(*model, block.vertices, width));
  surface = std::make_shared<const PreparedSurface<T>>(*model);
  prepare_linear();
  std::vector<MatX> pairs = or_else(model->mass, poses * (poses + 1) / 2, MatX::Identity(size, size));
  for (std::size_t i = 0, pair = 0; i < poses; ++i)
    for (std::size_t j = 0; j <= i; ++j, ++pair)
      if (i != j && pair < model->mass.size()) pairs[pair] += model->mass[pair].transpose();
  stack_up<T>(pairs, mass);
  for (const MatX& pair : pairs)
    for (int c = 0; c < stride; ++c) mass_diagonals.push_back(c < size ? as_stored<T>(pair(c, c)) : T(0));
}

template <class T>
void PreparedModel<T>::prepare_linear() {
  const auto count = to_size(model->correction_pose_count());
  const std::vector<MatX> stiffness =
      or_else(model->linear, model->exact_strain ? count : poses, model->stiffness.asDiagonal());
  VecX largest = VecX::Constant(size, 1e-300);
  for (const MatX& pose : stiffness) largest = largest.cwiseMax(pose.diagonal());
  const VecX scale = largest.unaryExpr([](double value) { return std::exp2(std::ceil(0.5 * std::log2(value))); });
  linear_scale.assign(to_size(stride), T(0));
  for (Eigen::Index c = 0; c < size; ++c) linear_scale[to_size(c)] = static_cast<T>(scale[c]);
  stack_up<T>(unscaled(stiffness, scale), linear);
  stack_up<T>(unscaled(or_else(model->corrections, count, MatX::Zero(size, size)), scale), corrections);
}

template struct PreparedModel<float>;
template struct PreparedModel<double>;

}  // namespace supple
