// SPDX-License-Identifier: Apache-2.0
// The state of a subspace object in a `.supple` archive: a run that is put aside and continued with the same bits.
//
//   "subspace-state"   an object that is held   motion: q, q̇, q̈; time
//   "floating-state"   a free one               frame: position, orientation (x y z w), linear and angular momentum;
//                                               motion: q, π; next and next_motion: the guess of the next step; time
#pragma once

#include "supple/asset/archive.h"
#include "supple/runtime/subspace/floating_body.h"
#include "supple/runtime/subspace/subspace_dynamics.h"

namespace supple {

/// The bytes of the file; write them with write_file_atomically().
std::string encode_subspace_state(const SubspaceState<double>& state);

/// Fails on another kind of archive, and on a state that doesn't have r = `size` finite coordinates.
Result<SubspaceState<double>> load_subspace_state(const std::filesystem::path& path, int size);

/// The bytes of the file for a free body, the guess of its next step included.
std::string encode_floating_state(const FloatingBody& body);

/// Lets a free body go on from a saved state. Files of kind "subspace-state", which older versions wrote for free
/// objects, hold a deformation without a frame: the body has it at the origin, unturned. Fails as above.
Status resume_floating_state(const std::filesystem::path& path, FloatingBody& body);

}  // namespace supple
