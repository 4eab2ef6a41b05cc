// SPDX-License-Identifier: Apache-2.0
// The bridge of the 2005 paper's Figure 1, ready to be touched: 59,630 triangles, r = 15 from 8 linear modes.
#pragma once

#include "supple/asset/subspace_model.h"
#include "supple/base/progress.h"
#include "supple/base/result.h"

namespace supple {

Result<SubspaceModel> make_haptics_bridge(Progress& progress = Progress::silent());

}  // namespace supple
