// SPDX-License-Identifier: Apache-2.0
// FullModel in a `.supple` archive of kind "full". All numbers keep their double precision: saving what was loaded
// gives the same bytes, and a loaded model moves with the same bits.
#pragma once

#include "supple/asset/archive.h"
#include "supple/asset/full_model.h"

namespace supple {

/// The bytes of the file; write them with write_file_atomically(). Fails for rigs that are more than data.
Result<std::string> encode_full_model(const FullModel& model);

/// Fails on an archive of another kind, or one whose arrays do not fit each other.
Result<FullModel> decode_full_model(const Archive& archive);

}  // namespace supple
