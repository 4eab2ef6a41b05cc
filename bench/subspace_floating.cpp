// SPDX-License-Identifier: Apache-2.0
// Free bodies (2005 paper, Figure 13 and appendix D): what a step costs in flight and in contact, and what is kept.
#include "bench/report.h"

#include "samples/falling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace supple::bench {
namespace {

class FloatingRows {
 public:
  FloatingRows(Report& report, const FallingKind& kind, int steps) : report_(report), kind_(kind), steps_(steps) {}

  void run() {
    add_flight();
    add_rest();
  }

 private:
  void add(const std::string& name, const std::string& metric, double value, const std::string& unit) {
    report_.add({.table = "subspace/floating",
                 .row = fmt::format("{}_r{}/{}", kind_.name, kind_.model.size(), name),
                 .metric = metric,
                 .value = value,
                 .unit = unit});
  }

  /// Tumbling and vibrating in empty space, without damping.
  void add_flight() {
    FloatingBody body = FloatingBody::create(kind_.model, {.gravity = Vec3::Zero()}).value();
    FloatingVelocity start{Vec3(1, 2, 3), Vec3(5, 9, -4), VecX::Zero(body.size())};
    start.q.head(4) << 2, -1, 1.5, 1;
    body.set_velocity(start);
    const FloatingState from = body.state();
    const double energy = body.total_energy();
    double energy_error = 0;
    for (int k = 0; k < steps_; ++k) {
      body.step();
      if (k % 10 == 0) energy_error = std::max(energy_error, std::abs(body.total_energy() / energy - 1));
    }
    const auto drift = [](const Vec3& now, const Vec3& then) { return (now - then).norm() / then.norm(); };
    add("flight", "linear_momentum_drift", drift(body.state().linear_momentum, from.linear_momentum), "1");
    add("flight", "angular_momentum_drift", drift(body.state().angular_momentum, from.angular_momentum), "1");
    add("flight", "energy_error", energy_error, "1");
    constexpr int rounds = 100;
    add("flight", "step_us",
        median_ms(15,
                  [&] {
                    for (int k = 0; k < rounds; ++k) body.step();
                  }) *
            1000 / rounds,
        "us");
  }

  /// Dropped on the ground, and lying there.
  void add_rest() {
    FloatingBody body = FloatingBody::create(kind_.model, {.stiffness_damping = 2e-3}).value();
    body.reset(Vec3(0, 0.3, 0));
    FloatingWorldSettings settings;
    settings.contact.stiffness = 4000;
    FloatingWorld world = FloatingWorld::create({std::move(body)}, {kind_.shape}, {{}}, settings).value();
    for (int k = 0; k < steps_; ++k) world.step();
    constexpr int rounds = 50;
    int contacts = 0;
    add("on_the_ground", "step_us",
        median_ms(15,
                  [&] {
                    for (int k = 0; k < rounds; ++k) contacts = world.step().contacts;
                  }) *
            1000 / rounds,
        "us");
    add("on_the_ground", "contacts", contacts, "1");
    add("on_the_ground", "speed_m_s", world.body(0).velocity().linear.norm(), "m/s");
  }

  Report& report_;
  const FallingKind& kind_;
  int steps_;
};

void add_error(Report& report, const std::string& row, const Error& error) {
  report.add({.table = "subspace/floating", .row = row, .metric = "step_us", .error = error.message});
}

/// Six objects at once, from their start until most lie still.
void add_pile(Report& report, int steps) {
  const Result<FallingObjects> falling = make_falling();
  if (!falling.ok()) return add_error(report, "six_objects", falling.error());
  Result<FloatingWorld> world = start_falling(*falling);
  if (!world.ok()) return add_error(report, "six_objects", world.error());
  const FallingFilm film = film_falling(*world, 1e-3 * steps, 1, Progress::silent());
  report.add({.table = "subspace/floating",
              .row = "six_objects_r24",
              .metric = "mean_step_us",
              .value = film.step_us,
              .unit = "us"});
}

}  // namespace

void add_subspace_floating(Report& report, const Options& options) {
  // The paper's falling objects have r = 40 from 20 modes.
  for (const int r : {20, 40}) {
    if (options.quick && r == 40) continue;
    const Result<FallingKind> kind = make_falling_kind("jack", r, r / 2);
    if (!kind.ok()) {
      add_error(report, fmt::format("jack_r{}", r), kind.error());
      continue;
    }
    FloatingRows(report, *kind, options.quick ? 1000 : 4000).run();
  }
  if (!options.quick) add_pile(report, 2000);
}

}  // namespace supple::bench
