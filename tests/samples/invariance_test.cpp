// SPDX-License-Identifier: Apache-2.0
// Soft motion belongs to the character: it is the same wherever the character stands, in any unit and size, whatever
// the order of its data, and however many keys say the same. Five characters of our own; a short form always, all
// places and sizes with SUPPLE_NIGHTLY (./go nightly).
#include "samples/creatures.h"
#include "supple/io/gltf/write_character.h"
#include "supple/pipeline/character/engine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <numeric>

namespace supple::invariance_test {
namespace {

using Change = std::function<void(RawCharacter&)>;

/// Of the size of the character.
struct Motion {
  double peak = 0, rms = 0;
  int cuts = 0;
};

/// Twice the largest distance from the mean: a box would depend on how the character is turned.
double size_of(const std::vector<Vec3>& points) {
  Vec3 mean = Vec3::Zero();
  for (const Vec3& x : points) mean += x / static_cast<double>(points.size());
  double farthest = 0;
  for (const Vec3& x : points) farthest = std::max(farthest, (x - mean).norm());
  return 2 * farthest;
}

constexpr int x_shape = 0;  ///< of the characters

Quat tilt() { return Quat(Eigen::AngleAxisd(0.7, Vec3(1, 2, 2) / 3)); }

bool nightly() { return std::getenv("SUPPLE_NIGHTLY") != nullptr; }

// ---- changes that change nothing
// -------------------------------------------------------------------------------------

/// Under a joint that stands elsewhere, as scenes place characters. (Adding the place to the keys themselves would ask
/// for more digits than files have.)
Change placed(const Quat& R, const Vec3& t) {
  return [=](RawCharacter& c) {
    Joint place;
    place.name = "place";
    place.parent = -1;
    place.rest.translation = t;
    place.rest.rotation = R;
    for (Joint& joint : c.skeleton.joints) ++joint.parent;
    c.skeleton.joints.insert(c.skeleton.joints.begin(), place);
    for (Skin& skin : c.skins)
      for (Index& joint : skin.joints) ++joint;
    for (CharacterMesh& mesh : c.meshes) ++mesh.node;
    for (Clip& clip : c.clips)
      for (Channel& channel : clip.channels) ++channel.joint;
  };
}

Change scaled(double s) {
  return [=](RawCharacter& c) {
    for (CharacterMesh& mesh : c.meshes) {
      for (Vec3& x : mesh.surface.vertices) x *= s;
      for (MorphTarget& target : mesh.targets)
        for (Vec3& d : target.displacements) d *= s;
    }
    for (Joint& joint : c.skeleton.joints) joint.rest.translation *= s;
    for (Skin& skin : c.skins)
      for (Affine& bind : skin.inverse_bind) bind.translation() *= s;
    for (Clip& clip : c.clips)
      for (Channel& channel : clip.channels)
        if (channel.target == ChannelTarget::translation)
          for (double& value : channel.values) value *= s;
  };
}

/// Vertices and triangles backwards.
void reorder_meshes(RawCharacter& c) {
  for (CharacterMesh& mesh : c.meshes) {
    const auto count = static_cast<Index>(mesh.surface.vertices.size());
    std::reverse(mesh.surface.vertices.begin(), mesh.surface.vertices.end());
    for (Triangle& t : mesh.surface.triangles)
      for (Index& v : t) v = count - 1 - v;
    std::reverse(mesh.surface.triangles.begin(), mesh.surface.triangles.end());
    for (MorphTarget& target : mesh.targets) std::reverse(target.displacements.begin(), target.displacements.end());
    SkinWeights weights{{0}, {}, {}};
    for (Index v = count - 1; v >= 0; --v) {
      for (Index e = mesh.weights.first[to_size(v)]; e < mesh.weights.first[to_size(v) + 1]; ++e) {
        weights.joint.push_back(mesh.weights.joint[to_size(e)]);
        weights.weight.push_back(mesh.weights.weight[to_size(e)]);
      }
      weights.first.push_back(static_cast<Index>(weights.joint.size()));
    }
    if (mesh.weights.vertex_count() == count) mesh.weights = weights;
    for (std::vector<Index>& primitive : mesh.welded_vertex)
      for (Index& v : primitive) v = count - 1 - v;
  }
}

/// Parents still come before their children, but siblings the other way round.
void reorder_joints(RawCharacter& c) {
  const Skeleton old = c.skeleton;
  std::vector<int> depth(old.joints.size(), 0);
  for (std::size_t j = 0; j < depth.size(); ++j)
    if (old.joints[j].parent >= 0) depth[j] = depth[to_size(old.joints[j].parent)] + 1;
  std::vector<Index> order(depth.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    return depth[to_size(a)] != depth[to_size(b)] ? depth[to_size(a)] < depth[to_size(b)] : a > b;
  });
  std::vector<Index> now(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) now[to_size(order[k])] = static_cast<Index>(k);
  for (std::size_t k = 0; k < order.size(); ++k) {
    c.skeleton.joints[k] = old.joints[to_size(order[k])];
    Index& parent = c.skeleton.joints[k].parent;
    if (parent >= 0) parent = now[to_size(parent)];
  }
  for (Skin& skin : c.skins)
    for (Index& joint : skin.joints) joint = now[to_size(joint)];
  for (CharacterMesh& mesh : c.meshes) mesh.node = now[to_size(mesh.node)];
  for (Clip& clip : c.clips)
    for (Channel& channel : clip.channels) channel.joint = now[to_size(channel.joint)];
}

/// Two keys more on every line.
void add_redundant_keys(RawCharacter& c) {
  for (Clip& clip : c.clips) {
    for (Channel& channel : clip.channels) {
      if (channel.interpolation != Interpolation::linear) continue;
      Channel more = channel;
      more.times.clear(), more.values.clear();
      const auto width = to_size(channel.width);
      for (std::size_t k = 0; k < channel.times.size(); ++k) {
        for (const double s : {0.0, 0.3, 0.9}) {
          const std::size_t next = std::min(k + 1, channel.times.size() - 1);
          if (s > 0 && next == k) continue;
          more.times.push_back((1 - s) * channel.times[k] + s * channel.times[next]);
          const Eigen::Map<const VecX> a(channel.values.data() + k * width, channel.width);
          const Eigen::Map<const VecX> b(channel.values.data() + next * width, channel.width);
          VecX value = (1 - s) * a + s * b;
          if (channel.target == ChannelTarget::rotation)
            value = Quat(Eigen::Vector4d(a)).slerp(s, Quat(Eigen::Vector4d(b))).coeffs();
          more.values.insert(more.values.end(), value.begin(), value.end());
        }
      }
      channel = more;
    }
  }
}

// ---- measuring
// --------------------------------------------------------------------------------------------------------

class Invariance : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("supple_invariance_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    Creature (*const makers[])() = {make_x_shape, make_arm, make_bear, make_gorilla, make_mascot};
    character_ = make_character(makers[GetParam()](), 900);
    character_.clips.resize(1);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<SoftCharacter> build(const Change& change) const {
    RawCharacter character = character_;
    change(character);
    EXPECT_TRUE(write_character(folder_ / "c.glb", character).ok());
    Recipe recipe;
    recipe.input = "c.glb";
    recipe.tets = 900;
    // With fewer the error of the reduction itself is larger than what is looked for. The X bends so far from its one
    // pose that it takes more than the others.
    recipe.flesh.size = GetParam() == x_shape ? 100 : 40;
    recipe.flesh.poses = 1;
    const Result<CharacterSource> source = load_source(recipe, folder_);
    if (!source.ok()) return (ADD_FAILURE() << source.error().message, nullptr);
    const auto shared = std::make_shared<const CharacterSource>(*source);
    Result<std::unique_ptr<SoftCharacter>> soft = find_engine("posespace").value()->build(shared);
    if (!soft.ok()) return (ADD_FAILURE() << soft.error().message, nullptr);
    return std::move(*soft);
  }

  static Motion measure(const SoftCharacter& soft, double rate = 120) {
    const Clip& clip = soft.character().clips.at(0);
    SimulateSettings settings;
    settings.to = std::min(clip.duration, first_key(clip) + 0.8);
    const Result<std::unique_ptr<ClipRun>> run = soft.simulate(clip, settings);
    if (!run.ok()) return (ADD_FAILURE() << run.error().message, Motion{});
    const double size = size_of(evaluate_all(*soft.rig().rig(), soft.rig().rig()->layout().neutral));
    std::vector<Vec3> u(to_size(soft.vertex_count()));
    Motion motion;
    double sum = 0, count = 0;
    for (double time = (*run)->start(); time <= *settings.to; time += 1 / rate) {
      (*run)->in_character(time, u);
      for (const Vec3& x : u) {
        motion.peak = std::max(motion.peak, x.norm() / size);
        sum += x.squaredNorm() / (size * size);
        ++count;
      }
    }
    motion.rms = std::sqrt(sum / count);
    motion.cuts = (*run)->report().cuts;
    return motion;
  }

  using Changes = std::vector<std::pair<std::string, Change>>;

  /// By day: whoever fails here is found by night. A size that is a power of two leaves all digits as they are.
  static Changes together() {
    return {{"1 mm away, turned, a 1024th as large, redundant keys, all reordered", [](RawCharacter& c) {
               placed(tilt(), {1e-3, 0, 0})(c);
               scaled(1.0 / 1024)(c);
               add_redundant_keys(c);
               reorder_meshes(c);
               reorder_joints(c);
             }}};
  }

  Changes one_by_one() const {
    const Quat none = Quat::Identity();
    Changes changes = {{"1 mm away", placed(none, {1e-3, 0, 0})},
                       {"turned", placed(tilt(), Vec3::Zero())},
                       {"redundant keys", add_redundant_keys},
                       {"100 km away", placed(none, {6e4, 0, -8e4})},
                       {"vertices and triangles reordered", reorder_meshes},
                       {"joints reordered", reorder_joints}};
    for (const double metres : {0.3, 7.0, 1e3})
      changes.emplace_back("away by " + std::to_string(metres), placed(none, {0, 0, metres}));
    // Other sizes round all numbers of the file. What the X's reduction leaves out is nearly as much as is looked for,
    // and hangs on that: 3.5 % (docs/verification.md).
    const bool rounded = GetParam() != x_shape;
    for (const double s : rounded ? std::vector{1e-3, 0.1, 10.0, 1e3} : std::vector{0x1p-10, 0x1p-3, 0x1p3, 0x1p10})
      changes.emplace_back("times " + std::to_string(s), scaled(s));
    return changes;
  }

  void expect_same(const Motion& motion, const Motion& base, const std::string& what) const {
    if (std::getenv("SUPPLE_TELL") != nullptr)
      std::fprintf(stderr, "TELL %d %-45s peak %+.3f %% rms %+.3f %%\n", GetParam(), what.c_str(),
                   100 * (motion.peak / base.peak - 1), 100 * (motion.rms / base.rms - 1));
    EXPECT_NEAR(motion.peak / base.peak, 1, 0.03) << what;
    EXPECT_NEAR(motion.rms / base.rms, 1, 0.03) << what;
    EXPECT_EQ(motion.cuts, base.cuts) << what;
  }

  std::filesystem::path folder_;
  RawCharacter character_;
};

TEST_P(Invariance, PlaceSizeOrderKeysAndRate) {
  const std::unique_ptr<SoftCharacter> original = build([](RawCharacter&) {});
  ASSERT_NE(original, nullptr);
  const Motion base = measure(*original);
  EXPECT_GT(base.peak, 1e-4) << "nothing moves, so nothing is compared";
  expect_same(measure(*original, 240), base, "twice the frames");
  for (const auto& [what, change] : nightly() ? one_by_one() : together()) {
    const std::unique_ptr<SoftCharacter> soft = build(change);
    if (soft) expect_same(measure(*soft), base, what);
  }
}

INSTANTIATE_TEST_SUITE_P(Five, Invariance, testing::Range(0, 5));

}  // namespace
}  // namespace supple::invariance_test
