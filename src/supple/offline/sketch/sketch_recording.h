// SPDX-License-Identifier: Apache-2.0
// What a sketch records (2005 paper, section 5.2): the loads somebody put on a quick linear model, one after another.
//
// The file is text, version 1; forces in newtons, vertices from 0:
//   supple-sketch 1
//   vertices 400            number of vertices of the body
//   loads 2
//   load 1                  number of forces in this load
//   17 0 0 -2.5             vertex, fx fy fz
//   load 2
//   17 0 0 -2.5
//   18 0 1 -2.5
#pragma once

#include "supple/fem/modes.h"

#include <filesystem>

namespace supple {

struct NodalForce {
  Index vertex = 0;
  Vec3 force = Vec3::Zero();  ///< [N]
  bool operator==(const NodalForce&) const = default;
};

/// The forces that act at one moment; vertices not named are free of load.
using NodalLoad = std::vector<NodalForce>;

struct SketchRecording {
  Index vertex_count = 0;
  std::vector<NodalLoad> loads;
};

/// Reads a recording; `name` is what messages call it.
Result<SketchRecording> parse_sketch(std::string_view bytes, const std::string& name);
std::string encode_sketch(const SketchRecording& recording);

Result<SketchRecording> load_sketch(const std::filesystem::path& path);
Status save_sketch(const std::filesystem::path& path, const SketchRecording& recording);

/// The load as a stacked vector; forces on the same vertex add up.
VecX dense_load(const NodalLoad& load, Index vertex_count);

/// The static linear modal model that is pulled at: u = Σ Ψ_i Ψ_iᵀ f / λ_i.
VecX linear_response(const Modes& modes, const VecX& force);

/// One corner of a pull's path.
struct PullCorner {
  Vec3 direction = Vec3::UnitX();
  double reach = 0.25;  ///< how far the linear model is pulled there, as a part of the body's diagonal
};

/// A pull without a hand: the force, spread evenly over the grabbed vertices, walks from zero to the first corner and
/// on from corner to corner, in `steps` equal steps each.
struct ScriptedPull {
  std::vector<Index> vertices;
  std::vector<PullCorner> path;
  int steps = 20;
};

/// Fails when a vertex doesn't exist or can't move, or the script is empty.
Result<SketchRecording> scripted_pull(const ElasticBody& body, const Modes& modes, const ScriptedPull& script);

/// Keeps a load when it is at least `distance` [N] away, as a vector of all forces, from the last one kept; the first
/// is compared with no load. Returns indices into the recording.
std::vector<std::size_t> select_separated(const SketchRecording& recording, double distance);

}  // namespace supple
