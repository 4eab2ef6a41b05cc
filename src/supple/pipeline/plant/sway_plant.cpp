// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/plant/sway_plant.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/base/parallel.h"
#include "supple/mesh/bounds.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple {
namespace {

constexpr double violent = 0.35;  // of the height: a vertex that goes farther than this is no plant in the wind
constexpr double bent = 0.25;     // of a part's size: one whose end goes farther by itself is too limp for the rest

void on_all_threads(void*, std::int64_t count, JobBody body, void* context) {
  parallel_for(count, 1, [=](std::int64_t i) { body(context, i); });
}

class SwayRun {
 public:
  SwayRun(const DomainModel& model, const PlantRecipe& recipe, const BaseMotion* base, double frequency, double height)
      : model_(model),
        recipe_(recipe),
        base_(base),
        frequency_(frequency),
        height_(height),
        rest_(rest_positions(model)) {
    for (const Vec3& v : rest_) top_ = std::max(top_, v.y());
    bend_.assign(to_size(model.domain_count()), 0.0);
    firmness_.assign(bend_.size(), 1.0);
    if (base_ != nullptr) recipe_.wind.period = std::max(base_->duration(), 1 / recipe_.rate);
    out_.loop = base_ == nullptr || base_->loops();
  }

  Result<PlantSway> run(Progress& progress) {
    const double omega = 2 * std::numbers::pi * frequency_;
    frames_ = std::max(2, static_cast<int>(std::lround(recipe_.wind.period * recipe_.rate)));
    substeps_ = std::max(1, static_cast<int>(std::ceil(smallest_rate() / recipe_.rate)));
    DomainSettings settings;
    settings.time_step = recipe_.wind.period / (frames_ * substeps_);
    settings.mass_damping = recipe_.damping * omega;
    settings.stiffness_damping = recipe_.damping / omega;
    settings.gravity = Vec3::Zero();
    Result<PreparedTree> tree = prepare_tree(model_);
    SUPPLE_RETURN_IF_ERROR(tree);
    Result<DomainDynamics> dynamics =
        DomainDynamics::create(std::make_shared<const PreparedTree>(std::move(*tree)), settings);
    SUPPLE_RETURN_IF_ERROR(dynamics);
    dynamics_.emplace(std::move(*dynamics));
    constexpr Index worth_threads = 500;  // domains: fewer are stepped sooner than threads wake
    if (model_.domain_count() >= worth_threads) dynamics_->set_jobs(on_all_threads, nullptr);
    xyz_.resize(3 * rest_.size());
    progress.stage("finding the wind");
    SUPPLE_RETURN_IF_ERROR(find_wind(progress));
    progress.stage("moving in the wind");
    if (!period(4, progress)) return broken_down(progress);
    close_loop();
    std::sort(seconds_.begin(), seconds_.end());
    out_.step_seconds = seconds_[seconds_.size() / 2];
    return std::move(out_);
  }

 private:
  /// Leaves swing at four times the plant's frequency, and want to be seen doing so.
  double smallest_rate() const { return std::max(120.0, 40 * frequency_); }

  Error broken_down(Progress& progress) const {
    if (progress.cancelled()) return failure("cancelled");
    return input_error(fmt::format(
        "the motion breaks down in a wind of {:.3g} m/s; give [wind] a lower speed, or [plant] more damping",
        out_.speed));
  }

  WindField wind() const {
    const PlantWind& given = recipe_.wind;
    WindField field;
    field.velocity = out_.speed * given.direction.normalized();
    field.gusts = given.gusts;
    field.turbulence = given.turbulence;
    field.period = given.period;
    field.eddy_size = given.eddy_size.value_or(std::max(0.5 * height_, out_.speed / (1.2 * frequency_)));
    return field;
  }

  /// The sway goes with the square of the speed, nearly.
  Status find_wind(Progress& progress) {
    if (recipe_.wind.speed || base_ != nullptr) {
      out_.speed = recipe_.wind.speed.value_or(0.0);
      return {};
    }
    out_.speed = 3;
    constexpr int most_rounds = 8;
    constexpr double near_enough = 0.1;
    for (out_.rounds = 1; out_.rounds <= most_rounds; ++out_.rounds) {
      const bool whole = period(2, progress);
      if (progress.cancelled()) return failure("cancelled");
      progress.update(static_cast<double>(out_.rounds) / most_rounds);
      double factor = 0.5;
      if (whole && out_.sway > 0) {
        const bool firmed = firm_limp_parts();
        double wanted = recipe_.sway / out_.sway;
        if (!firmed) wanted = std::min(wanted, violent / std::max(out_.largest, 1e-12));
        if (!firmed && std::abs(wanted - 1) < near_enough) break;
        factor = std::clamp(std::sqrt(wanted), 0.3, 4.0);
      }
      out_.speed *= factor;
    }
    return {};
  }

  /// Raises the frequencies of parts that bend too far: one limp twig must not keep the crown from swaying.
  bool firm_limp_parts() {
    bool any = false;
    for (std::size_t d = 0; d < bend_.size(); ++d) {
      if (!(bend_[d] > bent)) continue;
      constexpr double at_most = 2;
      if (firmness_[d] == 1) ++out_.firmed;
      firmness_[d] *= std::min(at_most, std::sqrt(bend_[d] / (0.8 * bent)));
      dynamics_->set_frequency(static_cast<Index>(d), firmness_[d]);
      any = true;
    }
    return any;
  }

  /// How far the end of each part goes in its own frame.
  void measure_bends() {
    const PreparedTree& tree = dynamics_->tree();
    const auto q = dynamics_->coordinates();
    for (std::size_t d = 0; d < bend_.size(); ++d) {
      const PreparedPart& part = tree.part_of(d);
      if (part.r == 0) continue;
      Bounds box;
      double most = 0;
      for (std::size_t v = 0; v < part.surface_rest.size(); ++v) {
        box.add(part.surface_rest[v]);
        const double* row = part.surface_rows.data() + 3 * v * to_size(part.r);
        double square = 0;
        for (int i = 0; i < 3; ++i, row += part.r) {
          double u = 0;
          for (int l = 0; l < part.r; ++l) u += row[l] * q[tree.offset_of[d] + to_size(l)];
          square += u * u;
        }
        most = std::max(most, square);
      }
      if (const double size = box.diagonal(); size > 0) bend_[d] = std::max(bend_[d], std::sqrt(most) / size);
    }
  }

  /// Runs so many periods and keeps the last; false where a step breaks down or goes too far.
  bool period(int periods, Progress& progress) {
    dynamics_->reset();
    dynamics_->set_wind(wind());
    // A motion that doesn't repeat begins with its first pose held.
    const double start = out_.loop ? 0.0 : -recipe_.wind.period * (periods - 1);
    dynamics_->initialize();
    out_.times.clear();
    out_.q.clear();
    out_.root.clear();
    crown_.clear();
    std::fill(bend_.begin(), bend_.end(), 0.0);
    out_.sway = out_.largest = 0;
    for (int round = 0; round < periods; ++round) {
      for (int f = 0; f <= frames_; ++f) {
        if (round == periods - 1) keep(f);
        if (f == frames_) break;
        if (progress.cancelled()) return false;
        for (int s = 0; s < substeps_; ++s) {
          if (base_ != nullptr) {
            const double h = dynamics_->settings().time_step;
            dynamics_->set_root(base_->at(start + h * ((round * frames_ + f) * substeps_ + s + 1), rest_root()));
          }
          const auto begin = Clock::now();
          if (dynamics_->step().recovered) return false;
          seconds_.push_back(seconds_since(begin));
        }
      }
    }
    return std::isfinite(out_.largest);
  }

  RigidTransform rest_root() const { return {model_.domains[0].position, Quat(model_.domains[0].rotation)}; }

  /// Where a vertex would be if the plant were rigid.
  Vec3 carried(const Vec3& x) const {
    const RootMotion& root = dynamics_->root();
    return root.position + root.rotation * (model_.domains[0].rotation.transpose() * (x - model_.domains[0].position));
  }

  void keep(int f) {
    out_.times.push_back(recipe_.wind.period * f / frames_);
    const auto q = dynamics_->coordinates();
    out_.q.emplace_back(q.begin(), q.end());
    out_.root.push_back(dynamics_->root());
    dynamics_->update_frames();
    dynamics_->surface_positions(xyz_);
    Vec3 sum = Vec3::Zero();
    double count = 0, largest = 0;
    for (std::size_t v = 0; v < rest_.size(); ++v) {
      const Vec3 moved = Eigen::Map<const Vec3>(xyz_.data() + 3 * v) - carried(rest_[v]);
      largest = std::max(largest, moved.norm());
      if (rest_[v].y() < top_ - 0.25 * height_) continue;
      sum += moved;
      ++count;
    }
    out_.largest = std::max(out_.largest, largest / height_);
    crown_.emplace_back(sum / std::max(count, 1.0));
    if (f % 3 == 0) measure_bends();
    if (f == frames_) measure_sway();
  }

  /// Leaning isn't swaying: the mean of the period is taken off.
  void measure_sway() {
    Vec3 mean = Vec3::Zero();
    for (const Vec3& c : crown_) mean += c / static_cast<double>(crown_.size());
    for (const Vec3& c : crown_) out_.sway = std::max(out_.sway, (c - mean).norm() / height_);
  }

  void close_loop() {
    const std::vector<double> first = out_.q.front(), last = out_.q.back();
    double open = 0, most = 0;
    for (std::size_t k = 0; k < first.size(); ++k) open = std::max(open, std::abs(first[k] - last[k]));
    for (const auto& q : out_.q)
      for (const double value : q) most = std::max(most, std::abs(value));
    out_.gap = most > 0 ? open / most : 0;
    if (!out_.loop) return;
    for (std::size_t f = 0; f < out_.q.size(); ++f) {
      const double share = static_cast<double>(f) / static_cast<double>(out_.q.size() - 1);
      for (std::size_t k = 0; k < first.size(); ++k) out_.q[f][k] += share * (first[k] - last[k]);
    }
  }

  const DomainModel& model_;
  PlantRecipe recipe_;
  const BaseMotion* base_;
  double frequency_, height_, top_ = -std::numeric_limits<double>::infinity();
  std::vector<Vec3> rest_;
  std::optional<DomainDynamics> dynamics_;
  std::vector<double> xyz_, seconds_;
  std::vector<double> bend_, firmness_;  ///< of each domain: its farthest bend, and its frequencies as a factor
  std::vector<Vec3> crown_;              ///< how far the upper quarter is from its place, in each frame
  int frames_ = 0, substeps_ = 1;
  PlantSway out_;
};

}  // namespace

Result<PlantSway> sway_plant(const DomainModel& model, const PlantRecipe& recipe, const BaseMotion* base,
                             double frequency, double height, Progress& progress) {
  return SwayRun(model, recipe, base, frequency, height).run(progress);
}

}  // namespace supple
