// SPDX-License-Identifier: Apache-2.0
// The few scalar and vector types that every room shares.
#pragma once

#include "supple/base/to_size.h"

#include <Eigen/Core>

#include <cstdint>

namespace supple {

/// Index of a vertex, element, triangle or joint. Meshes stay below 2^31 entries; readers refuse larger ones.
using Index = std::int32_t;

using Vec3 = Eigen::Vector3d;
using Mat3 = Eigen::Matrix3d;

/// A stacked vector of 3 n degrees of freedom: x, y, z of vertex 0, then of vertex 1, …
using VecX = Eigen::VectorXd;
using MatX = Eigen::MatrixXd;

}  // namespace supple
