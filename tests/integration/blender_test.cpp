// SPDX-License-Identifier: Apache-2.0
// Blender puts the vertices of characters where we do: skins, clips, morph targets of theirs and of ours. Without
// Blender the tests are skipped.
//
// Two programs can't agree everywhere: between the keys of a rotation glTF turns at constant speed, Blender
// interpolates the four numbers. The keys of the files below are dense enough for that not to matter.
#include "integration/peers.h"
#include "integration/wobble.h"
#include "supple/io/file.h"
#include "supple/io/gltf/read_appearance.h"
#include "supple/rig/character_rig.h"

#include <map>

namespace supple::blender_test {
namespace {

constexpr int samples = 10;

bool has_cubic_keys(const Clip& clip) {
  return std::any_of(clip.channels.begin(), clip.channels.end(),
                     [](const Channel& channel) { return channel.interpolation == Interpolation::cubic; });
}

/// Component by component between the keys around a time, along the shorter way.
std::vector<double> mixed_rotation(const Channel& channel, double time) {
  const auto after = std::upper_bound(channel.times.begin(), channel.times.end(), time) - channel.times.begin();
  const auto last = static_cast<std::ptrdiff_t>(channel.times.size()) - 1;
  const auto b = std::clamp<std::ptrdiff_t>(after, 0, last), a = std::clamp<std::ptrdiff_t>(after - 1, 0, last);
  const Eigen::Map<const Eigen::Vector4d> qa(channel.values.data() + 4 * a), qb(channel.values.data() + 4 * b);
  const double ta = channel.times[to_size(a)], tb = channel.times[to_size(b)];
  const double s = tb > ta ? std::clamp((time - ta) / (tb - ta), 0.0, 1.0) : 0.0;
  const Eigen::Vector4d mixed = ((1 - s) * qa + (qa.dot(qb) < 0 ? -s : s) * qb).normalized();
  return {mixed.begin(), mixed.end()};
}

/// How far the weights of a node's mesh may go: from 0 to 1, and to the first keys of all clips.
struct WeightRange {
  std::vector<double> low, high;
};

std::map<Index, WeightRange> weight_ranges(const std::vector<Clip>& clips) {
  std::map<Index, WeightRange> ranges;
  for (const Clip& clip : clips) {
    for (const Channel& channel : clip.channels) {
      if (channel.target != ChannelTarget::weights) continue;
      const auto width = to_size(channel.width);
      WeightRange& range = ranges[channel.joint];
      range.low.resize(width, 0.0);
      range.high.resize(width, 1.0);
      for (std::size_t k = 0; k < width; ++k) {
        range.low[k] = std::min(range.low[k], channel.values[k]);
        range.high[k] = std::max(range.high[k], channel.values[k]);
      }
    }
  }
  return ranges;
}

/// A clip that stands still in the pose which Blender gives the clip at a time.
Clip frozen_by_blender(const Clip& clip, double time, const std::map<Index, WeightRange>& ranges) {
  Clip frozen = clip;
  for (Channel& channel : frozen.channels) {
    if (channel.target == ChannelTarget::rotation && channel.interpolation == Interpolation::linear) {
      channel.values = mixed_rotation(channel, time);
      channel.times = {time};
    } else if (channel.target == ChannelTarget::weights) {
      std::vector<double> weights(to_size(channel.width));
      sample_channel(channel, time, weights);
      const WeightRange& range = ranges.at(channel.joint);
      for (std::size_t k = 0; k < weights.size(); ++k) weights[k] = std::clamp(weights[k], range.low[k], range.high[k]);
      channel.values = weights;
      channel.times = {time};
    }
  }
  return frozen;
}

/// The vertices of a mesh as Blender has them: primitive after primitive, those that a triangle uses.
std::vector<Index> blender_order(const CharacterMesh& mesh, const std::vector<PrimitiveAppearance>& primitives) {
  std::vector<Index> order;
  for (std::size_t p = 0; p < primitives.size(); ++p) {
    std::vector<bool> used(mesh.welded_vertex[p].size(), false);
    for (const Triangle& t : primitives[p].triangles)
      for (const Index v : t) used[to_size(v)] = true;
    for (std::size_t v = 0; v < used.size(); ++v)
      if (used[v]) order.push_back(mesh.welded_vertex[p][v]);
  }
  return order;
}

/// A character that Blender has played.
class Played {
 public:
  explicit Played(const fs::path& file)
      : document_(load_gltf(file).value()),
        character(read_character(document_, {.require_skin = false}).value()),
        appearance_(read_appearance(document_, character).value()),
        rig_(CharacterRig::create(character).value()),
        ranges_(weight_ranges(character.clips)) {}

  /// The largest distance between our vertices and Blender's in a pose, as a part of the character's height.
  double distance(const ThreePose& theirs, bool as_blender) const {
    CharacterPose pose = rig_.neutral();
    if (theirs.clip < character.clips.size()) {
      const Clip& clip = character.clips[theirs.clip];
      rig_.sample(as_blender ? frozen_by_blender(clip, theirs.time, ranges_) : clip, theirs.time, ClipWrap::hold, pose);
    }
    const std::vector<Vec3> positions = evaluate_all(*rig_.rig(), pose.p);
    double worst = 0;
    for (std::size_t m = 0; m < character.meshes.size(); ++m) {
      const CharacterMesh& mesh = character.meshes[m];
      const auto node = static_cast<std::uint32_t>(character.file_node[to_size(mesh.node)]);
      const auto found = std::find_if(theirs.meshes.begin(), theirs.meshes.end(),
                                      [&](const ThreeMesh& other) { return other.node == node; });
      const std::vector<Index> order = blender_order(mesh, appearance_.meshes[m]);
      if (found == theirs.meshes.end() || order.empty() || order.size() != found->positions.size()) return 1e300;
      for (std::size_t v = 0; v < order.size(); ++v) {
        const Vec3 ours = pose.placement * positions[to_size(rig_.first_vertex()[m] + order[v])];
        worst = std::max(worst, (ours - found->positions[v]).norm());
      }
    }
    return worst / height_of(theirs);
  }

 private:
  GltfDocument document_;

 public:
  RawCharacter character;

 private:
  Appearance appearance_;
  CharacterRig rig_;
  std::map<Index, WeightRange> ranges_;
};

class Blender : public PeerTest {
 protected:
  void SetUp() override {
    if (run("blender --version").code != 0) GTEST_SKIP() << "Blender is not installed; ./go integration does it";
    make_folder();
  }

  /// One run of Blender for all files, most of whose time is its start.
  void play(const std::vector<fs::path>& files) const {
    std::string command = fmt::format("blender --background --factory-startup --python {}/blender_positions.py -- {}",
                                      SUPPLE_INTEGRATION_DIR, samples);
    for (const fs::path& file : files) command += fmt::format(" {} {}", file.string(), poses_of(file).string());
    const Ran ran = run(command);
    ASSERT_EQ(ran.code, 0) << ran.output;
  }
  static fs::path poses_of(const fs::path& file) { return fs::path(file).replace_extension(".poses"); }

  struct Distances {
    double as_blender = 0, as_gltf = 0;  ///< our side interpolating and cutting off as Blender does, or as glTF says
  };
  /// The largest of all poses of clips that can be compared.
  static Distances compare(const fs::path& file) {
    const Played played(file);
    const std::vector<Clip>& clips = played.character.clips;
    const std::vector<ThreePose> poses = read_poses(*read_file(poses_of(file)));
    EXPECT_EQ(poses.size(), std::max<std::size_t>(1, samples * clips.size())) << file;
    Distances worst;
    std::size_t compared = 0;
    for (const ThreePose& pose : poses) {
      if (pose.clip < clips.size() && has_cubic_keys(clips[pose.clip])) continue;
      worst.as_blender = std::max(worst.as_blender, played.distance(pose, true));
      worst.as_gltf = std::max(worst.as_gltf, played.distance(pose, false));
      ++compared;
    }
    fmt::print("{:<28} {:>4} of {:>4} poses, largest distance {:.1e} of the height; {:.1e} from glTF\n",
               file.filename().string(), compared, poses.size(), worst.as_blender, worst.as_gltf);
    return worst;
  }
};

TEST_F(Blender, PutsVerticesOfCharactersWhereWeDo) {
  if (character_files().empty()) GTEST_SKIP() << "there are no shared assets";
  std::vector<fs::path> files;
  for (const fs::path& file : character_files()) {
    files.push_back(folder / (file.parent_path().filename().string() + "_" + file.stem().string() + ".glb"));
    fs::rename(rewritten(file), files.back());
  }
  play(files);
  for (const fs::path& file : files) EXPECT_LT(compare(file).as_blender, 1e-4) << file;
}

// As baked files are: weights from 0 to 1, which Blender plays as they are.
TEST_F(Blender, PlaysAddedMorphTargetsWithSkins) {
  if (character_files().empty()) GTEST_SKIP() << "there are no shared assets";
  std::vector<fs::path> files;
  for (const char* name :
       {"khr_cesiumman/CesiumMan.glb", "three_robotexpressive/RobotExpressive.glb", "quat_wolf/Wolf.glb"}) {
    files.push_back(folder / fs::path(name).filename());
    const Status written = test::write_wobble(rigged / name, files.back());
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  play(files);
  for (const fs::path& file : files) EXPECT_LT(compare(file).as_blender, 1e-4) << file;
}

#ifdef SUPPLE_CLI
TEST_F(Blender, PlaysOurExamples) {
  std::vector<fs::path> files;
  for (const char* name : {"mascot", "arm", "gorilla"}) {
    const Ran ran = run(fmt::format("{} example {} -o {}", SUPPLE_CLI, name, folder.string()));
    ASSERT_EQ(ran.code, 0) << ran.output;
    files.push_back(folder / fmt::format("{}.glb", name));
    files.push_back(folder / fmt::format("{}_soft.glb", name));
    const Status written = test::write_wobble(files[files.size() - 2], files.back());
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  play(files);
  for (const fs::path& file : files) EXPECT_LT(compare(file).as_blender, 1e-4) << file;
}

// Here Blender's habits are no excuse: the weights stay within what it plays, and the keys of these files are dense.
TEST_F(Blender, PlaysWhatWeBake) {
  const std::vector<fs::path> files = baked();
  ASSERT_FALSE(files.empty());
  play(files);
  for (const fs::path& file : files) EXPECT_LT(compare(file).as_gltf, 1e-4) << file;
}
#endif

}  // namespace
}  // namespace supple::blender_test
