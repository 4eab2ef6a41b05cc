// SPDX-License-Identifier: Apache-2.0
// Tetrahedra from anything: any triangle soup becomes a body of about as many tetrahedra as asked.
//
//   soup.h            weld, drop, turn                       flesh.h        inside? by winding number
//   flesh_nodes.h     pieces of flesh around lattice sites   stuffing.h     tetrahedra of them, cut off at the surface
//   manifold_skin.h   no torn or crowded edges               surface_fit.h  vertices to the surface, angles kept
//   thin_pieces.h     flesh thinner than a cell              skin_thinning.h  no needlessly short edges
//   slits.h           no slits of no width
//
// What comes out is watertight, positively oriented, has dihedral angles of at least ten degrees, keeps what is thinner
// than a cell (fattened to what the angles allow) and doesn't fuse what only comes near. Holes are closed by a dome,
// open sheets become thin shells. The interior may be graded (graded_interior.h). The spacing of the lattice is
// searched for by counting.
#pragma once

#include "supple/base/progress.h"
#include "supple/base/result.h"
#include "supple/mesh/surface.h"
#include "supple/mesh/volume_mesh.h"
#include "supple/offline/meshing/surface_distance.h"

#include <Eigen/Geometry>

#include <algorithm>

namespace supple {

struct TetMeshingOptions {
  int tets = 16000;           ///< about as many
  bool keep_separate = true;  ///< false: parts that share a cell may fuse, which is a little faster
  bool graded = false;        ///< cells grow towards the inside: the same number gives a finer skin
  int distance_samples = 20000;
  /// Where the lattice's axes point in the surface's space. A body that is turned, and its axes with it, comes out
  /// turned.
  Eigen::Quaterniond axes = Eigen::Quaterniond::Identity();
  static constexpr int min_tets = 50, max_tets = 20'000'000;
};

/// What came out of meshing; lengths are in the surface's unit.
struct TetMeshingReport {
  double cube = 0;                ///< edge of the lattice's cubes
  int tries = 0;                  ///< spacings counted
  double diagonal = 0;            ///< of the input's bounding box
  double min_dihedral = 0;        ///< degrees
  double max_dihedral = 0;        ///< degrees
  double volume = 0;              ///< of all tetrahedra
  SampledDistance skin_to_input;  ///< how far the skin of the body is from the input …
  SampledDistance input_to_skin;  ///< … and the input from the skin
  Index input_pieces = 0;         ///< joined through vertices
  Index specks = 0;               ///< input pieces smaller than a cube, which come out fattened
  Index pieces = 0;               ///< of the result
  Index dropped_triangles = 0;    ///< flat or repeated ones of the input
  Index turned_triangles = 0;     ///< of the input
  Index thin_nodes = 0;           ///< vertices that stand for flesh thinner than a cell

  /// The largest distance between input and skin, either way, as a share of the diagonal.
  double relative_distance() const { return std::max(skin_to_input.max, input_to_skin.max) / diagonal; }
};

struct TetMeshingResult {
  TetMesh mesh;
  TetMeshingReport report;
};

Result<TetMeshingResult> tetrahedralize(const Surface& surface, const TetMeshingOptions& options,
                                        Progress& progress = Progress::silent());

}  // namespace supple
