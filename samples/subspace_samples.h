// SPDX-License-Identifier: Apache-2.0
// The four bodies of the subspace tables (2005 paper, Figure 3), made here from formulas: a spoon, a bridge, a lattice
// tower and a heart, each a surface to look at and a body of voxels to simulate, at the paper's sizes within 10 %.
//
//            surface vertices / triangles   resolution   bricks' vertices / elements   held at
//   spoon            3321 / 6638                100             3698 / 2005             the far end of the handle
//   bridge         41361 / 59630                128           11829 / 5854              both ends
//   tower         45882 / 105788                140          20713 / 11304              its four feet
//   heart          12186 / 23616                 80          28041 / 14444              the ends of its vessels
#pragma once

#include "supple/mesh/embedding.h"
#include "supple/mesh/surface.h"
#include "supple/mesh/volume_mesh.h"

namespace supple {

struct SubspaceSample {
  std::string name;
  Surface surface;
  int resolution = 0;  ///< voxels along the longest side
  HexMesh bricks;      ///< one piece, one material, lengths in metres
  std::vector<Index> fixed_vertices;
  Embedding embedding;                 ///< of the surface's vertices in the bricks
  Vec3 view_direction = Vec3::Ones();  ///< from the body to an eye that sees it well; y is up
  Vec3 gravity = Vec3(0, -9.81, 0);    ///< [m/s²]
};

/// 2.5 m long: as soft as such a spoon must be to swing visibly.
SubspaceSample make_spoon(int resolution = 100);
SubspaceSample make_bridge();  ///< a truss bridge of 12.8 m with an arched top chord
SubspaceSample make_tower();   ///< 14 m, after Eiffel's
SubspaceSample make_heart();   ///< 0.16 m, hollow, with its great vessels cut open

/// All four, in the order of the paper's table.
std::vector<SubspaceSample> make_subspace_samples();

}  // namespace supple
