// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/ball_path.h"

#include <fmt/format.h>

#include "supple/base/assert.h"
#include "supple/io/file.h"
#include "supple/io/text_scanner.h"

namespace supple {

BallPath::BallPath(std::vector<BallPathSample> samples) : samples_(std::move(samples)) {
  SUPPLE_ASSERT(!samples_.empty());
  slopes_.reserve(samples_.size());
  for (std::size_t k = 0; k < samples_.size(); ++k) slopes_.push_back(slope(k));
}

Vec3 BallPath::slope(std::size_t k) const {
  const std::size_t n = samples_.size();
  const auto secant = [&](std::size_t i) -> Vec3 {
    return (samples_[i + 1].ball.center - samples_[i].ball.center) / (samples_[i + 1].time - samples_[i].time);
  };
  if (n == 1) return Vec3::Zero();
  if (n == 2) return secant(0);
  // The slope in the middle of the parabola through three samples; at the ends, that of the same parabola there.
  const std::size_t m = std::clamp<std::size_t>(k, 1, n - 2);
  const double left = samples_[m].time - samples_[m - 1].time, right = samples_[m + 1].time - samples_[m].time;
  const Vec3 curvature = (secant(m) - secant(m - 1)) / (left + right);
  return secant(m - 1) + curvature * (left + 2 * (samples_[k].time - samples_[m].time));
}

Ball BallPath::at(double time) const {
  if (time <= begin() || samples_.size() == 1) return samples_.front().ball;
  if (time >= end()) return samples_.back().ball;
  if (time < samples_[last_].time) last_ = 0;
  while (samples_[last_ + 1].time <= time) ++last_;
  const BallPathSample &a = samples_[last_], &b = samples_[last_ + 1];
  const double span = b.time - a.time, t = (time - a.time) / span, s = 1 - t;
  const Vec3 center = s * s * (1 + 2 * t) * a.ball.center + t * t * (1 + 2 * s) * b.ball.center +
                      span * t * s * (s * slopes_[last_] - t * slopes_[last_ + 1]);
  return {center, s * a.ball.radius + t * b.ball.radius};
}

// ---- files ----------------------------------------------------------------------------------------------------------

namespace {

Result<BallPathSample> read_sample(TextScanner& line, double radius) {
  BallPathSample sample;
  sample.ball.radius = radius;
  if (!line.read_finite(sample.time) || !line.read_point(sample.ball.center)) return line.error();
  if (!line.at_end() && !line.read_finite(sample.ball.radius)) return line.error();
  if (!line.at_end()) return line.fail("a line has time, x, y, z and perhaps a radius, and no more");
  if (!(sample.ball.radius > 0)) return line.fail("the ball's radius must be positive");
  return sample;
}

bool is_number(std::string_view text) {
  double value = 0;
  return parse_number(text, value);
}

}  // namespace

Result<BallPath> parse_ball_path(std::string_view text, const std::string& name, double radius) {
  TextScanner scanner(text, name, {.comment = '#', .commas_separate = true});
  std::vector<BallPathSample> samples;
  TextScanner line(text, name);
  bool first = true;
  while (scanner.next_line(line)) {
    if (std::exchange(first, false) && !is_number(line.peek())) continue;  // names of columns
    const Result<BallPathSample> sample = read_sample(line, radius);
    SUPPLE_RETURN_IF_ERROR(sample);
    if (!samples.empty() && !(sample->time > samples.back().time))
      return line.fail(fmt::format("time {:g} s does not come after {:g} s; sort the lines by time", sample->time,
                                   samples.back().time));
    samples.push_back(*sample);
  }
  if (samples.empty()) return input_error(name + ": there are no positions in it; a line is time,x,y,z");
  return BallPath(std::move(samples));
}

Result<BallPath> load_ball_path(const std::filesystem::path& path, double radius) {
  const Result<std::string> text = read_file(path);
  SUPPLE_RETURN_IF_ERROR(text);
  return parse_ball_path(*text, path.string(), radius);
}

std::string encode_ball_path(const BallPath& path) {
  std::string text = "time,x,y,z,radius\n";
  for (const BallPathSample& s : path.samples())
    text +=
        fmt::format("{},{},{},{},{}\n", s.time, s.ball.center.x(), s.ball.center.y(), s.ball.center.z(), s.ball.radius);
  return text;
}

}  // namespace supple
