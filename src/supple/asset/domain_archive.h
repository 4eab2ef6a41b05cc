// SPDX-License-Identifier: Apache-2.0
// DomainModel in a `.supple` archive of kind "domains": every part once, as PART0.… with the arrays of
// subspace_archive.h, and the tree as columns of numbers.
#pragma once

#include "supple/asset/archive.h"
#include "supple/asset/domain_model.h"

namespace supple {

/// The bytes of the file; write them with write_file_atomically().
std::string encode_domain_model(const DomainModel& model);

/// Fails on an archive of another kind, or one whose arrays do not fit each other.
Result<DomainModel> decode_domain_model(const Archive& archive);

}  // namespace supple
