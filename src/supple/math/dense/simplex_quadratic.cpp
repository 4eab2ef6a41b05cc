// SPDX-License-Identifier: Apache-2.0
#include "supple/math/dense/simplex_quadratic.h"

#include "supple/base/assert.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <limits>

namespace supple {
namespace {

constexpr double rounding = 1e-10;  // of the largest diagonal entry: keeps equal points apart

/// A set of entries in ascending order.
struct SimplexFace {
  int entry[most_simplex_entries];
  int size = 0;

  bool has(int i) const { return std::find(entry, entry + size, i) != entry + size; }
  void add(int i) {
    entry[size++] = i;
    std::sort(entry, entry + size);
  }
  void remove(int i) { size = static_cast<int>(std::remove(entry, entry + size, i) - entry); }
};

/// The minimum on the plane Σ w = 1 of a face, of whatever sign.
SimplexVector on_face(const SimplexMatrix& G, const SimplexFace& face) {
  SimplexMatrix part(face.size, face.size);
  for (int a = 0; a < face.size; ++a)
    for (int b = 0; b < face.size; ++b) part(a, b) = G(face.entry[a], face.entry[b]);
  const SimplexVector y = part.llt().solve(SimplexVector::Ones(face.size));
  SimplexVector w = SimplexVector::Zero(G.rows());
  for (int a = 0; a < face.size; ++a) w[face.entry[a]] = y[a] / y.sum();
  return w;
}

/// Goes from w towards the minimum on the face; entries that reach zero leave it.
void settle(const SimplexMatrix& G, SimplexFace& face, SimplexVector& w) {
  constexpr double nothing = 1e-12;
  while (face.size > 0) {
    const SimplexVector z = on_face(G, face);
    double step = 1;
    for (int a = 0; a < face.size; ++a) {
      const int i = face.entry[a];
      if (z[i] < 0) step = std::min(step, w[i] / (w[i] - z[i]));
    }
    w += step * (z - w);
    if (step >= 1) return;
    const SimplexFace before = face;
    for (int a = 0; a < before.size; ++a) {
      const int i = before.entry[a];
      if (w[i] > nothing || z[i] >= 0) continue;
      w[i] = 0;
      face.remove(i);
    }
    if (face.size == before.size) return;
  }
}

/// The minimum over the entries that may take part.
SimplexVector minimum_over(const SimplexMatrix& G, const SimplexFace& allowed) {
  int first = allowed.entry[0];
  for (int a = 1; a < allowed.size; ++a)
    if (G(allowed.entry[a], allowed.entry[a]) < G(first, first)) first = allowed.entry[a];
  SimplexFace face;
  face.add(first);
  SimplexVector w = SimplexVector::Zero(G.rows());
  w[first] = 1;
  for (int tries = 0; tries < 3 * most_simplex_entries; ++tries) {
    const SimplexVector slope = G * w;
    const double level = w.dot(slope);
    int best = -1;
    double least = level - 1e-9 * level;
    for (int a = 0; a < allowed.size; ++a) {
      const int i = allowed.entry[a];
      if (face.has(i) || !(slope[i] < least)) continue;
      least = slope[i];
      best = i;
    }
    if (best < 0) break;
    face.add(best);
    settle(G, face, w);
  }
  return w;
}

SimplexFace positive(const SimplexVector& w) {
  SimplexFace face;
  for (int i = 0; i < static_cast<int>(w.size()); ++i)
    if (w[i] > 0) face.add(i);
  return face;
}

}  // namespace

SimplexVector simplex_minimum(const SimplexMatrix& given, int most) {
  SUPPLE_ASSERT(given.rows() == given.cols() && given.rows() > 0 && most > 0);
  SimplexMatrix G = given;
  G.diagonal().array() += rounding * G.diagonal().maxCoeff() + std::numeric_limits<double>::min();
  SimplexFace all;
  for (int i = 0; i < static_cast<int>(G.rows()); ++i) all.add(i);
  SimplexVector w = minimum_over(G, all);
  for (SimplexFace face = positive(w); face.size > most; face = positive(w)) {
    double least = std::numeric_limits<double>::infinity();
    for (int a = 0; a < face.size; ++a) {
      SimplexFace rest = face;
      rest.remove(face.entry[a]);
      const SimplexVector without = minimum_over(G, rest);
      const double cost = without.dot(G * without);
      if (cost < least) least = cost, w = without;
    }
  }
  return w;
}

}  // namespace supple
