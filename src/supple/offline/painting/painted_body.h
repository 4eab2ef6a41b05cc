// SPDX-License-Identifier: Apache-2.0
// What paint means: numbers per tetrahedron become materials and fixed vertices.
//
//   softness   divides Young's modulus: 2 is twice as soft as the body's material, 0.5 half as soft
//   young      replaces Young's modulus [Pa]
//   poisson    replaces Poisson's ratio, at most 0.499: what is painted as incompressible (0.5) becomes that
//   density    replaces the density [kg/m³]
//   fixity     above one half: held by the rig, like bone
//
// Paint in colours runs from 0 to 1; a range says what these two mean. Softness and Young's modulus run geometrically
// in between, the others linearly.
#pragma once

#include "supple/base/result.h"
#include "supple/mesh/volume_mesh.h"

#include <optional>
#include <span>
#include <string_view>

namespace supple {

enum class PaintQuantity { softness, young, poisson, density, fixity };
inline constexpr std::string_view paint_quantity_names[] = {"softness", "young", "poisson", "density", "fixity"};

/// The values that paint 0 and paint 1 stand for.
using PaintRange = std::array<double, 2>;

/// Numbers of a quantity for each element; a value that no material can have is refused.
Result<std::vector<double>> to_quantity(PaintQuantity quantity, std::span<const double> carried,
                                        const std::optional<PaintRange>& range = std::nullopt);

/// Checks that a material can have this value; the error says what values it can have.
Status check_quantity(PaintQuantity quantity, double value);

struct PaintedQuantity {
  PaintQuantity quantity = PaintQuantity::softness;
  std::vector<double> values;  ///< per element
};

/// A part of the body, `share` of each element from 0 to 1, gets softer by a factor, on top of the softness among the
/// paints, which is one where there is none. The factor runs geometrically with the share.
void multiply_softness(double factor, std::span<const double> share, std::vector<PaintedQuantity>& paints);

/// Gives the mesh materials of its own: `base` with what was painted, later paint over earlier. Elements share one
/// material where E, ρ and 1 − 2ν (how compressible they are) differ by less than 0.5 %; it has the mean of theirs, so
/// that the steps stay far below what can be seen and even paint is kept exactly.
void paint_materials(TetMesh& mesh, const ElasticMaterial& base, std::span<const PaintedQuantity> paints);

/// Vertices whose elements are fixed by more than one half, in the mean by volume; ascending.
std::vector<Index> vertices_fixed_by(const TetMesh& mesh, std::span<const double> fixity);

/// A quantity that is painted in several poses.
struct PosePaint {
  std::vector<std::string> poses;
  MatX values;        ///< one row per element, one column per pose
  VecX neutral = {};  ///< where no pose says otherwise

  /// E(p) = Σ_i w_i(p) E(p_i)  (Eq. 36); the weights are those of PoseSpaceWeights. Allocates nothing.
  void interpolate(std::span<const double> weights, std::span<double> out) const;
};

/// Poses in the order of `poses`; those without paint of their own get the neutral one.
Result<PosePaint> make_pose_paint(std::span<const std::string> poses, std::span<const double> neutral,
                                  const std::vector<std::pair<std::string, std::vector<double>>>& painted);

}  // namespace supple
