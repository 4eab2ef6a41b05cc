// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/quality.h"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <numbers>

namespace supple {
namespace {

constexpr double degrees = 180 / std::numbers::pi;
constexpr double negligible = 1e-12;
constexpr double sliver_degrees = 5;

constexpr int tet_edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
constexpr int opposite_edge[6][2] = {{2, 3}, {1, 3}, {1, 2}, {0, 3}, {0, 2}, {0, 1}};
constexpr int brick_edges[12][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                    {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
constexpr int corner_signs[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                    {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
// The neighbours of each corner along x, y and z.
constexpr int brick_neighbors[8][3] = {{1, 3, 4}, {0, 2, 5}, {3, 1, 6}, {2, 0, 7},
                                       {5, 7, 0}, {4, 6, 1}, {7, 5, 2}, {6, 4, 3}};

class SpreadBuilder {
 public:
  void add(double value) {
    if (!std::isfinite(value)) return;
    spread_.min = count_ == 0 ? value : std::min(spread_.min, value);
    spread_.max = count_ == 0 ? value : std::max(spread_.max, value);
    sum_ += value;
    ++count_;
  }
  Spread result() const {
    Spread spread = spread_;
    if (count_ > 0) spread.mean = sum_ / static_cast<double>(count_);
    return spread;
  }

 private:
  Spread spread_;
  double sum_ = 0;
  std::int64_t count_ = 0;
};

// Angle between the half planes that share `edge` and contain a and b. The two-argument arctangent keeps all digits at
// angles near 0 and 180 degrees, where the arccosine loses half of them.
double dihedral_degrees(const Vec3& edge, const Vec3& a, const Vec3& b) {
  const Vec3 edge_a = edge.cross(a);
  return std::atan2(edge.norm() * std::abs(edge_a.dot(b)), edge_a.dot(edge.cross(b))) * degrees;
}

double angle_degrees(const Vec3& a, const Vec3& b) { return std::atan2(a.cross(b).norm(), a.dot(b)) * degrees; }

template <int Nodes>
std::array<Vec3, Nodes> corner_places(const VolumeMesh<Nodes>& mesh, std::size_t element) {
  std::array<Vec3, Nodes> corners;
  for (std::size_t k = 0; k < Nodes; ++k) corners[k] = mesh.vertices[to_size(mesh.elements[element][k])];
  return corners;
}

// 3 r / R. With S the sum of the face areas, r = 3 V / S. With a, b, c the products of the lengths of opposite edges,
// 6 V R is the area of the triangle with sides a, b, c (Crelle); Heron's formula gives it.
double radius_ratio(const std::array<Vec3, 4>& x) {
  const double volume = std::abs(tet_volume(x[0], x[1], x[2], x[3]));
  const auto area = [&](int a, int b, int c) { return 0.5 * (x[b] - x[a]).cross(x[c] - x[a]).norm(); };
  const double surface = area(1, 2, 3) + area(0, 3, 2) + area(0, 1, 3) + area(0, 2, 1);
  const double a = (x[1] - x[0]).norm() * (x[3] - x[2]).norm();
  const double b = (x[2] - x[0]).norm() * (x[3] - x[1]).norm();
  const double c = (x[3] - x[0]).norm() * (x[2] - x[1]).norm();
  const double heron = (a + b + c) * (a + b - c) * (b + c - a) * (c + a - b) / 16;
  if (!(heron > 0) || !(surface > 0)) return 0;
  const double circumradius = std::sqrt(heron) / (6 * volume);
  return 3 * (3 * volume / surface) / circumradius;
}

Mat3 corner_edges(const std::array<Vec3, 8>& x, int corner) {
  Mat3 edges;
  for (int axis = 0; axis < 3; ++axis)
    edges.col(axis) = -corner_signs[corner][axis] * (x[brick_neighbors[corner][axis]] - x[corner]);
  return edges;
}

double brick_jacobian(const std::array<Vec3, 8>& x, const Vec3& at) {
  Mat3 jacobian = Mat3::Zero();
  for (int k = 0; k < 8; ++k) {
    const Vec3 factor(1 + corner_signs[k][0] * at[0], 1 + corner_signs[k][1] * at[1], 1 + corner_signs[k][2] * at[2]);
    const Vec3 slope(corner_signs[k][0] * factor[1] * factor[2], corner_signs[k][1] * factor[2] * factor[0],
                     corner_signs[k][2] * factor[0] * factor[1]);
    jacobian += x[k] * slope.transpose() / 8;
  }
  return jacobian.determinant();
}

double scaled_jacobian(const std::array<Vec3, 8>& x) {
  double smallest = 1;
  for (int corner = 0; corner < 8; ++corner)
    smallest = std::min(smallest, corner_edges(x, corner).colwise().normalized().determinant());
  return smallest;
}

// Gathers one element after the other into a QualityReport.
class ReportBuilder {
 public:
  void add_element(double volume, double density, double longest_edge, bool inverted, double shape) {
    if (!(std::abs(volume) > negligible * longest_edge * longest_edge * longest_edge)) {
      ++report_.degenerate;
    } else if (inverted) {
      ++report_.inverted;
    }
    if (smallest_angle_ < sliver_degrees) ++report_.slivers;
    smallest_angle_ = 180;
    volumes_.add(volume);
    shapes_.add(shape);
    report_.volume += volume;
    report_.mass += density * volume;
  }

  void add_dihedral(double angle) {
    if (!std::isfinite(angle)) return;
    dihedrals_.add(angle);
    smallest_angle_ = std::min(smallest_angle_, angle);
    ++report_.dihedral_histogram[std::min<std::size_t>(17, to_size(angle / 10))];
  }

  template <std::size_t Nodes, std::size_t Edges>
  double add_edges(const std::array<Vec3, Nodes>& x, const int (&edges)[Edges][2]) {
    double longest = 0;
    for (const auto& edge : edges) {
      const double length = (x[edge[1]] - x[edge[0]]).norm();
      edges_.add(length);
      longest = std::max(longest, length);
    }
    return longest;
  }

  QualityReport finish(std::span<const Vec3> vertices, std::size_t elements) {
    report_.vertices = static_cast<Index>(vertices.size());
    report_.elements = static_cast<Index>(elements);
    report_.bounds = bounds_of(vertices);
    report_.element_volume = volumes_.result();
    report_.edge_length = edges_.result();
    report_.dihedral = dihedrals_.result();
    report_.shape = shapes_.result();
    return report_;
  }

 private:
  QualityReport report_;
  SpreadBuilder volumes_, edges_, dihedrals_, shapes_;
  double smallest_angle_ = 180;
};

void add_triangle(const std::array<Vec3, 3>& x, SurfaceQualityReport& report, SpreadBuilder& lengths,
                  SpreadBuilder& angles) {
  double longest = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const double length = (x[(k + 1) % 3] - x[k]).norm();
    lengths.add(length);
    longest = std::max(longest, length);
  }
  const double area = 0.5 * (x[1] - x[0]).cross(x[2] - x[0]).norm();
  if (!(area > negligible * longest * longest)) {
    ++report.degenerate;
    return;
  }
  report.area += area;
  for (std::size_t k = 0; k < 3; ++k) angles.add(angle_degrees(x[(k + 1) % 3] - x[k], x[(k + 2) % 3] - x[k]));
}

}  // namespace

double tet_volume(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  return (b - a).dot((c - a).cross(d - a)) / 6;
}

double brick_volume(const std::array<Vec3, 8>& corners) {
  const double gauss = 1 / std::sqrt(3.0);
  double volume = 0;
  for (const auto& sign : corner_signs)
    volume += brick_jacobian(corners, Vec3(sign[0] * gauss, sign[1] * gauss, sign[2] * gauss));
  return volume;
}

double min_corner_jacobian(const std::array<Vec3, 8>& corners) {
  double smallest = std::numeric_limits<double>::infinity();
  for (int corner = 0; corner < 8; ++corner)
    smallest = std::min(smallest, corner_edges(corners, corner).determinant() / 8);
  return smallest;
}

std::vector<double> element_volumes(const TetMesh& mesh) {
  std::vector<double> volumes(mesh.elements.size());
  for (std::size_t e = 0; e < volumes.size(); ++e) {
    const auto x = corner_places(mesh, e);
    volumes[e] = tet_volume(x[0], x[1], x[2], x[3]);
  }
  return volumes;
}

std::vector<double> element_volumes(const HexMesh& mesh) {
  std::vector<double> volumes(mesh.elements.size());
  for (std::size_t e = 0; e < volumes.size(); ++e) volumes[e] = brick_volume(corner_places(mesh, e));
  return volumes;
}

QualityReport quality(const TetMesh& mesh) {
  ReportBuilder builder;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const auto x = corner_places(mesh, e);
    const double longest = builder.add_edges(x, tet_edges);
    for (int k = 0; k < 6; ++k) {
      const Vec3& start = x[tet_edges[k][0]];
      builder.add_dihedral(
          dihedral_degrees(x[tet_edges[k][1]] - start, x[opposite_edge[k][0]] - start, x[opposite_edge[k][1]] - start));
    }
    const double volume = tet_volume(x[0], x[1], x[2], x[3]);
    builder.add_element(volume, mesh.material_of(e).density, longest, volume < 0, radius_ratio(x));
  }
  return builder.finish(mesh.vertices, mesh.elements.size());
}

QualityReport quality(const HexMesh& mesh) {
  ReportBuilder builder;
  double min_jacobian = mesh.elements.empty() ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const auto x = corner_places(mesh, e);
    const double longest = builder.add_edges(x, brick_edges);
    for (int corner = 0; corner < 8; ++corner) {
      const Mat3 edges = corner_edges(x, corner);
      const double s[3] = {-1.0 * corner_signs[corner][0], -1.0 * corner_signs[corner][1],
                           -1.0 * corner_signs[corner][2]};
      for (int k = 0; k < 3; ++k) {
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        builder.add_dihedral(dihedral_degrees(edges.col(k), s[l] * edges.col(l), s[m] * edges.col(m)));
      }
    }
    const double jacobian = min_corner_jacobian(x);
    min_jacobian = std::min(min_jacobian, jacobian);
    const double volume = brick_volume(x);
    builder.add_element(volume, mesh.material_of(e).density, longest, volume < 0 || jacobian < 0, scaled_jacobian(x));
  }
  QualityReport report = builder.finish(mesh.vertices, mesh.elements.size());
  report.min_jacobian = min_jacobian;
  return report;
}

SurfaceQualityReport quality(const Surface& surface) {
  SurfaceQualityReport report;
  report.vertices = static_cast<Index>(surface.vertices.size());
  report.triangles = static_cast<Index>(surface.triangles.size());
  report.bounds = bounds_of(surface.vertices);
  const Vec3 center = report.bounds.center();  // near the surface, so that little cancels in the enclosed volume
  SpreadBuilder lengths, angles;
  for (const Triangle& t : surface.triangles) {
    std::array<Vec3, 3> x;
    for (std::size_t k = 0; k < 3; ++k) x[k] = surface.vertices[to_size(t[k])];
    add_triangle(x, report, lengths, angles);
    report.enclosed_volume += tet_volume(center, x[0], x[1], x[2]);
  }
  report.edge_length = lengths.result();
  report.angle = angles.result();
  return report;
}

}  // namespace supple
