// SPDX-License-Identifier: Apache-2.0
// The cantilever: a soft square beam, one end in a wall. The smallest body that vibrates like something alive, and one
// whose frequencies beam theory knows.
#pragma once

#include "supple/base/result.h"
#include "supple/mesh/volume_mesh.h"

#include <filesystem>

namespace supple {

/// The beam lies along x from the origin; its fixed end is the face x = 0.
struct Cantilever {
  TetMesh mesh;
  std::vector<Index> fixed_vertices;
  Vec3 size = Vec3(1, 0.1, 0.1);  ///< [m]
  ElasticMaterial material{.name = "soft rubber", .young = 4e6, .poisson = 0.35, .density = 1000};

  /// Euler-Bernoulli frequency [Hz] of the n-th bending mode (n from 1) of a slender beam with this section:
  /// f = (λ_n² / 2π L²) √(E I / ρ A), where cos λ cosh λ = -1.
  double beam_theory_frequency(int n) const;
};

/// `cells` along the thickness; the length has ten times as many.
Cantilever make_cantilever(int cells = 4);

/// Shows vibration modes in two files:
/// - cantilever.png: the first shapes with their frequencies, coloured by displacement, the beam at rest as an outline;
/// - cantilever.glb: a plucked beam (first clip), then each mode alone, at true frequencies and with damping.
/// Each mode shape has 3 × vertices entries, zero at fixed vertices, in any scale. The folder is made if it's missing.
Status write_vibration(const TetMesh& mesh, const std::vector<VecX>& mode_shapes,
                       const std::vector<double>& frequencies_hz, const std::filesystem::path& directory);

}  // namespace supple
