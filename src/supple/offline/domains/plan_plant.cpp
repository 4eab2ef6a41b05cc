// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/domains/plan_plant.h"

#include <fmt/format.h>

#include "supple/mesh/box.h"
#include "supple/offline/domains/piece_body.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <map>

namespace supple {
namespace {

constexpr double small_piece = 0.3;         // of the height: what is larger is filled with tetrahedra
constexpr std::size_t few_triangles = 400;  // what has more and isn't tiny is, too
constexpr double tiny_piece = 0.1;
constexpr double same_contact = 0.25;  // of a piece's size: copies that are held farther apart are two kinds
constexpr double light_leaves = 6;     // how much more easily than the whole the wind moves a leaf

CopyPlace after(const CopyPlace& outer, const CopyPlace& inner) {
  return {outer.scale * inner.scale, outer.rotation * inner.rotation, outer.apply(inner.position)};
}

CopyPlace inverse_of(const CopyPlace& place) {
  return {1 / place.scale, place.rotation.transpose(), place.unapply(Vec3::Zero())};
}

class PlantPlanner {
 public:
  PlantPlanner(const Surface& surface, const PlantSettings& settings, Progress& progress)
      : surface_(surface), settings_(settings), progress_(progress) {}

  Result<PlantPlan> run() {
    SUPPLE_RETURN_IF_ERROR(find());
    SUPPLE_RETURN_IF_ERROR(make_bodies());
    assemble();
    show();
    return std::move(plan_);
  }

 private:
  /// Pieces of one shape that are held at the same place of it.
  struct Kind {
    Index piece = 0;  ///< the first of them: the body is in its place
    Vec3 contact = Vec3::Zero();
    PieceBody body;
    Index first_part = 0;
  };

  Status find() {
    progress_.stage("finding pieces");
    const Bounds box = bounds_of(surface_.vertices);
    if (surface_.triangles.empty() || !(box.diagonal() > 0))
      return input_error("it has no triangles with an area; export the plant with its meshes");
    constexpr double weld = 1e-6;
    pieces_ = find_pieces(surface_, weld * box.diagonal());
    if (pieces_.empty()) return input_error("it has no triangles with an area; export the plant with its meshes");
    if (pieces_.size() > PlantSettings::most_pieces)
      return input_error(
          fmt::format("it is in {} pieces that don't touch, more than the {} that are told apart; join "
                      "leaves to clumps, or leave some out",
                      pieces_.size(), PlantSettings::most_pieces));
    Bounds all;
    for (const SurfacePiece& piece : pieces_) {
      all.add(piece.bounds.min);
      all.add(piece.bounds.max);
    }
    found().height = std::max(all.size().y(), all.size().maxCoeff() / 3);
    ground_.level = all.min.y();
    ground_.place = settings_.base;
    double nearest = std::numeric_limits<double>::infinity();
    for (const Vec3& v : surface_.vertices) nearest = std::min(nearest, ground_.away(v));
    if (ground_.place) ground_.nearest = nearest;
    hang_ = hang_pieces(pieces_, ground_, found().height);
    found().pieces = static_cast<Index>(pieces_.size());
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      found().grounded += hang_.hold[p].parent < 0 ? 1 : 0;
      found().copies += pieces_[p].original != static_cast<Index>(p) ? 1 : 0;
      if (hang_.hold[p].parent >= 0) found().widest_gap = std::max(found().widest_gap, hang_.hold[p].gap);
    }
    return {};
  }

  PlantFindings& found() { return plan_.found; }

  bool is_large(const SurfacePiece& piece) const {
    const double share = piece.size() / plan_.found.height;
    return share > small_piece || (piece.shape.triangles.size() > few_triangles && share > tiny_piece);
  }

  /// Pieces of one shape, held in nearly the same place, are of one kind.
  void sort_into_kinds() {
    std::map<Index, std::vector<Index>> of_shape;
    kind_of_.assign(pieces_.size(), -1);
    for (const Index p : hang_.order) {
      const SurfacePiece& piece = pieces_[to_size(p)];
      const Vec3 contact = piece.place.unapply(hang_.hold[to_size(p)].contact);
      const double near = same_contact * pieces_[to_size(piece.original)].size();
      for (const Index k : of_shape[piece.original])
        if ((kinds_[to_size(k)].contact - contact).norm() <= near && same_support(p, kinds_[to_size(k)].piece))
          kind_of_[to_size(p)] = k;
      if (kind_of_[to_size(p)] >= 0) continue;
      kind_of_[to_size(p)] = static_cast<Index>(kinds_.size());
      of_shape[piece.original].push_back(kind_of_[to_size(p)]);
      Kind kind;
      kind.piece = p;
      kind.contact = contact;
      kinds_.push_back(std::move(kind));
    }
  }

  /// What stands on the ground is held otherwise than what hangs.
  bool same_support(Index a, Index b) const {
    return (hang_.hold[to_size(a)].parent < 0) == (hang_.hold[to_size(b)].parent < 0);
  }

  PieceSupport support_of(Index p) const {
    const PieceHold& hold = hang_.hold[to_size(p)];
    PieceSupport support;
    support.contact = hold.contact;
    support.ground = ground_;
    support.reach = 0.03 * (hold.parent < 0 ? plan_.found.height : pieces_[to_size(p)].size());
    if (hold.parent >= 0) support.parent = &pieces_[to_size(hold.parent)].shape;
    for (std::size_t c = 0; c < pieces_.size(); ++c)
      if (hang_.hold[c].parent == p && is_large(pieces_[c])) support.covers.push_back(&pieces_[c].shape);
    return support;
  }

  Status make_bodies() {
    sort_into_kinds();
    double sizes = 0;
    for (const Kind& kind : kinds_)
      if (is_large(pieces_[to_size(kind.piece)])) sizes += pieces_[to_size(kind.piece)].size();
    SUPPLE_RETURN_IF_ERROR(fill_large(sizes));
    return box_small();
  }

  Status fill_large(double sizes) {
    for (Kind& kind : kinds_) {
      const SurfacePiece& piece = pieces_[to_size(kind.piece)];
      if (!is_large(piece)) continue;
      if (progress_.cancelled()) return failure("cancelled");
      progress_.stage("filling the branches");
      const int tets = std::clamp(static_cast<int>(settings_.tets * piece.size() / sizes), 600, settings_.tets);
      Result<PieceBody> body = fill_piece(piece, support_of(kind.piece), tets, settings_);
      if (!body.ok()) {  // a sheet or a tangle that can't be filled still moves as bricks do
        body = box_piece(piece, support_of(kind.piece), 7 * piece.area * piece.size(), settings_.branch_size);
        SUPPLE_RETURN_IF_ERROR(body);
      }
      kind.body = std::move(*body);
      found().loops += kind.body.loops;
    }
    return {};
  }

  /// The weight of leaves for a unit of area: the wind moves them some times as easily as the whole.
  double leaf_weight() const {
    double wood = 0, wood_area = 0, leaf_area = 0;
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      const SurfacePiece& piece = pieces_[p];
      if (!is_large(piece)) {
        leaf_area += piece.area;
        continue;
      }
      wood_area += piece.area;
      const Kind& kind = kinds_[to_size(kind_of_[p])];
      const double scale = piece.size() / pieces_[to_size(kind.piece)].size();
      wood += std::pow(scale, 3) * kind.body.mass();
    }
    if (wood <= 0) return 0.2;
    return wood / (light_leaves * wood_area + (light_leaves - 1) * leaf_area);
  }

  Status box_small() {
    const double weight = leaf_weight();
    std::vector<Index> copies(kinds_.size(), 0);
    for (const Index k : kind_of_) ++copies[to_size(k)];
    std::vector<Index> small;
    for (Index k = 0; k < std::ssize(kinds_); ++k)
      if (!is_large(pieces_[to_size(kinds_[to_size(k)].piece)])) small.push_back(k);
    std::stable_sort(small.begin(), small.end(), [&](Index a, Index b) {
      const auto seen = [&](Index k) { return copies[to_size(k)] * pieces_[to_size(kinds_[to_size(k)].piece)].area; };
      return seen(a) > seen(b);
    });
    for (std::size_t n = 0; n < small.size(); ++n) {
      Kind& kind = kinds_[to_size(small[n])];
      const SurfacePiece& piece = pieces_[to_size(kind.piece)];
      const bool soft = n < to_size(settings_.most_kinds);
      if (!soft) found().rigid += copies[to_size(small[n])];
      Result<PieceBody> body =
          box_piece(piece, support_of(kind.piece), weight * piece.area, soft ? settings_.leaf_size : 0);
      SUPPLE_RETURN_IF_ERROR(body);
      kind.body = std::move(*body);
    }
    return {};
  }

  // ---- one tree of all
  // ------------------------------------------------------------------------------------------------

  void assemble() {
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      kinds_[k].first_part = static_cast<Index>(plan_.tree.parts.size());
      for (std::size_t d = 0; d < kinds_[k].body.tree.parts.size(); ++d) {
        PartPlan& part = plan_.tree.parts.emplace_back(kinds_[k].body.tree.parts[d]);
        const bool leaf = part.name == "leaf";
        part.name = fmt::format("{} {}{}", leaf ? "leaf" : "branch", k, d == 0 ? "" : fmt::format(".{}", d));
      }
    }
    if (found().grounded > 1) add_ground();
    first_domain_.assign(pieces_.size(), -1);
    for (const Index p : hang_.order) add_piece(p);
    if (plan_.tree.domains.size() == 1) plan_.tree.parts[0].size = settings_.whole_size;
  }

  /// Something rigid that all pieces on the ground stand on.
  void add_ground() {
    PartPlan part;
    part.name = "ground";
    const double cube = 0.02 * found().height;
    HexMesh mesh = make_hex_box(Vec3::Constant(cube), {1, 1, 1});
    for (Vec3& v : mesh.vertices) v -= Vec3(cube / 2, cube, cube / 2);
    set_uniform_material(mesh, default_material());
    part.mesh = mesh;
    part.size = 0;
    part.fixed = {0, 1, 2, 3, 4, 5, 6, 7};
    part.surface.emplace();
    DomainPlan domain;
    domain.part = static_cast<Index>(plan_.tree.parts.size());
    domain.position = ground_.place.value_or(Vec3(0, ground_.level, 0));
    plan_.tree.parts.push_back(std::move(part));
    plan_.tree.domains.push_back(domain);
  }

  /// Where a member of a kind is, seen from the first of it.
  CopyPlace place_of(Index p) const {
    const Kind& kind = kinds_[to_size(kind_of_[to_size(p)])];
    if (p == kind.piece) return {};
    return after(pieces_[to_size(p)].place, inverse_of(pieces_[to_size(kind.piece)].place));
  }

  void add_piece(Index p) {
    const Kind& kind = kinds_[to_size(kind_of_[to_size(p)])];
    const CopyPlace place = place_of(p);
    const auto first = static_cast<Index>(plan_.tree.domains.size());
    first_domain_[to_size(p)] = first;
    for (std::size_t d = 0; d < kind.body.tree.domains.size(); ++d) {
      DomainPlan domain = kind.body.tree.domains[d];
      domain.part = kind.first_part + static_cast<Index>(d);
      domain.parent = d == 0 ? parent_of(p) : first + domain.parent;
      domain.scale = place.scale;
      domain.rotation = place.rotation;
      domain.position = place.apply(domain.position);
      if (d == 0) domain.reach = std::max(0.15 * pieces_[to_size(p)].size(), 0.02 * found().height);
      plan_.tree.domains.push_back(std::move(domain));
    }
    if (is_large(pieces_[to_size(p)])) {
      ++found().large;
      found().branches += static_cast<Index>(kind.body.tree.domains.size()) - 1;
    }
  }

  Index parent_of(Index p) const {
    const Index above = hang_.hold[to_size(p)].parent;
    if (above < 0) return plan_.found.grounded > 1 ? 0 : -1;
    const Vec3 there = place_of(above).unapply(hang_.hold[to_size(p)].contact);
    return first_domain_[to_size(above)] + kinds_[to_size(kind_of_[to_size(above)])].body.domain_at(there);
  }

  // ---- what is looked at
  // ----------------------------------------------------------------------------------------------

  void show() {
    struct Source {
      Index domain, vertex;
    };
    std::vector<std::vector<Source>> sources(surface_.vertices.size());
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      const PieceBody& body = kinds_[to_size(kind_of_[p])].body;
      for (std::size_t d = 0; d < body.shown.size(); ++d)
        for (std::size_t v = 0; v < body.shown[d].size(); ++v)
          sources[to_size(pieces_[p].vertices[to_size(body.shown[d][v])])].push_back(
              {first_domain_[p] + static_cast<Index>(d), static_cast<Index>(v)});
    }
    DomainSurface& shown = plan_.tree.surface;
    shown.first.push_back(0);
    plan_.shown.assign(sources.size(), -1);
    plan_.domain.assign(sources.size(), 0);
    for (std::size_t v = 0; v < sources.size(); ++v) {
      if (sources[v].empty()) continue;
      plan_.shown[v] = shown.vertex_count();
      plan_.domain[v] = sources[v].front().domain;
      for (const Source& source : sources[v]) {
        shown.domain.push_back(source.domain);
        shown.vertex.push_back(source.vertex);
      }
      shown.first.push_back(static_cast<Index>(shown.domain.size()));
    }
    for (const Triangle& t : surface_.triangles) {
      const Triangle own{plan_.shown[to_size(t[0])], plan_.shown[to_size(t[1])], plan_.shown[to_size(t[2])]};
      if (own[0] >= 0 && own[1] >= 0 && own[2] >= 0) shown.triangles.push_back(own);
    }
  }

  const Surface& surface_;
  const PlantSettings& settings_;
  Progress& progress_;
  std::vector<SurfacePiece> pieces_;
  PlantGround ground_;
  PieceTree hang_;
  std::vector<Kind> kinds_;
  std::vector<Index> kind_of_, first_domain_;
  PlantPlan plan_;
};

}  // namespace

Result<PlantPlan> plan_plant(const Surface& surface, const PlantSettings& settings, Progress& progress) {
  return PlantPlanner(surface, settings, progress).run();
}

}  // namespace supple
