// SPDX-License-Identifier: Apache-2.0
// QuasistaticModel in a `.supple` archive of kind "quasistatic". All numbers keep their double precision, as in
// full_archive.h.
#pragma once

#include "supple/asset/archive.h"
#include "supple/asset/quasistatic_model.h"

namespace supple {

/// The bytes of the file; write them with write_file_atomically(). Fails for rigs that are more than data.
Result<std::string> encode_quasistatic_model(const QuasistaticModel& model);

/// Fails on an archive of another kind, or one whose arrays do not fit each other.
Result<QuasistaticModel> decode_quasistatic_model(const Archive& archive);

}  // namespace supple
