// SPDX-License-Identifier: Apache-2.0
// What counts of a displacement: half of it all flesh, by its mass, half of it the vertices of the skin.
//
//   |u|²_G = ½ uᵀMu + ½ m/n Σ_k |(A u)_k|²       m: mass, n: vertices of the skin, A: embedding
//
// Fingers, ears and tails weigh little and are looked at much. Directions chosen by mass alone miss twice as much of
// the motion of the skin as of that of the body (docs/theory.md). A vertex that lies outside its element counts at the
// nearest corner mix: extrapolated, a few of them would outweigh all others.
#pragma once

#include "supple/fem/elastic_body.h"
#include "supple/mesh/embedding.h"

namespace supple {

/// G of the essay above. Without a skin it is the mass matrix alone.
BlockMatrix skin_weighted_metric(const ElasticBody& body, const Embedding* skin);

/// The `most` directions, or fewer, that hold most of the shapes in this metric, most important first; nested: those of
/// a smaller number are the first ones of a larger. By the Gram matrix SᵀGS of the shapes, since they are many; what is
/// below 1e-7 of the largest is noise and left out.
MatX principal_shapes(const BlockMatrix& metric, const MatX& shapes, int most);

}  // namespace supple
