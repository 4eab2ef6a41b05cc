// SPDX-License-Identifier: Apache-2.0
// Soft motion of known rank must come out as that many targets, and the played file must be the baked one.
#include "supple/export/compress_motion.h"

#include "io/io_tools.h"
#include "supple/export/write_soft_glb.h"
#include "supple/io/gltf/write_character.h"
#include "supple/rig/deform/bind_space.h"
#include "support/rigs.h"
#include "support/soft_motions.h"

#include <numeric>

namespace supple::compress_motion_test {
namespace {

/// A tube that bends and walks away, as a file has it.
RawCharacter bending_tube() {
  RawCharacter tube = make_tube(4, 25, 12, 2.0, 0.2, 2);
  Clip clip{"bend", 2.0, {}};
  for (Index j = 1; j < 4; ++j) {
    Channel channel{j, ChannelTarget::rotation, Interpolation::linear, 4, {0, 1, 2}, {}};
    for (const double degrees : {0.0, 50.0, -20.0}) {
      const Quat q = turn(degrees, Vec3(0.2, 0, 1));
      channel.values.insert(channel.values.end(), q.coeffs().begin(), q.coeffs().end());
    }
    clip.channels.push_back(channel);
  }
  clip.channels.push_back({0, ChannelTarget::translation, Interpolation::linear, 3, {0, 2}, {0, 0, 0, 5, 0, 3}});
  tube.clips = {clip, clip};
  tube.clips[1].name = "again";
  return tube;
}

/// Σ_k sin-like weight · smooth field, in bind space; in the world through the blended matrices.
FormulaFrames::Formula bind_fields(const RawCharacter& character, int fields, double amplitude) {
  auto posed = std::make_shared<PosedMeshes>(character, std::vector<Index>{});
  auto at = std::make_shared<std::pair<Index, double>>(-1, -1.0);
  return [=, &character](Index clip, double time, std::size_t v) {
    if (*at != std::pair(clip, time)) posed->pose(character.clips[to_size(clip)], time);
    *at = {clip, time};
    const Vec3& x = character.meshes[0].surface.vertices[v];
    Vec3 d = Vec3::Zero();
    for (int k = 0; k < fields; ++k)
      d += amplitude * std::sin((k + 1) * time + clip) *
           Vec3(std::sin((k + 1) * x.y()), std::cos(2 * x.x() + k * x.y()), std::sin(k + x.z()));
    return Vec3(posed->matrices()[v].linear() * d);
  };
}

RawCharacter saved_and_read(const GltfDocument& source, const SoftMotion& motion, const CompressedMotion& compressed) {
  GltfDocument document = source;
  const Status added = add_soft_targets(document, motion, compressed);
  EXPECT_TRUE(added.ok());
  const std::string glb = encode_glb(document);
  const Result<GltfDocument> back = parse_gltf(glb, "soft.glb", {});
  EXPECT_TRUE(back.ok()) << back.error().message;
  return read_character(*back).value();
}

TEST(CompressMotion, AsManyTargetsAsFields) {
  const RawCharacter tube = bending_tube();
  for (const int fields : {1, 3, 6}) {
    const std::vector<SoftClip> clips = {even_frames(tube, 0, 60), even_frames(tube, 1, 40)};
    FormulaFrames frames(clips, bind_fields(tube, fields, 0.05));
    const CompressedMotion compressed = compress_motion({&tube, {}, clips, &frames}, {.tolerance = 1e-4}).value();
    // and the sum of the lowest weights; the only weight of one field is never negative
    EXPECT_EQ(compressed.report.targets, fields == 1 ? 1 : fields + 1);
    EXPECT_TRUE(compressed.report.within_tolerance());
    EXPECT_GT(compressed.report.peak_displacement, 0.02);
    EXPECT_LE(compressed.report.rms_error, compressed.report.largest_error);
    EXPECT_EQ(compressed.report.unreachable < 1e-9, true);
  }
}

TEST(CompressMotion, FramesAreAskedForOnceWhereMemoryAllows) {
  const RawCharacter tube = bending_tube();
  const std::vector<SoftClip> clips = {even_frames(tube, 0, 300)};
  FormulaFrames frames(clips, bind_fields(tube, 4, 0.05)), again(clips, bind_fields(tube, 4, 0.05));
  const CompressedMotion kept = compress_motion({&tube, {}, clips, &frames}, {.tolerance = 1e-4}).value();
  EXPECT_EQ(frames.asked, 300);
  const CompressedMotion streamed =
      compress_motion({&tube, {}, clips, &again}, {.tolerance = 1e-4, .memory = 1}).value();
  EXPECT_LE(again.asked, 3 * 300);
  EXPECT_EQ(kept.report.targets, 4 + 1);
  EXPECT_EQ(streamed.report.largest_error, kept.report.largest_error);
  EXPECT_EQ(streamed.meshes[0].displacements, kept.meshes[0].displacements);
}

TEST(CompressMotion, WhatOnlyOneFrameShowsIsLearned) {
  const RawCharacter tube = bending_tube();
  const std::vector<SoftClip> clips = {even_frames(tube, 0, 500)};
  const auto fields = bind_fields(tube, 3, 0.05);
  const double moment = clips[0].times[202];  // not among the frames that are looked at first
  FormulaFrames frames(clips, [&](Index clip, double time, std::size_t v) {
    const Vec3 blow = time == moment ? Vec3(0.1 * std::sin(0.3 * static_cast<double>(v)), 0.1, 0) : Vec3(0, 0, 0);
    return Vec3(fields(clip, time, v) + blow);
  });
  const CompressionReport report = compress_motion({&tube, {}, clips, &frames}, {.tolerance = 1e-4}).value().report;
  EXPECT_EQ(report.targets, 3 + 1 + 1);
  EXPECT_TRUE(report.within_tolerance()) << report.largest_error;
  EXPECT_EQ(frames.asked, 500);
}

TEST(CompressMotion, FramesThatAreNotWrittenShowTheErrorBetweenKeys) {
  const GltfDocument source = character_document(bending_tube()).value();
  const RawCharacter tube = read_character(source).value();
  const auto wave = [&](Index, double time, std::size_t v) {
    return Vec3(0, 0, 0.1 * std::sin(6 * time) * tube.meshes[0].surface.vertices[v].y());
  };
  SoftClip clip = even_frames(tube, 0, 33);  // 2 s: sixteen written frames a second at most, then every other
  FormulaFrames frames({clip}, wave);
  const CompressionSettings settings{.tolerance = 0.01, .keep_all_keys = true};
  const double at_frames = compress_motion({&tube, {}, {clip}, &frames}, settings).value().report.largest_error;
  clip.written_every = 2;
  const CompressedMotion halved = compress_motion({&tube, {}, {clip}, &frames}, settings).value();
  EXPECT_EQ(halved.meshes[0].curves[0].times.size(), 17u);
  // A line under a sine of amplitude a: a (1 − cos(ω h / 2)) half-way, with keys h apart; a = 0.2 at the tube's end.
  const double sag = 0.2 * (1 - std::cos(6 * 0.125 / 2));
  EXPECT_LT(at_frames, 0.2 * sag);
  EXPECT_GT(halved.report.largest_error, 0.8 * sag);
  EXPECT_LT(halved.report.largest_error, 1.2 * sag);
  EXPECT_FALSE(halved.report.within_tolerance());
  // It is what a player shows.
  const std::vector<double>& times = clip.times;
  double shown = 0;
  const RawCharacter played = saved_and_read(source, {&tube, {}, {clip}, &frames}, halved);
  for (const double time : times)
    shown = std::max(shown, playback_error(tube, 0, played, 0, time, [&](std::size_t v) { return wave(0, time, v); }));
  EXPECT_NEAR(shown, halved.report.largest_error, 1e-5);
}

TEST(CompressMotion, TheFilePlaysSkinPlusDisplacement) {
  const RawCharacter made = bending_tube();
  const GltfDocument source = character_document(made).value();
  const RawCharacter tube = read_character(source).value();
  const std::vector<SoftClip> clips = {even_frames(tube, 0, 121), even_frames(tube, 1, 121)};
  const auto wobble = world_wobble(tube, 0.05);
  FormulaFrames frames(clips, wobble);
  const SoftMotion motion{&tube, {}, clips, &frames};
  const CompressedMotion compressed = compress_motion(motion).value();
  const double tolerance = compressed.report.tolerance;
  EXPECT_NEAR(tolerance, 0.002, 1e-5);  // a thousandth of the tube's two metres
  ASSERT_TRUE(compressed.report.within_tolerance());
  EXPECT_LT(compressed.report.keys, 2 * 121);
  const RawCharacter played = saved_and_read(source, motion, compressed);
  for (const Index clip : {0, 1}) {
    for (const double time : {0.0, 0.5, 1.0, 2.0, 0.3333, 1.2345}) {
      const double error =
          playback_error(tube, clip, played, clip, time, [&](std::size_t v) { return wobble(clip, time, v); });
      EXPECT_LT(error, 1.05 * tolerance) << time;  // between frames the wobble isn't a line
    }
  }
  // Without the soft targets it would be far off: the test sees what it is meant to see.
  EXPECT_GT(playback_error(tube, 0, played, 0, 1.0, [](std::size_t) { return Vec3(Vec3::Zero()); }), 20 * tolerance);
}

TEST(CompressMotion, WrittenWeightsStayWithinOne) {
  const GltfDocument source = character_document(bending_tube()).value();
  const RawCharacter tube = read_character(source).value();
  const std::vector<SoftClip> clips = {even_frames(tube, 1, 80)};  // the other isn't baked
  const auto fields = bind_fields(tube, 5, 0.05);
  FormulaFrames frames(clips, fields);
  const SoftMotion motion{&tube, {}, clips, &frames};
  const CompressedMotion compressed = compress_motion(motion).value();
  ASSERT_TRUE(compressed.report.within_tolerance());
  const RawCharacter played = saved_and_read(source, motion, compressed);
  double low = 2, high = -1;
  for (const Channel& channel : played.clips[1].channels) {
    if (channel.target != ChannelTarget::weights) continue;
    for (const double weight : channel.values) low = std::min(low, weight), high = std::max(high, weight);
  }
  EXPECT_GE(low, 0.0);
  EXPECT_LE(high, 1.0);
  EXPECT_NEAR(low, 0.0, 1e-6);
  EXPECT_EQ(high, 1.0);
  for (const std::size_t f : {0u, 17u, 40u, 79u}) {
    const double time = clips[0].times[f];
    EXPECT_LE(playback_error(tube, 1, played, 1, time, [&](std::size_t v) { return fields(1, time, v); }),
              compressed.report.largest_error + 1e-6);
  }
  // Neither the rest pose nor a clip that wasn't baked has any of it.
  EXPECT_EQ(played.meshes[0].default_target_weights, std::vector<double>(to_size(compressed.report.targets), 0.0));
  EXPECT_LT(playback_error(tube, 0, played, 0, 0.7, [](std::size_t) { return Vec3(Vec3::Zero()); }), 1e-6);
}

TEST(CompressMotion, NormalsFollowTheSurface) {
  const RawCharacter tube = bending_tube();
  const std::vector<SoftClip> clips = {even_frames(tube, 0, 40)};
  FormulaFrames frames(clips, bind_fields(tube, 3, 0.03));
  const CompressionReport report = compress_motion({&tube, {}, clips, &frames}).value().report;
  EXPECT_LT(report.normal_rms, 1.0);
  EXPECT_LE(report.normal_rms, report.normal_largest);
  EXPECT_LE(report.normal_99, report.normal_largest);
  EXPECT_GT(report.normal_largest, 0.0);
}

TEST(CompressMotion, StillnessNeedsNothing) {
  const RawCharacter tube = bending_tube();
  const std::vector<SoftClip> clips = {even_frames(tube, 0, 20)};
  FormulaFrames frames(clips, [](Index, double, std::size_t) { return Vec3(0.0005, 0, 0); });
  const CompressionReport report = compress_motion({&tube, {}, clips, &frames}).value().report;
  EXPECT_EQ(report.targets, 0);
  EXPECT_NEAR(report.largest_error, 0.0005, 1e-9);
  FormulaFrames none({}, [](Index, double, std::size_t) { return Vec3(Vec3::Zero()); });
  EXPECT_EQ(compress_motion({&tube, {}, {}, &none}).value().report.targets, 0);
}

TEST(CompressMotion, SaysWhatWasReachedWhereTargetsAreTooFew) {
  const RawCharacter tube = bending_tube();
  const std::vector<SoftClip> clips = {even_frames(tube, 0, 60)};
  FormulaFrames frames(clips, bind_fields(tube, 6, 0.05));
  const CompressionReport report =
      compress_motion({&tube, {}, clips, &frames}, {.tolerance = 1e-5, .most_targets = 3}).value().report;
  EXPECT_EQ(report.targets, 3);
  EXPECT_FALSE(report.within_tolerance());
  EXPECT_GT(report.largest_error, 1e-4);
}

TEST(CompressMotion, RefusesWhatIsNotFinite) {
  const RawCharacter tube = bending_tube();
  const std::vector<SoftClip> clips = {even_frames(tube, 0, 20)};
  FormulaFrames frames(
      clips, [](Index, double time, std::size_t v) { return Vec3(time > 1 && v == 17 ? std::nan("") : 0.0, 0, 0); });
  expect_refused(compress_motion({&tube, {}, clips, &frames}), "isn't finite at frame 10");
  std::vector<SoftClip> wrong = clips;
  wrong[0].times[3] = wrong[0].times[2];
  expect_refused(compress_motion({&tube, {}, wrong, &frames}), "ascending");
}

TEST(BindSpace, InvertsAndStaysBounded) {
  std::mt19937 random(3);
  const Mat3 R = random_rotation(random).toRotationMatrix(), Q = random_rotation(random).toRotationMatrix();
  const Vec3 u(0.3, -0.2, 0.7);
  const Mat3 B = R * Vec3(0.02, 0.01, 0.005).asDiagonal() * Q;
  EXPECT_LT((B * into_bind_space(B, u, 0.01) - u).norm(), 1e-12);
  const Mat3 flat = R * Vec3(1, 1, 1e-4).asDiagonal() * Q;
  const Vec3 d = into_bind_space(flat, u, 1);
  EXPECT_LT(d.norm(), u.norm() * 1.001);
  // what lies in the plane is reached
  const Vec3 missed = R.transpose() * (flat * d - u);
  EXPECT_LT(missed.head<2>().norm(), 1e-12);
  EXPECT_LT((into_bind_space(Mat3::Zero(), u, 1)).norm(), 1e-12);
}

TEST(ThinKeys, KeepsCornersAndDropsLines) {
  std::vector<double> times, slack(21, 1e-9);
  std::vector<VecX> frames;
  std::vector<std::size_t> all(21);
  std::iota(all.begin(), all.end(), 0u);
  for (int k = 0; k <= 20; ++k) {
    times.push_back(0.1 * k);
    frames.push_back(VecX::Constant(1, k <= 7 ? 2.0 * k : 14.0 - (k - 7)));
  }
  const WeightCurve curve = thin_keys(times, frames, all, VecX::Ones(1), slack);
  ASSERT_EQ(curve.times.size(), 3u);
  EXPECT_EQ(curve.times[1], times[7]);
  double value = 0;
  curve.sample(0.35, {&value, 1});
  EXPECT_NEAR(value, 7.0, 1e-12);
  curve.sample(99, {&value, 1});
  EXPECT_EQ(value, 1.0);
}

}  // namespace
}  // namespace supple::compress_motion_test
