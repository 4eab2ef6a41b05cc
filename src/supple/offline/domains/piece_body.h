// SPDX-License-Identifier: Apache-2.0
// PieceBody: one piece of a plant as domains, in the place of the piece. Copies of the piece use the same.
#pragma once

#include "supple/offline/domains/build_domains.h"
#include "supple/offline/domains/plan_plant.h"

namespace supple {

inline constexpr double wood_density = 700;  ///< [kg/m³], green

double volume_of(const TetMesh& mesh);

struct PieceBody {
  TreePlan tree;  ///< domains of this piece alone; the first one's position is where it is held
  /// Vertices of the piece that the surface of each domain shows, in its order.
  std::vector<std::vector<Index>> shown;
  Index loops = 0;

  /// The domain that a point of the piece belongs to, in the piece's place.
  Index domain_at(const Vec3& point) const;

  double mass() const;  ///< [kg], as drawn

  PartMesh whole;                     ///< all of its elements, in place
  std::vector<Index> element_domain;  ///< beside them
};

/// Where a piece is held: vertices of its body that are near what holds it.
struct PieceSupport {
  const Surface* parent = nullptr;  ///< none: the ground
  PlantGround ground = {};
  double reach = 0;  ///< how far from it vertices are held [m]
  Vec3 contact = Vec3::Zero();
  std::vector<const Surface*> covers = {};  ///< closed pieces that hang on this one and hide parts of it
};

/// Fills a piece with about so many tetrahedra and cuts it into branches of r = `size`.
Result<PieceBody> fill_piece(const SurfacePiece& piece, const PieceSupport& support, int tets,
                             const PlantSettings& settings);

/// A few bricks of a mass [kg] along the axes of a small piece. Rigid where size is 0.
Result<PieceBody> box_piece(const SurfacePiece& piece, const PieceSupport& support, double mass, int size);

}  // namespace supple
