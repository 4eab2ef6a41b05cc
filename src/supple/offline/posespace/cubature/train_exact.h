// SPDX-License-Identifier: Apache-2.0
// Cubature of a model of one pose whose strain is exact (runtime/posespace/cubature_forces.h). Such a model's stiffness
// follows the pose by itself, and its bases were learnt from flesh in motion, so its elements are chosen where flesh
// really is: at moments (p_k, q_k) of the simulated motion, and at others that are as large and as likely,
//
//   q = Q g / √n,  Q the coordinates of all moments, g standard normal numbers,   in a pose of one of the moments
//
// In the twelve numbers y = Y_e q of an element's corners (ElementBlock::gradients) what it contributes is Y_eᵀ t_e,
// and Y_e is the same in all poses: only t_e knows how the corners turn. What is fitted is how forces differ from the
// linear answer of their own pose, and with a smaller weight that answer itself. What cubature still lacks of it, C =
// Λ(p) − K_c(p), is small, and known at some poses.
#pragma once

#include "supple/offline/posespace/cubature/train_cubature.h"

#include <random>

namespace supple {

/// Fills all of the result but what belongs to vertices. `input.frames` and `input.teach` must be there.
void train_exact_elements(const TrainingInput& input, const TrainingSettings& settings, std::mt19937_64& random,
                          PoseCubature& result, Progress& progress);

}  // namespace supple
