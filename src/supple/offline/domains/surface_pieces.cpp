// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/domains/surface_pieces.h"

#include "supple/math/dense/svd3.h"
#include "supple/mesh/disjoint_sets.h"
#include "supple/mesh/normals.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <map>

namespace supple {
namespace {

constexpr double same_shape = 2e-3;  // of a piece's size: what exporters' rounding leaves between copies

/// Unites vertices that fall into one cell of a grid, and of the same grid moved by half a cell.
void unite_near(std::span<const Vec3> points, double weld, DisjointSets& sets) {
  for (const double shift : {0.0, 0.5}) {
    std::map<std::array<std::int64_t, 3>, Index> first;
    for (std::size_t v = 0; v < points.size(); ++v) {
      std::array<std::int64_t, 3> cell{};
      for (std::size_t a = 0; a < 3; ++a)
        cell[a] = static_cast<std::int64_t>(std::floor(points[v][static_cast<Eigen::Index>(a)] / weld + shift));
      const auto [place, is_new] = first.emplace(cell, static_cast<Index>(v));
      if (!is_new) sets.unite(place->second, static_cast<Index>(v));
    }
  }
}

SurfacePiece piece_of(const Surface& surface, std::span<const Index> triangles, std::vector<Index>& number) {
  SurfacePiece piece;
  for (const Index t : triangles) {
    Triangle own = surface.triangles[to_size(t)];
    piece.area += area_vector(own, surface.vertices).norm();
    for (Index& v : own) {
      if (number[to_size(v)] < 0) {
        number[to_size(v)] = static_cast<Index>(piece.vertices.size());
        piece.vertices.push_back(v);
        piece.shape.vertices.push_back(surface.vertices[to_size(v)]);
        piece.bounds.add(surface.vertices[to_size(v)]);
      }
      v = number[to_size(v)];
    }
    piece.shape.triangles.push_back(own);
  }
  for (const Index v : piece.vertices) number[to_size(v)] = -1;
  return piece;
}

bool fits(const CopyPlace& place, std::span<const Vec3> from, std::span<const Vec3> to, double tolerance) {
  for (std::size_t v = 0; v < from.size(); ++v)
    if (!((place.apply(from[v]) - to[v]).norm() <= tolerance)) return false;
  return true;
}

/// Pieces whose triangles name the same vertices are tried against each other.
void recognise_copies(std::vector<SurfacePiece>& pieces) {
  constexpr std::size_t most_originals = 8;  // of one set of triangles: cards of all shapes have the same two
  std::map<std::vector<Triangle>, std::vector<Index>> alike;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    SurfacePiece& piece = pieces[p];
    piece.original = static_cast<Index>(p);
    std::vector<Index>& originals = alike[piece.shape.triangles];
    for (const Index o : originals) {
      const SurfacePiece& other = pieces[to_size(o)];
      const CopyPlace place = fit_similarity(other.shape.vertices, piece.shape.vertices);
      if (!fits(place, other.shape.vertices, piece.shape.vertices, same_shape * piece.size())) continue;
      piece.original = o;
      piece.place = place;
      break;
    }
    if (piece.original == static_cast<Index>(p) && originals.size() < most_originals)
      originals.push_back(piece.original);
  }
}

}  // namespace

CopyPlace fit_similarity(std::span<const Vec3> from, std::span<const Vec3> to) {
  Vec3 a = Vec3::Zero(), b = Vec3::Zero();
  for (std::size_t v = 0; v < from.size(); ++v) {
    a += from[v] / static_cast<double>(from.size());
    b += to[v] / static_cast<double>(from.size());
  }
  Mat3 moment = Mat3::Zero();
  double spread = 0;
  for (std::size_t v = 0; v < from.size(); ++v) {
    moment += (to[v] - b) * (from[v] - a).transpose();
    spread += (from[v] - a).squaredNorm();
  }
  CopyPlace place;
  if (!(spread > 0)) return place;
  const Svd3<double> svd = svd3(moment);
  // With rotations on both sides, the last value is negative where the points are mirrored: what remains is the best
  // turn, and a poor fit.
  place.rotation = svd.U * svd.V.transpose();
  place.scale = std::max(svd.sigma.sum() / spread, 1e-9);
  place.position = b - place.scale * (place.rotation * a);
  return place;
}

std::vector<SurfacePiece> find_pieces(const Surface& surface, double weld) {
  DisjointSets sets(surface.vertices.size());
  if (weld > 0) unite_near(surface.vertices, weld, sets);
  for (const Triangle& t : surface.triangles) {
    sets.unite(t[0], t[1]);
    sets.unite(t[1], t[2]);
  }
  std::map<Index, std::vector<Index>> members;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t)
    members[sets.find(surface.triangles[t][0])].push_back(static_cast<Index>(t));
  std::vector<Index> number(surface.vertices.size(), -1);
  std::vector<SurfacePiece> pieces;
  for (const auto& [set, triangles] : members) {
    SurfacePiece piece = piece_of(surface, triangles, number);
    if (piece.area > 0) pieces.push_back(std::move(piece));
  }
  recognise_copies(pieces);
  return pieces;
}

}  // namespace supple
