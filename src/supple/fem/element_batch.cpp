// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/element_batch.h"

#include "supple/base/parallel.h"

#include <Eigen/Geometry>
#include <algorithm>

namespace supple {
namespace {

/// Enough clusters to keep many threads busy, but large ones where there are many elements: the vertices on a cluster's
/// border are fetched once for every colour that meets there, and large clusters have little border.
std::size_t batches_per_cluster(std::size_t batches) { return std::clamp<std::size_t>(batches / 64, 64, 4096); }

/// Spreads the lower 21 bits of x so that two zero bits follow each.
std::uint64_t spread_bits(std::uint64_t x) {
  x &= 0x1fffff;
  x = (x | x << 32) & 0x1f00000000ffff;
  x = (x | x << 16) & 0x1f0000ff0000ff;
  x = (x | x << 8) & 0x100f00f00f00f00f;
  x = (x | x << 4) & 0x10c30c30c30c30c3;
  x = (x | x << 2) & 0x1249249249249249;
  return x;
}

/// Element numbers along the Morton curve of their centres.
template <int Nodes>
std::vector<Index> spatial_order(const VolumeMesh<Nodes>& mesh) {
  Eigen::AlignedBox3d bounds;
  for (const Vec3& vertex : mesh.vertices) bounds.extend(vertex);
  const double extent = std::max(bounds.sizes().maxCoeff(), 1e-300);
  std::vector<std::pair<std::uint64_t, Index>> keys(mesh.elements.size());
  for (std::size_t e = 0; e < keys.size(); ++e) {
    Vec3 centre = Vec3::Zero();
    for (const Index v : mesh.elements[e]) centre += mesh.vertices[to_size(v)];
    const Vec3 cell = (centre / Nodes - bounds.min()) * (0x1fffff / extent);
    std::uint64_t key = 0;
    for (int axis = 0; axis < 3; ++axis) key |= spread_bits(static_cast<std::uint64_t>(cell[axis])) << axis;
    keys[e] = {key, static_cast<Index>(e)};
  }
  std::sort(keys.begin(), keys.end());
  std::vector<Index> order(keys.size());
  std::transform(keys.begin(), keys.end(), order.begin(), [](const auto& key) { return key.second; });
  return order;
}

template <int Nodes>
void fill_lane(ElementBatch<Nodes>& batch, int lane, const VolumeMesh<Nodes>& mesh, std::size_t element,
               const BlockPattern& pattern, double active) {
  const ElementShape<Nodes> shape = element_shape(element_nodes(mesh, element));
  const ElasticMaterial& material = mesh.material_of(element);
  const Lame<double> lame = lame_from(material.young, material.poisson);
  for (std::size_t point = 0; point < shape.gradient.size(); ++point) {
    for (int k = 0; k < 3 * Nodes; ++k) batch.gradient[point].data()[k].set(lane, shape.gradient[point].data()[k]);
    batch.weight[point].set(lane, active * shape.weight[point]);
  }
  batch.lame.mu.set(lane, lame.mu);
  batch.lame.lambda.set(lane, lame.lambda);
  for (std::size_t a = 0; a < Nodes; ++a) {
    batch.vertex[a][to_size(lane)] = mesh.elements[element][a];
    for (std::size_t b = 0; b < Nodes; ++b) {
      batch.block[a * Nodes + b][to_size(lane)] = pattern.find(mesh.elements[element][a], mesh.elements[element][b]);
    }
  }
}

/// Greedy colouring in cluster order: the lowest colour that no earlier cluster with a common vertex has.
template <int Nodes>
std::vector<std::vector<typename ElementBatches<Nodes>::Range>> colour_clusters(
    const std::vector<ElementBatch<Nodes>>& batches, std::size_t vertex_count) {
  std::vector<std::vector<typename ElementBatches<Nodes>::Range>> colours;
  std::vector<std::uint64_t> used(vertex_count, 0);  // bit c: a cluster of colour c touches the vertex
  constexpr std::size_t max_colours = 64;
  const std::size_t size = batches_per_cluster(batches.size());
  for (std::size_t begin = 0; begin < batches.size(); begin += size) {
    const std::size_t end = std::min(batches.size(), begin + size);
    const auto for_each_vertex = [&](const auto& visit) {
      for (std::size_t k = begin; k < end; ++k) {
        for (const auto& lanes : batches[k].vertex) {
          for (const Index v : lanes) visit(to_size(v));
        }
      }
    };
    std::uint64_t taken = 0;
    for_each_vertex([&](std::size_t v) { taken |= used[v]; });
    std::size_t colour = 0;
    while (colour + 1 < max_colours && (taken >> colour & 1) != 0) ++colour;
    const bool alone = (taken >> colour & 1) != 0;  // all 64 colours taken: this cluster gets a colour of its own
    if (alone) {
      colours.resize(std::max(colours.size(), max_colours) + 1);
      colour = colours.size() - 1;
    } else {
      colours.resize(std::max(colours.size(), colour + 1));
      for_each_vertex([&](std::size_t v) { used[v] |= std::uint64_t{1} << colour; });
    }
    colours[colour].push_back({static_cast<Index>(begin), static_cast<Index>(end)});
  }
  return colours;
}

}  // namespace

template <int Nodes>
ElementBatches<Nodes> make_element_batches(const VolumeMesh<Nodes>& mesh, const BlockPattern& pattern) {
  const std::vector<Index> order = spatial_order(mesh);
  constexpr std::size_t width = Lanes::width;
  ElementBatches<Nodes> result;
  result.batches.resize((order.size() + width - 1) / width);
  parallel_for(static_cast<std::int64_t>(result.batches.size()), 256, [&](std::int64_t k) {
    ElementBatch<Nodes>& batch = result.batches[to_size(k)];
    const std::size_t first = to_size(k) * width;
    batch.count = static_cast<int>(std::min(width, order.size() - first));
    for (int lane = 0; lane < Lanes::width; ++lane) {
      const bool active = lane < batch.count;
      const auto element = to_size(order[active ? first + to_size(lane) : first]);
      fill_lane(batch, lane, mesh, element, pattern, active ? 1.0 : 0.0);
    }
  });
  result.colours = colour_clusters<Nodes>(result.batches, mesh.vertices.size());
  return result;
}

template ElementBatches<4> make_element_batches(const TetMesh&, const BlockPattern&);
template ElementBatches<8> make_element_batches(const HexMesh&, const BlockPattern&);

}  // namespace supple
