// SPDX-License-Identifier: Apache-2.0
#include "supple/io/motion/handle_motion.h"

#include <fmt/format.h>

#include "supple/io/file.h"
#include "supple/io/text_scanner.h"
#include "supple/rig/motion/keyframes.h"

#include <algorithm>

namespace supple {
namespace {

/// x ↦ pivot + shift + Q (x − pivot).
Affine turn_about(const Vec3& pivot, const Quat& rotation, const Vec3& shift) {
  Affine map;
  map.linear() = rotation.toRotationMatrix();
  map.translation() = pivot + shift - rotation * pivot;
  return map;
}

class HandleMotionReader {
 public:
  HandleMotionReader(std::string_view text, const std::string& name, const HandleRig& rig)
      : scanner_(text, name), rig_(rig), name_(name) {}

  Result<HandleMotion> read() {
    SUPPLE_RETURN_IF_ERROR(read_size());
    const Status read = rig_.has_bones() ? read_bones() : read_points();
    if (!read.ok()) return read.error();
    if (!scanner_.at_end()) return scanner_.fail("more numbers follow than the first line announces; save it again");
    return std::move(motion_);
  }

 private:
  Status read_size() {
    std::int64_t handles = 0;
    const auto count = static_cast<std::int64_t>(rig_.size());
    if (!scanner_.read(handles)) return scanner_.error();
    if (handles != count)
      return scanner_.fail(
          fmt::format("it moves {} handles, but the rig has {}; take the rig's own motion", handles, count));
    const bool bones = rig_.has_bones();
    if (bones && std::any_of(rig_.handles.begin(), rig_.handles.end(), [](const Handle& h) { return !h.bone; }))
      return scanner_.fail("motion of bones and points together isn't known; use either kind alone");
    const std::size_t numbers = 3 * to_size(bones ? count + 2 : 2 * count);
    if (!scanner_.read_count(frames_, 2 * numbers)) return scanner_.error();
    if (frames_ < 1) return scanner_.fail("there is no frame; save the motion again");
    return {};
  }

  bool read_rotation(Quat& rotation) {
    Vec3 degrees;
    if (!scanner_.read_point(degrees)) return false;
    rotation = euler_rotation(degrees);
    return true;
  }

  Status read_points() {
    const std::size_t count = rig_.handles.size();
    std::vector<Vec3> place(count);
    std::vector<Quat> turn(count);
    for (std::size_t h = 0; h < count; ++h)
      if (!scanner_.read_point(place[h]) || !read_rotation(turn[h])) return scanner_.error();
    for (std::size_t f = 0; f < frames_; ++f) {
      std::vector<Affine>& frame = motion_.frames.emplace_back();
      for (std::size_t h = 0; h < count; ++h) {
        Vec3 there;
        Quat rotation;
        if (!scanner_.read_point(there) || !read_rotation(rotation)) return scanner_.error();
        frame.push_back(turn_about(rig_.handles[h].head, rotation * turn[h].conjugate(), there - place[h]));
      }
    }
    return {};
  }

  Status read_bones() {
    const Result<std::vector<Index>> order = parents_first(rig_, name_);
    SUPPLE_RETURN_IF_ERROR(order);
    Vec3 rest_place;
    Quat rest_turn;
    if (!scanner_.read_point(rest_place) || !read_rotation(rest_turn)) return scanner_.error();
    std::vector<Quat> axes(rig_.handles.size());
    for (Quat& axis : axes)
      if (!read_rotation(axis)) return scanner_.error();
    for (std::size_t f = 0; f < frames_; ++f) {
      Quat whole;
      Vec3 place;
      if (!read_rotation(whole) || !scanner_.read_point(place)) return scanner_.error();
      whole = rest_turn * whole * rest_turn.conjugate();
      std::vector<Quat> own(axes.size());
      for (std::size_t h = 0; h < own.size(); ++h) {
        if (!read_rotation(own[h])) return scanner_.error();
        own[h] = axes[h] * own[h] * axes[h].conjugate();
      }
      add_frame(*order, whole, place - rest_place, own);
    }
    return {};
  }

  /// Forward kinematics; `own` is the rotation of each bone against its parent.
  void add_frame(const std::vector<Index>& order, const Quat& whole, const Vec3& shift, const std::vector<Quat>& own) {
    const auto roots =
        std::count_if(rig_.handles.begin(), rig_.handles.end(), [](const Handle& h) { return h.parent < 0; });
    const Quat turned = roots > 1 ? whole : Quat::Identity();
    std::vector<Affine>& frame = motion_.frames.emplace_back(rig_.handles.size());
    std::vector<Quat> rotation(rig_.handles.size());
    for (const Index h : order) {
      const Handle& handle = rig_.handles[to_size(h)];
      const bool first = handle.parent < 0;
      rotation[to_size(h)] = first ? own[to_size(h)] * turned : rotation[to_size(handle.parent)] * own[to_size(h)];
      const Vec3 carried = first ? shift : Vec3(frame[to_size(handle.parent)] * handle.head - handle.head);
      frame[to_size(h)] = turn_about(handle.head, rotation[to_size(h)], carried);
    }
    motion_.root.push_back(turn_about(rig_.handles[to_size(order.front())].head, turned, shift));
  }

  TextScanner scanner_;
  const HandleRig& rig_;
  const std::string& name_;
  std::size_t frames_ = 0;
  HandleMotion motion_;
};

}  // namespace

Result<HandleMotion> parse_handle_motion(std::string_view text, const std::string& name, const HandleRig& rig) {
  return HandleMotionReader(text, name, rig).read();
}

Result<HandleMotion> load_handle_motion(const std::filesystem::path& path, const HandleRig& rig) {
  const Result<std::string> text = read_file(path);
  SUPPLE_RETURN_IF_ERROR(text);
  return parse_handle_motion(*text, path.string(), rig);
}

}  // namespace supple
