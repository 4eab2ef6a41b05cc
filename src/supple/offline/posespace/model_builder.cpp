// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/model_builder.h"

#include "supple/fem/element.h"

#include <Eigen/LU>

#include <algorithm>
#include <map>

namespace supple {
namespace {

using PatchSet = std::vector<char>;  ///< which patches, one entry each

constexpr std::size_t batch = 8;  ///< elements that steps take at once, in single precision

class Builder {
 public:
  explicit Builder(const ModelParts& parts) : parts_(parts), place_(parts.mesh.vertices.size(), -1) {
    int first = 0;
    const auto columns = static_cast<int>(parts.poses.front().basis.cols());
    for (const int size : parts.patch_sizes) patches_.push_back({first, size}), first += size;
    if (patches_.empty()) patches_.push_back({0, columns});
    std::vector<const MatX*> bases, inertial;
    for (const PoseBasis& pose : parts.poses) bases.push_back(&pose.basis);
    for (const MatX& basis : parts.inertial) inertial.push_back(&basis);
    vertex_patches_ = patches_of_vertices(bases);
    inertial_patches_ = patches_of_vertices(inertial);
  }

  PoseSpaceModel build() {
    model_.exact_strain = parts_.exact_strain;
    add_elements();
    add_inertia();
    for (const auto& site : parts_.frames.sites) model_.sites.push_back(tet(site));
    add_surface();
    model_.directions = parts_.directions;
    add_sources();
    return std::move(model_);
  }

 private:
  struct Range {
    int first, size;
  };

  /// The patches that move each vertex in any of the poses.
  std::vector<PatchSet> patches_of_vertices(std::span<const MatX* const> bases) const {
    std::vector<PatchSet> result(parts_.mesh.vertices.size(), PatchSet(patches_.size(), 0));
    for (std::size_t v = 0; v < result.size(); ++v) {
      for (std::size_t k = 0; k < patches_.size(); ++k) {
        for (const MatX* basis : bases) {
          const auto rows = basis->block(3 * static_cast<Eigen::Index>(v), patches_[k].first, 3, patches_[k].size);
          if ((rows.array() != 0).any()) result[v][k] = 1;
        }
      }
    }
    return result;
  }

  std::vector<Index> columns_of(const PatchSet& set) const {
    std::vector<Index> columns;
    for (std::size_t k = 0; k < patches_.size(); ++k) {
      if (!set[k]) continue;
      for (int c = 0; c < patches_[k].size; ++c) columns.push_back(patches_[k].first + c);
    }
    return columns;
  }

  /// What a block of so many vertices costs in a step: whole vectors of columns, and some work of its own.
  static double vertices_cost(std::size_t vertices, std::size_t columns) {
    return (static_cast<double>(vertices) + 4) * 8 * std::ceil(static_cast<double>(columns) / 8);
  }
  /// A batch of elements costs as much as its columns, and what it takes however few they are (measured: as 16).
  static double batch_cost(std::size_t columns) { return static_cast<double>(columns) + 16; }

  static PatchSet united(const PatchSet& a, const PatchSet& b) {
    PatchSet result = a;
    for (std::size_t k = 0; k < b.size(); ++k) result[k] = static_cast<char>(a[k] | b[k]);
    return result;
  }

  static bool within(const PatchSet& inner, const PatchSet& outer) { return united(inner, outer) == outer; }

  /// Sites that the same patches move, together …
  using Groups = std::map<PatchSet, std::vector<std::size_t>>;
  using Group = std::pair<PatchSet, std::vector<std::size_t>>;

  /// … and blocks of vertices are joined as long as that is cheaper.
  void join(Groups& groups) const {
    for (bool joined = true; joined && groups.size() > 1;) {
      joined = false;
      double best = 0;
      std::pair<PatchSet, PatchSet> pair;
      for (auto a = groups.begin(); a != groups.end(); ++a) {
        for (auto b = std::next(a); b != groups.end(); ++b) {
          const double apart = vertices_cost(a->second.size(), columns_of(a->first).size()) +
                               vertices_cost(b->second.size(), columns_of(b->first).size());
          const double together =
              vertices_cost(a->second.size() + b->second.size(), columns_of(united(a->first, b->first)).size());
          if (apart - together > best) best = apart - together, pair = {a->first, b->first}, joined = true;
        }
      }
      if (!joined) break;
      std::vector<std::size_t> sites = groups[pair.first];
      sites.insert(sites.end(), groups[pair.second].begin(), groups[pair.second].end());
      std::sort(sites.begin(), sites.end());
      groups.erase(pair.first);
      groups.erase(pair.second);
      auto& target = groups[united(pair.first, pair.second)];
      target.insert(target.end(), sites.begin(), sites.end());
      std::sort(target.begin(), target.end());
    }
  }

  /// Steps take eight elements at a time. What a group has beyond whole batches shares one with what others have, as
  /// long as that is cheaper: elements don't mind columns in which they are zero.
  Groups in_whole_batches(const Groups& groups) const {
    Groups whole;
    std::vector<Group> open;
    for (const auto& [set, members] : groups) {
      const auto end = members.begin() + static_cast<std::ptrdiff_t>(members.size() / batch * batch);
      if (end != members.begin()) whole[set].assign(members.begin(), end);
      if (end != members.end()) open.emplace_back(set, std::vector<std::size_t>(end, members.end()));
    }
    while (join_two(open)) {
    }
    spread(open);
    for (const auto& [set, members] : open) {
      std::vector<std::size_t>& target = whole[set];
      target.insert(target.end(), members.begin(), members.end());
      std::sort(target.begin(), target.end());
    }
    return whole;
  }

  /// The two that it saves most. False where it doesn't.
  bool join_two(std::vector<Group>& open) const {
    double best = 0;
    std::size_t first = 0, second = 0;
    for (std::size_t a = 0; a < open.size(); ++a) {
      for (std::size_t b = a + 1; b < open.size(); ++b) {
        if (open[a].second.size() + open[b].second.size() > batch) continue;
        const double saved = batch_cost(columns_of(open[a].first).size()) +
                             batch_cost(columns_of(open[b].first).size()) -
                             batch_cost(columns_of(united(open[a].first, open[b].first)).size());
        if (saved > best) best = saved, first = a, second = b;
      }
    }
    if (best == 0) return false;
    auto& [set, members] = open[first];
    set = united(set, open[second].first);
    members.insert(members.end(), open[second].second.begin(), open[second].second.end());
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(second));
    return true;
  }

  /// Whole groups into free places of several others that have all their columns, the smallest first.
  static void spread(std::vector<Group>& open) {
    std::stable_sort(open.begin(), open.end(),
                     [](const Group& a, const Group& b) { return a.second.size() < b.second.size(); });
    for (std::size_t from = 0; from < open.size();) {
      auto& [set, members] = open[from];
      const auto has_place = [&, &own = set](std::size_t to) {
        return to != from && open[to].second.size() < batch && within(own, open[to].first);
      };
      std::size_t places = 0;
      for (std::size_t to = 0; to < open.size(); ++to)
        if (has_place(to)) places += batch - open[to].second.size();
      if (places < members.size()) {
        ++from;
        continue;
      }
      for (std::size_t to = 0; to < open.size(); ++to) {
        while (has_place(to) && !members.empty()) {
          open[to].second.push_back(members.back());
          members.pop_back();
        }
      }
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(from));
    }
  }

  void add_elements() {
    Groups groups;
    const std::vector<Index>& sites = parts_.elements.front().sites;
    for (std::size_t i = 0; i < sites.size(); ++i) {
      PatchSet set(patches_.size(), 0);
      for (const Index v : parts_.mesh.elements[to_size(sites[i])]) set = united(set, vertex_patches_[to_size(v)]);
      groups[set].push_back(i);
    }
    for (const auto& [set, members] : in_whole_batches(groups)) model_.elements.push_back(element_block(set, members));
  }

  ElementBlock element_block(const PatchSet& set, const std::vector<std::size_t>& members) {
    ElementBlock block;
    block.columns = columns_of(set);
    const auto count = std::ssize(members), poses = std::ssize(parts_.poses);
    block.weights = block.mu = block.lambda = MatX::Zero(count, poses);
    const Index rows = model_.element_rows();
    block.gradients.assign(parts_.poses.size(), MatX(rows * count, std::ssize(block.columns)));
    for (Eigen::Index k = 0; k < count; ++k) {
      const std::size_t i = members[to_size(k)];
      const auto e = to_size(parts_.elements.front().sites[i]);
      block.tets.push_back(tet(parts_.mesh.elements[e]));
      const double volume = element_shape(element_nodes(parts_.mesh, e)).volume();
      for (Eigen::Index pose = 0; pose < poses; ++pose) {
        const PoseBasis& known = parts_.poses[to_size(pose)];
        const ElasticMaterial& material = known.materials.empty() ? parts_.mesh.material_of(e) : known.materials[e];
        const Lame<double> lame = lame_from(material.young, material.poisson);
        block.weights(k, pose) = parts_.elements[to_size(pose)].weights[static_cast<Eigen::Index>(i)] * volume;
        block.mu(k, pose) = lame.mu;
        block.lambda(k, pose) = lame.lambda;
        block.gradients[to_size(pose)].middleRows(rows * k, rows) =
            element_rows(e, to_size(pose))(Eigen::all, block.columns);
      }
      if (parts_.exact_strain) block.corners.push_back(corner_frames(e));
    }
    return block;
  }

  MatX element_rows(std::size_t e, std::size_t pose) const {
    return parts_.exact_strain ? corner_rows(parts_.mesh, e, parts_.poses[pose].basis)
                               : element_gradient(parts_.mesh, e, parts_.poses, pose, parts_.directions);
  }
  std::array<FrameBlend, 4> corner_frames(std::size_t e) const {
    std::array<FrameBlend, 4> frames;
    for (std::size_t k = 0; k < 4; ++k) frames[k] = parts_.frames.vertices[to_size(parts_.mesh.elements[e][k])];
    return frames;
  }

  /// `basis(i)`: Û of pose i, or what stands for it.
  template <class Basis>
  VertexBlock vertex_block(const PatchSet& set, const std::vector<Index>& vertices, const Basis& basis) const {
    VertexBlock block;
    block.columns = columns_of(set);
    block.basis.assign(parts_.poses.size(), MatX(3 * std::ssize(vertices), std::ssize(block.columns)));
    for (std::size_t k = 0; k < vertices.size(); ++k) {
      const Index v = vertices[k];
      block.frames.push_back(parts_.frames.vertices[to_size(v)]);
      for (std::size_t i = 0; i < parts_.poses.size(); ++i) {
        MatX rows = basis(i).template middleRows<3>(3 * v);
        if (parts_.directions == BasisDirections::world) rows = parts_.poses[i].turns[to_size(v)] * rows;
        block.basis[i].middleRows<3>(3 * static_cast<Eigen::Index>(k)) = rows(Eigen::all, block.columns);
      }
    }
    return block;
  }

  void add_inertia() {
    Groups groups;
    for (std::size_t i = 0; i < parts_.vertices.sites.size(); ++i)
      groups[inertial_patches_[to_size(parts_.vertices.sites[i])]].push_back(i);
    join(groups);
    for (const auto& [set, members] : groups) {
      if (columns_of(set).empty()) continue;
      InertialBlock block;
      block.weights.resize(std::ssize(members));
      std::vector<Index> vertices;
      for (const std::size_t i : members) {
        const Index v = parts_.vertices.sites[i];
        block.weights[std::ssize(vertices)] =
            parts_.vertices.weights[static_cast<Eigen::Index>(i)] * parts_.vertex_mass[3 * v];
        block.points.push_back(point(v));
        vertices.push_back(v);
      }
      block.vertices = vertex_block(set, vertices, [&](std::size_t i) -> const MatX& { return parts_.inertial[i]; });
      model_.inertia.push_back(std::move(block));
    }
  }

  void add_surface() {
    const Embedding& embedding = parts_.embedding;
    std::map<PatchSet, std::vector<Index>> groups;
    std::vector<char> used(parts_.mesh.vertices.size(), 0);
    for (const Index v : embedding.vertices) used[to_size(v)] = 1;
    for (std::size_t v = 0; v < used.size(); ++v)
      if (used[v]) groups[vertex_patches_[v]].push_back(static_cast<Index>(v));
    std::vector<Index> number(parts_.mesh.vertices.size(), -1);
    Index next = 0;
    for (const auto& [set, vertices] : groups) {
      for (const Index v : vertices) number[to_size(v)] = next++;
      model_.surface.blocks.push_back(
          vertex_block(set, vertices, [&](std::size_t i) -> const MatX& { return parts_.poses[i].basis; }));
    }
    const auto nodes = to_size(embedding.nodes);
    for (std::size_t i = 0; i < embedding.size(); ++i) {
      std::array<Index, SoftSurface::nodes> vertex{};
      std::array<double, SoftSurface::nodes> weight{};
      for (std::size_t k = 0; k < nodes && k < SoftSurface::nodes; ++k) {
        vertex[k] = number[to_size(embedding.vertices[i * nodes + k])];
        weight[k] = embedding.weights[i * nodes + k];
      }
      model_.surface.vertex.push_back(vertex);
      model_.surface.weight.push_back(weight);
    }
  }

  void add_sources() {
    model_.sources = sources_of(&PoseBasis::sources);
    // With exact strain gradients are rows of the basis.
    model_.gradient_sources = parts_.exact_strain ? model_.sources : sources_of(&PoseBasis::gradient_sources);
  }
  ColumnSources sources_of(std::vector<Index> PoseBasis::*sources) const {
    ColumnSources result;
    const auto takes = [&](const PoseBasis& pose) { return !(pose.*sources).empty(); };
    if (std::none_of(parts_.poses.begin(), parts_.poses.end(), takes)) return result;
    for (std::size_t i = 0; i < parts_.poses.size(); ++i) {
      result.poses.push_back(parts_.poses[i].*sources);
      result.poses.back().resize(to_size(parts_.poses[i].basis.cols()), static_cast<Index>(i));
    }
    return result;
  }

  PosedTet tet(const std::array<Index, 4>& vertices) {
    PosedTet result;
    Mat3 edges;
    for (std::size_t k = 0; k < 4; ++k) {
      result.points[k] = point(vertices[k]);
      const Vec3& x = parts_.mesh.vertices[to_size(vertices[k])];
      if (k > 0) edges.col(static_cast<int>(k) - 1) = x - parts_.mesh.vertices[to_size(vertices[0])];
    }
    result.inverse_edges = edges.inverse();
    return result;
  }
  Index point(Index v) {
    Index& place = place_[to_size(v)];
    if (place < 0) {
      place = static_cast<Index>(model_.points.size());
      model_.points.push_back(v);
    }
    return place;
  }

  const ModelParts& parts_;
  std::vector<Range> patches_;
  std::vector<PatchSet> vertex_patches_, inertial_patches_;
  std::vector<Index> place_;  ///< of the mesh's vertices among the model's points
  PoseSpaceModel model_;
};

}  // namespace

PoseSpaceModel build_model(const ModelParts& parts) { return Builder(parts).build(); }

}  // namespace supple
