// SPDX-License-Identifier: Apache-2.0
// Rows of `supple bench domains` that compare with the full simulation of the same mesh.
#pragma once

#include "bench/report.h"

namespace supple::bench {

void add_domain_truth(Report& report, const Options& options);
/// How the flower swings, with a plot: Figure 7.
void add_domain_sway(Report& report, const Options& options);

}  // namespace supple::bench
