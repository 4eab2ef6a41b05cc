// SPDX-License-Identifier: Apache-2.0
// BallPath: where a user's ball is at any time: recorded (CSV), or made up for an object. Between its samples the ball
// moves on cubic curves through them, with the slopes of the parabolas through each three (Bessel): velocity is
// continuous, and motion at constant acceleration is reproduced exactly.
#pragma once

#include "supple/base/result.h"
#include "supple/runtime/contact/ball_contact.h"

#include <filesystem>
#include <string_view>
#include <vector>

namespace supple {

struct BallPathSample {
  double time = 0.0;  ///< [s], increasing
  Ball ball;
};

class BallPath {
 public:
  /// Makes a path through samples: at least one, with increasing times.
  explicit BallPath(std::vector<BallPathSample> samples);

  const std::vector<BallPathSample>& samples() const { return samples_; }
  double begin() const { return samples_.front().time; }
  double end() const { return samples_.back().time; }
  /// Before the beginning and after the end the ball rests. Fast when asked in the order of time.
  Ball at(double time) const;

 private:
  Vec3 slope(std::size_t k) const;

  std::vector<BallPathSample> samples_;
  std::vector<Vec3> slopes_;
  mutable std::size_t last_ = 0;
};

/// Lines of `time,x,y,z` or `time,x,y,z,radius`, in seconds and metres; '#' starts a comment; one line of column names
/// may stand first. The radius is `radius` where the lines name none.
Result<BallPath> parse_ball_path(std::string_view text, const std::string& name, double radius);
Result<BallPath> load_ball_path(const std::filesystem::path& path, double radius);
std::string encode_ball_path(const BallPath& path);

/// A ball that suits the object: two hundredths of the diagonal of its surface.
double suitable_ball_radius(const BoundedDeformationTree& tree);

/// Presses the object from above, slides along it under pressure, strikes it from the side at 1 m/s twice and goes
/// round to the next place: four places along its longest horizontal side, 15 s each. y is up.
BallPath make_ball_path(const BoundedDeformationTree& tree, double radius);

}  // namespace supple
