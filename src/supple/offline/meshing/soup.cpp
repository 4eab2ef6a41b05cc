// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/soup.h"

#include "supple/offline/meshing/triangle_bounds.h"

#include "supple/mesh/bounds.h"
#include "supple/mesh/normals.h"
#include "supple/mesh/own_order.h"
#include "supple/mesh/quality.h"
#include "supple/mesh/topology.h"
#include "supple/mesh/winding_number.h"

#include <fmt/format.h>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <tuple>

namespace supple {
namespace {

Status check_soup(const Surface& surface) {
  const Result<Bounds> bounds = triangle_bounds(surface);
  SUPPLE_RETURN_IF_ERROR(bounds);
  if (!(bounds->diagonal() > 0) || !std::isfinite(bounds->diagonal()))
    return input_error(
        fmt::format("The surface has a diagonal of {}, which can't be filled; check its units.", bounds->diagonal()));
  return {};
}

std::array<Vec3, 3> corners_of(const Surface& surface, std::size_t t) {
  std::array<Vec3, 3> x;
  for (std::size_t c = 0; c < 3; ++c) x[c] = surface.vertices[to_size(surface.triangles[t][c])];
  return x;
}

/// Leaves out flat triangles and repetitions, whichever way round, and the vertices that nothing uses then.
Surface distinct_triangles(const Surface& welded) {
  Surface out;
  std::vector<Index> number(welded.vertices.size(), -1);
  std::set<Triangle> seen;
  for (std::size_t t = 0; t < welded.triangles.size(); ++t) {
    Triangle key = welded.triangles[t];
    std::sort(key.begin(), key.end());
    if (!(area_vector(welded.triangles[t], welded.vertices).norm() > 0) || !seen.insert(key).second) continue;
    Triangle& kept = out.triangles.emplace_back();
    for (std::size_t c = 0; c < 3; ++c) {
      Index& v = number[to_size(welded.triangles[t][c])];
      if (v < 0) {
        v = static_cast<Index>(out.vertices.size());
        out.vertices.push_back(welded.vertices[to_size(welded.triangles[t][c])]);
      }
      kept[c] = v;
    }
  }
  return out;
}

/// A side of a triangle: 3 t + k is the edge from corner k to corner k + 1.
struct Side {
  Index low, high, number;
  bool operator<(const Side& o) const { return std::tie(low, high, number) < std::tie(o.low, o.high, o.number); }
};

/// For each side the one across it; -1 at rims and where three or more meet.
std::vector<Index> sides_across(const Surface& surface) {
  std::vector<Side> sides;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [low, high] = std::minmax(surface.triangles[t][k], surface.triangles[t][(k + 1) % 3]);
      sides.push_back({low, high, static_cast<Index>(3 * t + k)});
    }
  }
  std::sort(sides.begin(), sides.end());
  std::vector<Index> across(sides.size(), -1);
  for (std::size_t i = 0, j = 0; i < sides.size(); i = j) {
    for (j = i; j < sides.size() && sides[j].low == sides[i].low && sides[j].high == sides[i].high;) ++j;
    if (j - i != 2) continue;
    across[to_size(sides[i].number)] = sides[i + 1].number;
    across[to_size(sides[i + 1].number)] = sides[i].number;
  }
  return across;
}

/// Triangles of one patch, and which of them must be turned to agree with its first.
struct Patch {
  std::vector<std::size_t> triangles;
  double volume = 0;
};

class Winder {
 public:
  explicit Winder(Surface& surface) : surface_(surface), across_(sides_across(surface)) {
    turned_.assign(surface.triangles.size(), 0);
    std::vector<char> seen(surface.triangles.size(), 0);
    for (std::size_t t = 0; t < seen.size(); ++t) {
      if (!seen[t]) grow(t, seen);
    }
    // The largest first: what lies inside it can be told from what lies beside it.
    std::stable_sort(patches_.begin(), patches_.end(),
                     [](const Patch& a, const Patch& b) { return std::abs(a.volume) > std::abs(b.volume); });
    for (const Patch& patch : patches_) {
      if (patch.volume < 0 && !(outer_winding(patch) >= 0.5)) {
        for (const std::size_t t : patch.triangles) turn(t);
      }
    }
  }

  Index turned() const { return static_cast<Index>(std::count(turned_.begin(), turned_.end(), 1)); }

 private:
  void turn(std::size_t t) {
    std::swap(surface_.triangles[t][1], surface_.triangles[t][2]);
    turned_[t] ^= 1;
  }

  void grow(std::size_t start, std::vector<char>& seen) {
    Patch patch;
    std::vector<char> flip(1, 0);
    patch.triangles.push_back(start);
    seen[start] = 1;
    for (std::size_t n = 0; n < patch.triangles.size(); ++n) {
      const std::size_t t = patch.triangles[n];
      for (std::size_t k = 0; k < 3; ++k) {
        const Index other = across_[3 * t + k];
        if (other < 0 || seen[to_size(other / 3)]) continue;
        const auto u = to_size(other / 3);
        const bool agrees = surface_.triangles[u][to_size(other % 3)] != surface_.triangles[t][k];
        seen[u] = 1;
        patch.triangles.push_back(u);
        flip.push_back(static_cast<char>(flip[n] ^ (agrees ? 0 : 1)));
      }
    }
    double kept = 0, flipped = 0;
    for (std::size_t n = 0; n < flip.size(); ++n)
      (flip[n] ? flipped : kept) += area_vector(surface_.triangles[patch.triangles[n]], surface_.vertices).norm();
    const char wanted = flipped > kept ? 0 : 1;
    for (std::size_t n = 0; n < flip.size(); ++n) {
      if (flip[n] == wanted) turn(patch.triangles[n]);
    }
    measure(patch);
    patches_.push_back(std::move(patch));
  }

  void measure(Patch& patch) const {
    Bounds bounds;
    for (const std::size_t t : patch.triangles) {
      for (const Vec3& x : corners_of(surface_, t)) bounds.add(x);
    }
    double area = 0;
    for (const std::size_t t : patch.triangles) {
      const auto x = corners_of(surface_, t);
      patch.volume += tet_volume(bounds.center(), x[0], x[1], x[2]);
      area += area_vector(surface_.triangles[t], surface_.vertices).norm();
    }
    // Sheets, and pieces too open to tell, keep the winding they have.
    if (std::abs(patch.volume) < 1e-3 * area * std::sqrt(area)) patch.volume = 0;
  }

  double outer_winding(const Patch& patch) const {
    std::vector<char> mine(surface_.triangles.size(), 0);
    for (const std::size_t t : patch.triangles) mine[t] = 1;
    const Vec3 at = corners_of(surface_, patch.triangles.front())[0];
    double sum = 0;
    for (std::size_t t = 0; t < mine.size(); ++t) {
      if (mine[t]) continue;
      const auto x = corners_of(surface_, t);
      sum += solid_angle(at, x[0], x[1], x[2]) / (4 * std::numbers::pi);
    }
    return sum;
  }

  Surface& surface_;
  std::vector<Index> across_;
  std::vector<char> turned_;
  std::vector<Patch> patches_;
};

}  // namespace

Result<CleanSoup> clean_soup(const Surface& surface, Index most_pieces) {
  SUPPLE_RETURN_IF_ERROR(check_soup(surface));
  Surface bare;
  bare.vertices = surface.vertices;
  bare.triangles = surface.triangles;
  CleanSoup soup;
  soup.surface = distinct_triangles(in_own_order(weld(bare).surface).surface);
  soup.dropped_triangles = static_cast<Index>(surface.triangles.size() - soup.surface.triangles.size());
  if (soup.surface.triangles.empty())
    return input_error("All triangles of the surface are flat, so there is nothing to fill.");
  soup.pieces = connected_components(soup.surface).count;
  if (soup.pieces <= most_pieces) soup.turned_triangles = Winder(soup.surface).turned();
  return soup;
}

}  // namespace supple
