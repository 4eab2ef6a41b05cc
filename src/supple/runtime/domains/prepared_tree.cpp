// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/domains/prepared_tree.h"

#include "supple/asset/body_stiffness.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace supple {
namespace {

using Field = Eigen::Index;

void prepare_moments(const MassMoments& moments, PreparedPart& out) {
  out.mass = moments.volume;
  const Field fields = out.r + 1;
  for (Field l = 0; l < fields; ++l)
    for (Field i = 0; i < 3; ++i) out.first.push_back(moments.first(i, l));
  for (Field l = 0; l < fields; ++l)
    for (Field b = 0; b < fields; ++b)
      for (Field i = 0; i < 3; ++i)
        for (Field j = 0; j < 3; ++j) out.second.push_back(moments.second(3 * l + i, 3 * b + j));
  for (Field l = 1; l < fields; ++l) {
    for (Field b = 1; b < fields; ++b) {
      const Mat3 S = moments.second.block<3, 3>(3 * b, 3 * l);  // ∫ φ_b φ_lᵀ
      for (const double value : {S(1, 2) - S(2, 1), S(2, 0) - S(0, 2), S(0, 1) - S(1, 0)}) out.twist.push_back(value);
    }
  }
  const MatX mass = moments.reduced_mass();
  for (Field b = 0; b < out.r; ++b)
    for (Field a = 0; a <= b; ++a) out.reduced_mass.push_back(mass(a, b));
}

void prepare_surface(const DisplaySurface& surface, PreparedPart& out) {
  const Field fields = out.r + 1;
  MatX first = MatX::Zero(3, fields);
  Mat3 facing = Mat3::Zero();
  for (const Triangle& t : surface.triangles) {
    const Vec3& a = surface.rest_positions[to_size(t[0])];
    const Vec3 n = 0.5 * (surface.rest_positions[to_size(t[1])] - a).cross(surface.rest_positions[to_size(t[2])] - a);
    const double area = n.norm();
    if (!(area > 0)) continue;
    out.area += area;
    facing += 0.5 / area * n * n.transpose();
    for (const Index v : t) {
      first.col(0) += area / 3 * surface.rest_positions[to_size(v)];
      for (Field l = 1; l < fields; ++l) first.col(l) += area / 3 * surface.basis.col(l - 1).segment<3>(3 * v);
    }
  }
  out.area_first.assign(first.data(), first.data() + first.size());
  for (Field i = 0; i < 3; ++i)
    for (Field j = 0; j < 3; ++j) out.facing[to_size(3 * i + j)] = facing(i, j);
  out.surface_rest = surface.rest_positions;
  for (Field row = 0; row < surface.basis.rows(); ++row)
    for (Field l = 0; l < out.r; ++l) out.surface_rows.push_back(surface.basis(row, l));
}

/// Everything about one domain that the layout needs.
struct TreeFacts {
  std::vector<int> level;
  std::vector<char> has_children;
  std::vector<double> subtree_mass;
  std::vector<Vec3> subtree_centre;  ///< at rest, in the domain's own axes, from its origin
};

TreeFacts facts_of(const DomainModel& model, const PreparedTree& tree) {
  const std::size_t count = model.domains.size();
  TreeFacts facts{std::vector<int>(count, 0), std::vector<char>(count, 0), std::vector<double>(count, 0.0),
                  std::vector<Vec3>(count, Vec3::Zero())};
  std::vector<Vec3> moment(count, Vec3::Zero());  // of mass, in the world
  for (std::size_t d = 0; d < count; ++d) {
    const Domain& domain = model.domains[d];
    const PreparedPart& part = tree.parts[to_size(domain.part)];
    const double s = domain.scale, mass = s * s * s * part.mass;
    facts.subtree_mass[d] = mass;
    const Vec3 first(part.first[0], part.first[1], part.first[2]);
    moment[d] = mass * domain.position + s * s * s * s * (domain.rotation * first);
    if (d == 0) continue;
    facts.level[d] = facts.level[to_size(domain.parent)] + 1;
    facts.has_children[to_size(domain.parent)] = 1;
  }
  for (std::size_t d = count; d-- > 0;) {
    const Domain& domain = model.domains[d];
    if (d > 0) {
      facts.subtree_mass[to_size(domain.parent)] += facts.subtree_mass[d];
      moment[to_size(domain.parent)] += moment[d];
    }
    if (!(facts.subtree_mass[d] > 0)) continue;  // the site of a closure
    facts.subtree_centre[d] = domain.rotation.transpose() * (moment[d] / facts.subtree_mass[d] - domain.position);
  }
  return facts;
}

/// Level, part, part of the parent, and whether there are children: what makes domains of one group.
using GroupKey = std::tuple<int, Index, Index, bool>;

/// Batches of one group, by parents.
void add_batches(const DomainModel& model, std::vector<Index> domains, PreparedTree& tree) {
  const auto parent_of = [&](Index d) { return model.domains[to_size(d)].parent; };
  std::stable_sort(domains.begin(), domains.end(), [&](Index a, Index b) { return parent_of(a) < parent_of(b); });
  for (std::size_t first = 0; first < domains.size(); first += 4) {
    DomainBatch batch;
    batch.group = static_cast<Index>(tree.groups.size()) - 1;
    batch.lanes = static_cast<int>(std::min<std::size_t>(4, domains.size() - first));
    for (std::size_t lane = 0; lane < 4; ++lane) {
      batch.domain[lane] = domains[first + (lane < to_size(batch.lanes) ? lane : 0)];
      batch.parent[lane] = parent_of(batch.domain[lane]);
    }
    tree.batches.push_back(batch);
  }
}

/// Cuts the batches from `first` on, a group, into chunks that are worth a thread's while and at most 64.
void add_chunks(std::size_t first, int r, PreparedTree& tree) {
  const std::size_t count = tree.batches.size() - first;
  // The stiffness polynomial's r⁴/8 multiplications, and all that doesn't depend on r: some 20 µs for a chunk.
  const double work = 2000 + std::pow(r, 4) / 8;
  const std::size_t size = std::max((count + 63) / 64, to_size(std::ceil(40000 / work)));
  DomainGroup& group = tree.groups.back();
  group.first_chunk = tree.chunks.size();
  for (std::size_t at = first; at < tree.batches.size(); at += size) {
    DomainChunk chunk{at, std::min(at + size, tree.batches.size())};
    const Index parent = tree.batches[at].parent[0];
    if (at > first && parent == tree.batches[at - 1].parent[to_size(tree.batches[at - 1].lanes) - 1])
      chunk.shared_parent = parent;
    tree.chunks.push_back(chunk);
  }
  group.end_chunk = tree.chunks.size();
  tree.most_chunks = std::max(tree.most_chunks, group.end_chunk - group.first_chunk);
}

void make_batches(const DomainModel& model, const TreeFacts& facts, PreparedTree& tree) {
  std::map<GroupKey, std::vector<Index>> members;
  for (std::size_t d = 0; d < model.domains.size(); ++d) {
    const Domain& domain = model.domains[d];
    const Index above = domain.parent < 0 ? -1 : model.domains[to_size(domain.parent)].part;
    members[{facts.level[d], domain.part, above, facts.has_children[d] != 0}].push_back(static_cast<Index>(d));
  }
  for (const auto& [key, domains] : members) {
    const auto& [level, part, above, has_children] = key;
    const int r = tree.parts[to_size(part)].r;
    tree.groups.push_back({part, r, above < 0 ? 0 : tree.parts[to_size(above)].r, level, has_children});
    const std::size_t first = tree.batches.size();
    add_batches(model, domains, tree);
    add_chunks(first, r, tree);
  }
}

void fill_coefficients(const DomainModel& model, const DomainBatch& batch, float* out) {
  for (std::size_t lane = 0; lane < 4; ++lane) {
    const Domain& domain = model.domains[to_size(batch.domain[lane])];
    if (domain.parent < 0) return;
    float* to = out + lane;
    for (Eigen::Index l = 0; l < domain.interface.move.cols(); ++l) {
      for (int i = 0; i < 3; ++i, to += 4) *to = static_cast<float>(domain.interface.move(i, l));
      for (int k = 0; k < 9; ++k, to += 4) *to = static_cast<float>(domain.interface.turn(k, l));
    }
  }
}

void fill_constants(const DomainModel& model, const TreeFacts& facts, const DomainBatch& batch, Pack4* out) {
  for (int lane = 0; lane < 4; ++lane) {
    const auto d = to_size(batch.domain[to_size(lane)]);
    const Domain& domain = model.domains[d];
    const double s = domain.scale;
    const bool root = domain.parent < 0;
    const Domain& above = root ? domain : model.domains[to_size(domain.parent)];
    out[PreparedTree::scale].set(lane, s);
    out[PreparedTree::scale3].set(lane, s * s * s);
    out[PreparedTree::scale4].set(lane, s * s * s * s);
    out[PreparedTree::scale5].set(lane, s * s * s * s * s);
    out[PreparedTree::elastic].set(lane, s * s * s * domain.stiffness);
    out[PreparedTree::parent_scale].set(lane, root ? 1.0 : above.scale);
    out[PreparedTree::subtree_mass].set(lane, facts.subtree_mass[d]);
    const Mat3 turn = above.rotation.transpose() * domain.rotation;
    for (int i = 0; i < 3; ++i) {
      out[PreparedTree::centre + i].set(lane, domain.interface.centre[i]);
      out[PreparedTree::subtree_centre + i].set(lane, facts.subtree_centre[d][i]);
      for (int j = 0; j < 3; ++j) out[PreparedTree::rest_turn + 3 * i + j].set(lane, turn(i, j));
    }
  }
}

void lay_out(const DomainModel& model, const TreeFacts& facts, PreparedTree& tree) {
  for (std::size_t d = 0; d < model.domains.size(); ++d) {
    const int r = tree.part_of(d).r;
    tree.offset_of.push_back(tree.coordinates);
    tree.coordinates += to_size(r);
    tree.sum_of.push_back(facts.has_children[d] != 0 ? tree.sums : PreparedTree::none);
    if (facts.has_children[d] != 0) tree.sums += to_size(PreparedTree::sum_count(r));
  }
  for (DomainBatch& batch : tree.batches) {
    const DomainGroup& group = tree.groups[to_size(batch.group)];
    batch.constants = tree.lanes.size();
    tree.lanes.resize(tree.lanes.size() + PreparedTree::constant_count);
    fill_constants(model, facts, batch, tree.lanes.data() + batch.constants);
    batch.coefficients = tree.coefficients.size();
    tree.coefficients.resize(tree.coefficients.size() + to_size(48 * group.parent_r));
    fill_coefficients(model, batch, tree.coefficients.data() + batch.coefficients);
    batch.moving = tree.moving_lanes;
    tree.moving_lanes += to_size(PreparedTree::answer + 7 * group.r);
  }
}

/// The domains between sites and the root, and where they are in the batches.
void find_paths(const DomainModel& model, PreparedTree& tree) {
  if (model.closures.empty()) return;
  std::vector<char> is_on(model.domains.size(), 0);
  for (const DomainClosure& closure : model.closures)
    for (const Index site : {closure.first, closure.second})
      for (Index d = site; d >= 0; d = model.domains[to_size(d)].parent) is_on[to_size(d)] = 1;
  std::vector<std::size_t> place(model.domains.size(), 0);
  tree.factor_of.assign(model.domains.size(), PreparedTree::none);
  for (std::size_t d = 0; d < model.domains.size(); ++d) {
    if (is_on[d] == 0) continue;
    place[d] = tree.paths.size();
    const int r = tree.part_of(d).r;
    tree.factor_of[d] = tree.factors;
    tree.factors += to_size(r * (r + 1) / 2);
    PathDomain path{.domain = static_cast<Index>(d)};
    if (d > 0) path.parent = place[to_size(model.domains[d].parent)];
    for (std::size_t b = 0; b < tree.batches.size(); ++b)
      for (int lane = 0; lane < tree.batches[b].lanes; ++lane) {
        if (tree.batches[b].domain[to_size(lane)] != path.domain) continue;
        path.batch = b;
        path.lane = lane;
        tree.batches[b].on_path = true;
      }
    tree.paths.push_back(path);
  }
  const Domain& root = model.domains[0];
  for (const DomainClosure& closure : model.closures) {
    const Domain& site = model.domains[to_size(closure.first)];
    tree.closures.push_back({.first = place[to_size(closure.first)],
                             .second = closure.second < 0 ? 0 : place[to_size(closure.second)],
                             .anchor = root.rotation.transpose() * (site.position - root.position),
                             .anchor_turn = root.rotation.transpose() * site.rotation,
                             .give = closure.give,
                             .radius = closure.radius});
  }
}

}  // namespace

PreparedPart::PreparedPart(const SubspaceModel& part, const PartCubature* points)
    : r(part.size()), polynomial(body_stiffness(part)) {
  if (points != nullptr) cubature = domains::LaneCubature(*points);
  prepare_moments(mass_moments(part), *this);
  prepare_surface(part.surface, *this);
}

Result<PreparedTree> prepare_tree(const DomainModel& model) {
  SUPPLE_RETURN_IF_ERROR(check_domain_model(model));
  PreparedTree tree;
  for (std::size_t p = 0; p < model.parts.size(); ++p) {
    tree.parts.emplace_back(model.parts[p], model.cubature_of(p));
    tree.largest = std::max(tree.largest, tree.parts.back().r);
    tree.largest_pairs = std::max(tree.largest_pairs, tree.parts.back().polynomial.padded_pairs());
  }
  for (const Domain& domain : model.domains) {
    tree.part.push_back(domain.part);
    tree.parent.push_back(domain.parent);
    tree.domain_scale.push_back(domain.scale);
  }
  const TreeFacts facts = facts_of(model, tree);
  make_batches(model, facts, tree);
  lay_out(model, facts, tree);
  find_paths(model, tree);
  tree.anchored = model.anchored();
  tree.root_rotation = model.domains[0].rotation;
  tree.root_position = model.domains[0].position;
  tree.surface = model.surface;
  return tree;
}

}  // namespace supple
