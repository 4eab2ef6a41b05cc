// SPDX-License-Identifier: Apache-2.0
#include "supple/io/motion/bvh.h"

#include <fmt/format.h>

#include "supple/io/file.h"
#include "supple/io/text_scanner.h"

#include <algorithm>
#include <numbers>

namespace supple {
namespace {

/// A channel of the file: 0 … 2 positions, 3 … 5 rotations about x, y, z.
struct FileChannel {
  Index joint;
  int axis;
  bool rotates;
};

bool read_channel_name(std::string_view word, FileChannel& channel) {
  if (word.size() < 2) return false;
  const char axis = static_cast<char>(word[0] | 0x20);
  if (axis < 'x' || axis > 'z') return false;
  channel.axis = axis - 'x';
  channel.rotates = equals_ignoring_case(word.substr(1), "rotation");
  return channel.rotates || equals_ignoring_case(word.substr(1), "position");
}

class BvhReader {
 public:
  BvhReader(std::string_view text, const std::string& name) : scanner_(text, name) {}

  Result<BvhMotion> read() {
    if (!scanner_.expect("HIERARCHY")) return scanner_.error();
    SUPPLE_RETURN_IF_ERROR(read_hierarchy());
    SUPPLE_RETURN_IF_ERROR(read_frames());
    return std::move(motion_);
  }

 private:
  /// Everything up to the word MOTION.
  Status read_hierarchy() {
    while (true) {
      const std::string_view word = scanner_.token();
      if (word == "MOTION") break;
      if (word == "ROOT" || word == "JOINT") {
        SUPPLE_RETURN_IF_ERROR(begin_joint(word == "ROOT"));
      } else if (word == "End") {
        SUPPLE_RETURN_IF_ERROR(skip_end_site());
      } else if (word == "}") {
        if (open_.empty()) return scanner_.fail("a brace closes what none opened; the file is damaged");
        open_.pop_back();
      } else if (word == "OFFSET" && !open_.empty()) {
        if (!scanner_.read_point(joint().rest.translation)) return scanner_.error();
      } else if (word == "CHANNELS" && !open_.empty()) {
        SUPPLE_RETURN_IF_ERROR(read_channels());
      } else {
        return scanner_.fail(word.empty() ? "the file ends within its hierarchy; it is cut off"
                                          : fmt::format("'{}' doesn't belong into a hierarchy; the file is damaged",
                                                        word.substr(0, 40)));
      }
    }
    if (!open_.empty()) return scanner_.fail("a joint's brace isn't closed; the file is damaged");
    if (motion_.skeleton.joints.empty()) return scanner_.fail("the hierarchy holds no joint; export it again");
    return {};
  }

  Joint& joint() { return motion_.skeleton.joints[to_size(open_.back())]; }

  Status begin_joint(bool is_root) {
    if (is_root != open_.empty())
      return scanner_.fail(is_root ? "a ROOT stands within another; the file is damaged"
                                   : "a JOINT stands outside of any ROOT; the file is damaged");
    Joint joint;
    joint.name = scanner_.rest_of_line();
    joint.parent = is_root ? -1 : open_.back();
    bool opened = false;
    if (joint.name.ends_with('{')) {  // "JOINT name {" on one line
      joint.name.pop_back();
      joint.name.erase(joint.name.find_last_not_of(" \t") + 1);
      opened = true;
    }
    if (joint.name.empty()) return scanner_.fail("a joint has no name; the file is damaged");
    if (!opened && !scanner_.expect("{")) return scanner_.error();
    open_.push_back(motion_.skeleton.size());
    motion_.skeleton.joints.push_back(std::move(joint));
    return {};
  }

  Status skip_end_site() {
    Vec3 offset;
    if (open_.empty()) return scanner_.fail("an End Site hangs on no joint; the file is damaged");
    (void)(scanner_.expect("Site") && scanner_.expect("{") && scanner_.expect("OFFSET") &&
           scanner_.read_point(offset) && scanner_.expect("}"));
    if (scanner_.failed()) return scanner_.error();
    return {};
  }

  Status read_channels() {
    std::size_t count = 0;
    if (!scanner_.read_count(count, 2)) return scanner_.error();
    if (count > 6) return scanner_.fail(fmt::format("a joint has {} channels; 6 is the most there can be", count));
    for (std::size_t k = 0; k < count; ++k) {
      FileChannel channel{open_.back(), 0, false};
      const std::string_view word = scanner_.token();
      if (!read_channel_name(word, channel))
        return scanner_.fail(
            fmt::format("'{}' is no channel we know; there are Xposition, Yposition, Zposition, "
                        "Xrotation, Yrotation and Zrotation",
                        word.substr(0, 40)));
      channels_.push_back(channel);
    }
    return {};
  }

  Status read_frames() {
    std::size_t frames = 0;
    double frame_time = 0;
    if (!scanner_.expect("Frames:")) return scanner_.error();
    if (!scanner_.read_count(frames, std::max<std::size_t>(2 * channels_.size(), 1))) return scanner_.error();
    if (!scanner_.expect("Frame") || !scanner_.expect("Time:") || !scanner_.read_finite(frame_time))
      return scanner_.error();
    if (!(frame_time > 0)) return scanner_.fail("the frame time must be positive; correct it");
    if (frames == 0) return scanner_.fail("the motion has no frames; export it again");
    motion_.frame_count = static_cast<Index>(frames);
    motion_.frame_time = frame_time;
    motion_.channel_count = static_cast<Index>(channels_.size());
    make_tracks(frames, frame_time);
    std::vector<double> values(channels_.size());
    for (std::size_t frame = 0; frame < frames; ++frame) {
      for (double& value : values) {
        if (scanner_.at_end())
          return scanner_.fail(
              fmt::format("the motion ends in frame {} of {}; the file is cut off", frame + 1, frames));
        if (!scanner_.read_finite(value)) return scanner_.error();
      }
      store_frame(values);
    }
    motion_.clip.duration = frame_time * static_cast<double>(frames - 1);
    return {};
  }

  /// One clip channel for each joint's positions and one for its rotations.
  void make_tracks(std::size_t frames, double frame_time) {
    std::vector<double> times(frames);
    for (std::size_t k = 0; k < frames; ++k) times[k] = frame_time * static_cast<double>(k);
    for (std::size_t k = 0; k < channels_.size(); ++k) {
      const FileChannel& channel = channels_[k];
      const ChannelTarget target = channel.rotates ? ChannelTarget::rotation : ChannelTarget::translation;
      const auto& tracks = motion_.clip.channels;
      const bool known = std::any_of(tracks.begin(), tracks.end(), [&](const Channel& track) {
        return track.joint == channel.joint && track.target == target;
      });
      if (known) continue;
      motion_.clip.channels.push_back(
          {channel.joint, target, Interpolation::linear, channel.rotates ? 4 : 3, times, {}});
      motion_.clip.channels.back().values.reserve(frames * (channel.rotates ? 4 : 3));
    }
    for (std::size_t t = 0; t < motion_.clip.channels.size(); ++t) {
      const Channel& track = motion_.clip.channels[t];
      for (std::size_t k = 0; k < channels_.size(); ++k) {
        if (channels_[k].joint == track.joint && channels_[k].rotates == (track.width == 4)) sources_.push_back({t, k});
      }
    }
  }

  void store_frame(const std::vector<double>& values) {
    for (std::size_t s = 0; s < sources_.size();) {
      const std::size_t t = sources_[s].track;
      Channel& track = motion_.clip.channels[t];
      Quat rotation = Quat::Identity();
      Vec3 position = motion_.skeleton.joints[to_size(track.joint)].rest.translation;
      for (; s < sources_.size() && sources_[s].track == t; ++s) {
        const FileChannel& channel = channels_[sources_[s].channel];
        const double value = values[sources_[s].channel];
        if (channel.rotates) {
          rotation = rotation * Quat(Eigen::AngleAxisd(value * std::numbers::pi / 180, Vec3::Unit(channel.axis)));
        } else {
          position[channel.axis] = value;
        }
      }
      const double* data = track.width == 4 ? rotation.coeffs().data() : position.data();
      track.values.insert(track.values.end(), data, data + track.width);
    }
  }

  struct Source {
    std::size_t track;
    std::size_t channel;
  };
  TextScanner scanner_;
  BvhMotion motion_;
  std::vector<Index> open_;  ///< joints whose brace is open
  std::vector<FileChannel> channels_;
  std::vector<Source> sources_;  ///< in order of tracks, then of channels
};

}  // namespace

Result<BvhMotion> parse_bvh(std::string_view text, const std::string& name) { return BvhReader(text, name).read(); }

Result<BvhMotion> load_bvh(const std::filesystem::path& path) {
  Result<std::string> text = read_file(path);
  SUPPLE_RETURN_IF_ERROR(text);
  Result<BvhMotion> motion = parse_bvh(*text, path.string());
  if (motion.ok()) motion->clip.name = path.stem().string();
  return motion;
}

}  // namespace supple
