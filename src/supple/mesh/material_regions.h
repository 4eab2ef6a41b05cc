// SPDX-License-Identifier: Apache-2.0
// Regions: parts of a solid mesh that are made of another material, chosen by elements, by a box or by a closed
// surface.
#pragma once

#include "supple/base/result.h"
#include "supple/mesh/bounds.h"
#include "supple/mesh/surface.h"
#include "supple/mesh/volume_mesh.h"

#include <span>

namespace supple {

/// Elements whose centre lies in the box, its faces included; ascending.
template <int Nodes>
std::vector<Index> elements_in(const VolumeMesh<Nodes>& mesh, const Bounds& box);

/// Elements around whose centre the closed surface winds; ascending. The surface may be flipped or cross itself.
template <int Nodes>
std::vector<Index> elements_in(const VolumeMesh<Nodes>& mesh, const Surface& closed);

/// Gives the elements this material, in a new set and region of its name. Later calls win where regions overlap.
/// Fails when no element is chosen, or one that doesn't exist.
template <int Nodes>
Status assign_region(VolumeMesh<Nodes>& mesh, std::span<const Index> elements, const ElasticMaterial& material);
template <int Nodes>
Status assign_region(VolumeMesh<Nodes>& mesh, const Bounds& box, const ElasticMaterial& material);
template <int Nodes>
Status assign_region(VolumeMesh<Nodes>& mesh, const Surface& closed, const ElasticMaterial& material);

}  // namespace supple
