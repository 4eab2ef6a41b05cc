// SPDX-License-Identifier: Apache-2.0
// Clips as the simulation sees them, and simulated: loops, cuts, ranges, interpolation.
#include "supple/pipeline/character/engine_posespace.h"

#include "supple/rig/motion/sample_clip.h"
#include "support/bodies.h"
#include "support/soft_limb.h"

#include <gtest/gtest.h>

namespace supple::simulate_clip_test {
namespace {

/// Keys of a motion of the limb, `rate` per second, joined by lines.
Clip keyed(double seconds, double rate, const std::function<LimbMotion(double)>& motion,
           Interpolation interpolation = Interpolation::linear) {
  Clip clip{"clip", seconds, {}};
  clip.channels = {{0, ChannelTarget::translation, interpolation, 3, {}, {}},
                   {0, ChannelTarget::rotation, interpolation, 4, {}, {}},
                   {1, ChannelTarget::rotation, interpolation, 4, {}, {}},
                   {2, ChannelTarget::rotation, interpolation, 4, {}, {}}};
  const auto keys = static_cast<int>(std::lround(seconds * rate));
  for (int k = 0; k <= keys; ++k) {
    const double time = seconds * k / keys;
    const LimbMotion m = motion(time);
    const Quat knee(Eigen::AngleAxisd(m.knee, Vec3::UnitZ())), ankle(Eigen::AngleAxisd(m.ankle, Vec3::UnitX()));
    for (Channel& channel : clip.channels) channel.times.push_back(time);
    for (int i = 0; i < 3; ++i) clip.channels[0].values.push_back(m.root.translation[i]);
    for (int i = 0; i < 4; ++i) {
      clip.channels[1].values.push_back(m.root.rotation.coeffs()[i]);
      clip.channels[2].values.push_back(knee.coeffs()[i]);
      clip.channels[3].values.push_back(ankle.coeffs()[i]);
    }
  }
  return clip;
}

/// Swings that repeat after a second, while walking on a curve.
LimbMotion walk(double time) {
  const double turn_around = 2 * std::numbers::pi * time;
  LimbMotion motion;
  motion.root = {Vec3(1.5 * time, 0.05 * std::sin(2 * turn_around), 0), turn(30 * time, Vec3::UnitY())};
  motion.knee = 0.5 * std::sin(turn_around);
  motion.ankle = 0.3 * std::sin(turn_around + 1);
  return motion;
}
LimbMotion forward(double time) { return {{Vec3(3 * time, 0, 0), Quat::Identity()}, 0.3, 0.1}; }

/// Whether any step of 1/240 s within [from, to] counts as cut.
bool cut_within(const ClipMotion& motion, double from, double to) {
  for (double t = from; t + 1.0 / 240 <= to + 1e-9; t += 1.0 / 240)
    if (motion.is_cut(t, t + 1.0 / 240)) return true;
  return false;
}

// ---- ClipMotion -----------------------------------------------------------------------------------------------------

TEST(ClipMotion, LoopsContinueTheMotionOfTheRoot) {
  const SoftLimb limb = make_soft_limb();
  const Clip clip = keyed(1, 30, walk);
  const ClipMotion motion(limb.rig, clip, true, 1.0);
  ASSERT_TRUE(motion.loops());
  const auto at = [&](double time) {
    CharacterPose pose = limb.rig.neutral();
    motion.sample(time, pose);
    return pose;
  };
  const RigidTransform round = at(1 - 1e-12).placement * at(0).placement.inverse();
  EXPECT_GT(round.translation.norm(), 1);
  for (const double time : {0.0, 0.3, 0.77}) {
    for (const int rounds : {-2, -1, 1, 3}) {
      RigidTransform expected = at(time).placement;
      const RigidTransform step = rounds < 0 ? round.inverse() : round;
      for (int k = 0; k < std::abs(rounds); ++k) expected = step * expected;
      const CharacterPose there = at(time + rounds);
      EXPECT_LT((there.placement.translation - expected.translation).norm(), 1e-9);
      EXPECT_LT(there.placement.rotation.angularDistance(expected.rotation), 1e-7);
      EXPECT_LT(pose_distance(limb.rig.rig()->layout(), there.p, at(time).p), 1e-7);
    }
  }
  // Nothing jumps where rounds meet.
  EXPECT_LT((at(2 - 1e-7).placement.translation - at(2 + 1e-7).placement.translation).norm(), 1e-5);
  EXPECT_FALSE(cut_within(motion, 0, 3));
}

TEST(ClipMotion, ClipsWithoutLoopHold) {
  const SoftLimb limb = make_soft_limb();
  const Clip clip = keyed(1, 30, walk);
  const ClipMotion motion(limb.rig, clip, false, 1.0);
  CharacterPose end = limb.rig.neutral(), beyond = end;
  motion.sample(1, end);
  motion.sample(5, beyond);
  EXPECT_EQ(end.placement.translation, beyond.placement.translation);
  EXPECT_EQ(end.p, beyond.p);
}

/// The same limb and walk, a hundred kilometres from the origin: turning hips carry nothing far.
TEST(ClipMotion, FarFromTheOriginTurnsAreNoTeleports) {
  SoftLimb limb = make_soft_limb();
  const Vec3 place(6e4, 0, -8e4);
  RawCharacter character = limb.character;
  for (Joint& joint : character.skeleton.joints)
    if (joint.parent < 0) joint.rest.translation += place;
  const CharacterRig rig = CharacterRig::create(character).value();
  const Clip clip = keyed(1, 30, [&](double time) {
    LimbMotion m = walk(time);
    m.root.rotation = turn(20 * std::sin(6 * time), Vec3::UnitY()) * m.root.rotation;
    m.root.translation += place;
    return m;
  });
  EXPECT_FALSE(cut_within(ClipMotion(rig, clip, false, 1.0), 0, 1));
}

/// Half a turn of the root and swings of the knee by more than a quarter, between keys far apart.
LimbMotion tumble(double time) {
  LimbMotion motion = walk(time);
  motion.root.rotation = turn(500 * time, Vec3(1, 2, 2) / 3);
  motion.knee = 1.1 * std::sin(7 * time);
  return motion;
}

/// More keys on every line, as single precision has them.
Clip with_redundant_keys(const Clip& clip) {
  Clip dense{clip.name, clip.duration, {}};
  for (const Channel& channel : clip.channels) {
    Channel& more = dense.channels.emplace_back(channel);
    more.times.clear(), more.values.clear();
    for (std::size_t k = 0; k < channel.times.size(); ++k) {
      for (const double s : {0.0, 0.05, 0.4, 0.7}) {
        if (s > 0 && k + 1 == channel.times.size()) continue;
        const double time = channel.times[k] + (s > 0 ? s * (channel.times[k + 1] - channel.times[k]) : 0);
        std::vector<double> value(to_size(channel.width));
        sample_channel(channel, time, value);
        more.times.push_back(static_cast<float>(time));
        for (const double x : value) more.values.push_back(static_cast<float>(x));
      }
    }
  }
  return dense;
}

/// Keys on the lines between others, however far a joint turns on its way, change nothing but by single precision.
TEST(ClipMotion, RedundantKeysChangeNothing) {
  const SoftLimb limb = make_soft_limb();
  for (const auto& [motion, rate] : {std::pair{&walk, 10.0}, {&tumble, 4.0}}) {
    const Clip clip = keyed(1, rate, motion);
    const ClipMotion lean(limb.rig, clip, false, 1.0), full(limb.rig, with_redundant_keys(clip), false, 1.0);
    CharacterPose a = limb.rig.neutral(), b = a;
    for (double time = 0; time <= 1; time += 1.0 / 97) {
      lean.sample(time, a);
      full.sample(time, b);
      EXPECT_LT((a.placement.translation - b.placement.translation).norm(), 2e-6) << rate << " " << time;
      EXPECT_LT(a.placement.rotation.angularDistance(b.placement.rotation), 4e-6) << rate << " " << time;
      EXPECT_LT(pose_distance(limb.rig.rig()->layout(), a.p, b.p), 4e-6) << rate << " " << time;
    }
  }
}

TEST(ClipMotion, TeleportsAreCuts) {
  const SoftLimb limb = make_soft_limb();
  // Between two keys a thirtieth of a second apart the root is put five heights away.
  const auto jump = [](double time) {
    LimbMotion m = walk(time);
    if (time > 0.5 + 1e-9) m.root.translation.x() += 5;
    return m;
  };
  const Clip joined = keyed(1, 30, jump);
  const ClipMotion lines(limb.rig, joined, false, 1.0);
  EXPECT_TRUE(cut_within(lines, 0.5, 0.5 + 1.0 / 30));
  EXPECT_FALSE(cut_within(lines, 0, 0.5 - 1.0 / 240));
  EXPECT_FALSE(cut_within(lines, 0.5 + 1.0 / 30, 1));
  // A turn by half a circle, and a limb put elsewhere, in one frame.
  const Clip turned = keyed(1, 30, [](double time) {
    LimbMotion m = walk(time);
    if (time > 0.5 + 1e-9) m.root.rotation = turn(170, Vec3::UnitY()) * m.root.rotation;
    return m;
  });
  EXPECT_TRUE(cut_within(ClipMotion(limb.rig, turned, false, 1.0), 0.5, 0.5 + 1.0 / 30));
  const Clip posed = keyed(1, 30, [](double time) {
    LimbMotion m = walk(time);
    if (time > 0.5 + 1e-9) m.knee += 2.8;
    return m;
  });
  EXPECT_TRUE(cut_within(ClipMotion(limb.rig, posed, false, 1.0), 0.5, 0.5 + 1.0 / 30));
}

TEST(ClipMotion, SteppedKeysJumpAtTheirKey) {
  const SoftLimb limb = make_soft_limb();
  const auto places = [](double time) {
    return LimbMotion{{Vec3(std::floor(2 * time), 0, 0), Quat::Identity()}, 0, 0};
  };
  const Clip stepped = keyed(2, 2, places, Interpolation::step);
  const ClipMotion motion(limb.rig, stepped, false, 1.0);
  for (const double key : {0.5, 1.0, 1.5}) {
    EXPECT_TRUE(motion.is_cut(key - 0.003, key + 0.001)) << key;
    EXPECT_TRUE(motion.is_cut(key - 0.003, key)) << key;
    EXPECT_FALSE(motion.is_cut(key, key + 0.004)) << key;
    EXPECT_FALSE(motion.is_cut(key - 0.01, key - 0.005)) << key;
  }
}

TEST(ClipMotion, FastMotionIsNotACut) {
  const SoftLimb limb = make_soft_limb();
  for (const double rate : {12.0, 30.0, 120.0}) {
    const Clip sprint = keyed(1, rate, [](double time) {
      // Ten heights a second, a turn and a half a second, and a kick of 20 radians a second.
      return LimbMotion{{Vec3(10 * time, 0, 0), turn(540 * time, Vec3::UnitY())}, 0.8 * std::sin(25 * time), 0};
    });
    EXPECT_FALSE(cut_within(ClipMotion(limb.rig, sprint, false, 1.0), 0, 1)) << rate;
  }
}

TEST(ClipMotion, ALoopThatDoesNotCloseIsCutWhereItStartsAgain) {
  const SoftLimb limb = make_soft_limb();
  const Clip open = keyed(1, 30, [](double time) { return LimbMotion{{}, 2.8 * time, 0}; });
  EXPECT_FALSE(closes(limb.rig, open));
  EXPECT_TRUE(closes(limb.rig, keyed(1, 30, walk)));
  const ClipMotion motion(limb.rig, open, true, 1.0);
  EXPECT_FALSE(cut_within(motion, 0, 1 - 2.0 / 240));
  EXPECT_TRUE(motion.is_cut(1 - 1.0 / 240, 1));
  EXPECT_TRUE(motion.is_cut(2 - 1.0 / 480, 2 + 1.0 / 480));
  EXPECT_FALSE(motion.is_cut(1, 1 + 1.0 / 240));
  EXPECT_FALSE(ClipMotion(limb.rig, open, false, 1.0).is_cut(1 - 1.0 / 240, 1));
}

// ---- simulate_clip --------------------------------------------------------------------------------------------------

SimulateSettings looping(bool loop) {
  SimulateSettings settings;
  settings.loop = loop;
  return settings;
}

struct Limb {
  SoftLimb limb = make_soft_limb();
  ReducedBody reduced = reduce_limb(limb);

  SimulatedClip simulate(const Clip& clip, const SimulateSettings& settings = {}) const {
    return simulate_clip(reduced.model, reduced.flesh_frequency, limb.rig, clip, settings).value();
  }
  /// Largest displacement shown over a set of coordinates.
  double shown(const MatX& q) const {
    const MatX u = surface_shape(*reduced.model, 0, q);
    double largest = 0;
    for (Eigen::Index c = 0; c < u.cols(); ++c)
      for (Eigen::Index v = 0; v < u.rows(); v += 3) largest = std::max(largest, u.col(c).segment<3>(v).norm());
    return largest;
  }
};

TEST(SimulatedClip, ALoopClosesAndIsThePeriodicMotion) {
  const Limb limb;
  const Clip clip = keyed(0.9, 60, [](double time) { return walk(time / 0.9); });
  const SimulatedClip loop = limb.simulate(clip, looping(true));
  const Eigen::Index last = loop.coordinates.cols() - 1;
  const double peak = limb.shown(loop.coordinates);
  EXPECT_GT(peak, 0.005);
  EXPECT_NEAR(loop.end() - loop.start, 0.9, 1e-12);
  EXPECT_LT(loop.gap, 1e-4);
  EXPECT_LT(limb.shown(loop.coordinates.col(last) - loop.coordinates.col(0)), 1e-6);
  // Its speed goes on too.
  const VecX leaving = loop.coordinates.col(1) - loop.coordinates.col(0);
  const VecX arriving = loop.coordinates.col(last) - loop.coordinates.col(last - 1);
  double steepest = 0;
  for (Eigen::Index k = 2; k < last; ++k)
    steepest = std::max(
        steepest, limb.shown(loop.coordinates.col(k + 1) - 2 * loop.coordinates.col(k) + loop.coordinates.col(k - 1)));
  EXPECT_LT(limb.shown(leaving - arriving), 1.5 * steepest);
  EXPECT_EQ(loop.recovered, 0);
  EXPECT_EQ(loop.cuts, 0);
  // The same clip written down seven times, without any loop: its last round but one is the loop.
  const RigidTransform round = walk(1).root * walk(0).root.inverse();
  const Clip written = keyed(6.3, 60, [&](double time) {
    LimbMotion motion = walk(time / 0.9);
    const int rounds = static_cast<int>(time / 0.9 + 1e-9);
    motion.root = walk(time / 0.9 - rounds).root;
    for (int k = 0; k < rounds; ++k) motion.root = round * motion.root;
    return motion;
  });
  SimulateSettings finer;
  finer.time_step = loop.time_step;
  const SimulatedClip plain = limb.simulate(written, finer);
  ASSERT_EQ(plain.coordinates.cols(), 7 * last + 1);
  EXPECT_LT(limb.shown(plain.coordinates.middleCols(5 * last + 1, last) - loop.coordinates.rightCols(last)),
            5e-3 * peak);
}

/// Flesh that is driven by nothing but its gain, and flies apart with too much of it.
class WildFlesh final : public FleshStepper {
 public:
  explicit WildFlesh(double bearable) : bearable_(bearable) {}
  Index state_size() const override { return 1; }
  Status begin(double time_step, double gain) override {
    steps.push_back(time_step);
    gain_ = gain;
    state_ = 0;
    return {};
  }
  Status step(const CharacterPose& /*pose*/, const SoftForces& /*forces*/, SoftStepReport& report) override {
    state_ += gain_ > bearable_ ? 0.1 : 0.001;
    report.violence = 2;
    return {};
  }
  void cut() override {}
  VecX state() const override { return VecX::Constant(1, state_); }
  double energy() override { return 0; }
  double visible(const VecX& difference) const override { return difference.norm(); }

  std::vector<double> steps;  ///< of each attempt

 private:
  double bearable_, gain_ = 0, state_ = 0;
};

TEST(SimulatedClip, FleshThatFliesApartIsTakenInSmallerStepsThenHeldBack) {
  const SoftLimb limb = make_soft_limb();
  const Clip clip = keyed(0.5, 30, walk);
  WildFlesh calm(1), wild(0.6), hopeless(0.1);
  const SimulatedClip first = must(simulate_clip(calm, limb.rig, clip, 1, {}));
  EXPECT_EQ(first.restraint, 1);
  EXPECT_EQ(calm.steps.size(), 1);
  EXPECT_NEAR(first.violent, 0.5, 0.01);
  EXPECT_EQ(first.violence, 2);
  const SimulatedClip held = must(simulate_clip(wild, limb.rig, clip, 1, {}));
  EXPECT_EQ(held.restraint, 0.5);
  ASSERT_EQ(wild.steps.size(), 3);
  EXPECT_NEAR(wild.steps[1], 0.5 * wild.steps[0], 1e-12);
  const Result<SimulatedClip> none = simulate_clip(hopeless, limb.rig, clip, 1, {});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::input);
  EXPECT_NE(none.error().message.find("the clip \"clip\": its flesh flies apart"), std::string::npos);
}

TEST(SimulatedClip, InterpolatesBetweenItsSteps) {
  SimulatedClip clip;
  clip.start = 0.5;
  clip.time_step = 0.1;
  clip.coordinates.resize(2, 11);
  for (Eigen::Index k = 0; k <= 10; ++k) {
    const double t = 0.1 * static_cast<double>(k);
    clip.coordinates.col(k) = VecX{{1 + 2 * t - 3 * t * t, t}};
  }
  EXPECT_NEAR(clip.end(), 1.5, 1e-12);
  for (Eigen::Index k = 0; k <= 10; ++k)
    EXPECT_LT((clip.at(0.5 + 0.1 * static_cast<double>(k)) - clip.coordinates.col(k)).norm(), 1e-12);
  for (const double t : {0.13, 0.45, 0.777}) {
    EXPECT_NEAR(clip.at(0.5 + t)[0], 1 + 2 * t - 3 * t * t, 1e-12);
    EXPECT_NEAR(clip.at(0.5 + t)[1], t, 1e-12);
  }
  EXPECT_EQ(clip.at(-7), VecX(clip.coordinates.col(0)));
  EXPECT_LT((clip.at(7) - clip.coordinates.col(10)).norm(), 1e-15);
  clip.loop = true;
  for (Eigen::Index k = 0; k <= 10; ++k)
    clip.coordinates(0, k) = std::sin(2 * std::numbers::pi * static_cast<double>(k) / 10);
  for (const double t : {0.02, 0.55, 0.98}) {
    EXPECT_NEAR(clip.at(0.5 + t)[0], std::sin(2 * std::numbers::pi * t), 0.01);
    EXPECT_NEAR(clip.at(0.5 + t)[0], clip.at(3.5 + t)[0], 1e-12);
    EXPECT_NEAR(clip.at(0.5 + t)[0], clip.at(-1.5 + t)[0], 1e-12);
  }
}

TEST(SimulatedClip, OutputsOfAnyRateLieOnOneCurve) {
  const Limb limb;
  const Clip clip = keyed(1, 120, walk);
  const SimulatedClip simulated = limb.simulate(clip);
  // The curve itself: steps twice as fine of the same simulation are not the same physics to the last digit, but what
  // lies between steps must be as good as a step. Left out every second one, the rest must tell them.
  SimulatedClip coarse = simulated;
  coarse.time_step = 2 * simulated.time_step;
  coarse.coordinates.resize(simulated.coordinates.rows(), (simulated.coordinates.cols() + 1) / 2);
  for (Eigen::Index k = 0; k < coarse.coordinates.cols(); ++k)
    coarse.coordinates.col(k) = simulated.coordinates.col(2 * k);
  const double peak = limb.shown(simulated.coordinates);
  for (const double rate : {24.0, 30.0, 60.0, 90.0, 144.0}) {
    double worst = 0;
    for (int k = 2; k < static_cast<int>(rate) - 2; ++k)
      worst = std::max(worst, limb.shown(simulated.at(k / rate) - coarse.at(k / rate)));
    EXPECT_LT(worst, 0.005 * peak) << rate;
  }
}

TEST(SimulatedClip, ARangeIsThatPartOfTheWhole) {
  const Limb limb;
  const Clip clip = keyed(2, 120, [](double time) { return lively(time); });
  const SimulatedClip whole = limb.simulate(clip);
  const double peak = limb.shown(whole.coordinates);
  for (const double from : {0.5, 0.8013}) {
    SimulateSettings settings;
    settings.from = from;
    settings.to = 1.5;
    const SimulatedClip part = limb.simulate(clip, settings);
    EXPECT_LE(part.start, from + 1e-12);
    EXPECT_GT(part.start, from - 1.0 / 240);
    EXPECT_GE(part.end(), 1.5 - 1e-9);
    for (double time = from + 0.02; time < 1.48; time += 0.037)
      EXPECT_LT(limb.shown(part.at(time) - whole.at(time)), 0.02 * peak) << from << " " << time;
  }
  SimulateSettings bad;
  bad.from = 3;
  EXPECT_FALSE(simulate_clip(limb.reduced.model, 4, limb.limb.rig, clip, bad).ok());
}

TEST(SimulatedClip, StartsAndEndsAsIfItHadAlwaysMovedLikeThat) {
  const Limb limb;
  // Neither its length nor the starts are whole numbers of steps.
  const Clip clip = keyed(0.5011, 60, forward);
  for (const double from : {0.0, 0.0105, 0.1003}) {
    SimulateSettings settings;
    settings.from = from;
    const SimulatedClip steady = limb.simulate(clip, settings);
    EXPECT_LT(limb.shown(steady.coordinates), 1e-6) << from;
  }
}

TEST(SimulatedClip, StartsSettledUnderGravity) {
  const Limb limb;
  const Clip still = keyed(1, 10, [](double) { return LimbMotion{{}, 0.4, 0.2}; });
  for (const double from : {0.0, 0.01, 0.5}) {
    SimulateSettings settings;
    settings.from = from;
    settings.gravity = Vec3(0, -9.81, 0);
    const SimulatedClip sagged = limb.simulate(still, settings);
    const Eigen::Index last = sagged.coordinates.cols() - 1;
    EXPECT_GT(limb.shown(sagged.coordinates.col(last)), 1e-3);
    EXPECT_LT(limb.shown(sagged.coordinates.col(0) - sagged.coordinates.col(last)),
              0.01 * limb.shown(sagged.coordinates.col(last)))
        << from;
  }
}

TEST(SimulatedClip, CutsAreNotFeltAndCountedOnce) {
  const Limb limb;
  const auto jump = [](double time) {
    return LimbMotion{{Vec3(time < 0.5 - 1e-9 ? 0 : 40, 0, 0), Quat::Identity()}, 0.3, 0};
  };
  for (const bool loop : {false, true}) {
    const SimulatedClip clip = limb.simulate(keyed(1, 4, jump, Interpolation::step), looping(loop));
    EXPECT_LT(limb.shown(clip.coordinates), 1e-6);
    EXPECT_EQ(clip.cuts, 1);
    EXPECT_EQ(clip.recovered, 0);
  }
}

/// A knee that steps by half a radian every half second, and the same by keys a ten-thousandth of a second apart.
Clip stepping_knee(bool lines) {
  Clip clip{"steps", 2, {{1, ChannelTarget::rotation, lines ? Interpolation::linear : Interpolation::step, 4, {}, {}}}};
  Channel& channel = clip.channels[0];
  const auto add = [&](double time, double knee) {
    const Quat q(Eigen::AngleAxisd(knee, Vec3::UnitZ()));
    channel.times.push_back(time);
    channel.values.insert(channel.values.end(), q.coeffs().data(), q.coeffs().data() + 4);
  };
  for (int k = 0; k <= 4; ++k) {
    if (lines && k > 0) add(0.5 * k - 1e-4, k % 2 ? 0.0 : 0.5);
    add(0.5 * k, k % 2 ? 0.5 : 0.0);
  }
  return clip;
}

// A jump is felt, and as much at any time step.
TEST(SimulatedClip, JumpsDoNotDependOnTheTimeStep) {
  const Limb limb;
  for (const bool lines : {false, true}) {
    const Clip clip = stepping_knee(lines);
    std::vector<double> peaks;
    for (const double rate : {120.0, 240.0, 480.0, 960.0}) {
      SimulateSettings settings;
      settings.time_step = 1 / rate;
      const SimulatedClip simulated = limb.simulate(clip, settings);
      EXPECT_EQ(simulated.recovered, 0);
      EXPECT_EQ(simulated.cuts, 0);
      peaks.push_back(limb.shown(simulated.coordinates));
    }
    EXPECT_GT(peaks.back(), 0.01);
    // Of steps twice as long as usual a jump has eight, and what the rig is expected to do next goes a little too far.
    EXPECT_NEAR(peaks.front(), peaks.back(), 0.08 * peaks.back()) << lines;
    for (std::size_t k = 1; k < peaks.size(); ++k) EXPECT_NEAR(peaks[k], peaks.back(), 0.05 * peaks.back()) << lines;
  }
}

// Keys at the rate of frames that step are a motion sampled: they move the flesh as the motion does, a frame later.
TEST(SimulatedClip, SteppedFramesAreTheMotionTheySample) {
  const Limb limb;
  const auto motion = [](double time) { return lively(time); };
  const SimulatedClip lines = limb.simulate(keyed(2, 60, motion));
  const SimulatedClip steps = limb.simulate(keyed(2, 60, motion, Interpolation::step));
  const double peak = limb.shown(lines.coordinates);
  for (double time = 0.1; time < 1.95; time += 0.05)
    EXPECT_LT(limb.shown(steps.at(time + 1.0 / 60) - lines.at(time)), 0.02 * peak) << time;
}

}  // namespace
}  // namespace supple::simulate_clip_test
