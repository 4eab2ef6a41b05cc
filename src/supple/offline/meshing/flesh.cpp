// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/flesh.h"

namespace supple {
namespace {
constexpr double end_slack = 1e-5;  // crossings this near to an end, in shares of the segment, belong to the end
}

bool Flesh::joins(const Vec3& p, const Vec3& q, bool trusted) const {
  thread_local std::vector<double> t;
  tree_.crossings(p, q, t);
  std::erase_if(t, [](double x) { return x < end_slack || x > 1 - end_slack; });
  if (t.empty()) return trusted || inside(0.5 * (p + q));
  double begin = 0;
  t.push_back(1);
  for (const double end : t) {
    const double middle = 0.5 * (begin + end);
    if (end - begin > end_slack && !inside(p + middle * (q - p))) return false;
    begin = end;
  }
  return true;
}

double Flesh::first_exit(const Vec3& p, const Vec3& q) const {
  thread_local std::vector<double> t;
  tree_.crossings(p, q, t);
  t.push_back(1);
  double begin = 0;
  for (const double end : t) {
    const double middle = 0.5 * (begin + end);
    if (begin > 0 && end - begin > end_slack && !inside(p + middle * (q - p))) return begin;
    begin = end;
  }
  if (inside(q)) return 1;
  // It fades out without crossing anything, through a hole.
  double low = 0, high = 1;
  for (int k = 0; k < 10; ++k) {
    const double middle = 0.5 * (low + high);
    (inside(p + middle * (q - p)) ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace supple
