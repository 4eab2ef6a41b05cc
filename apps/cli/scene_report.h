// SPDX-License-Identifier: Apache-2.0
// What a run of a scene tells its user, full or reduced.
#pragma once

#include "command.h"
#include "supple/pipeline/object/solve_scene.h"

namespace supple {

void fill_result(const Scene& scene, const SceneSummary& summary, Json& out);
void write_text(const Scene& scene, const SceneSummary& summary, Session& session);

/// Steps in which Newton's method came to its limit first, as a warning.
void warn_of_unconverged(const Scene& scene, const SceneSummary& summary, Session& session);

}  // namespace supple
