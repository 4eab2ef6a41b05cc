// SPDX-License-Identifier: Apache-2.0
// SubspaceState in a `.supple` archive of kind "subspace-state": a run that is put aside and continued with the same
// bits.
#pragma once

#include "supple/asset/archive.h"
#include "supple/runtime/subspace/subspace_dynamics.h"

namespace supple {

/// The bytes of the file; write them with write_file_atomically().
std::string encode_subspace_state(const SubspaceState<double>& state);

/// Fails on another kind of archive, and on a state that doesn't have r = `size` finite coordinates.
Result<SubspaceState<double>> load_subspace_state(const std::filesystem::path& path, int size);

}  // namespace supple
