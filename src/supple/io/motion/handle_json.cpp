// SPDX-License-Identifier: Apache-2.0
#include "supple/io/motion/handle_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace supple {
namespace {

using HandleJson = nlohmann::json;

/// Fails with the file's name: "rig.json: W must be …".
class JsonFields {
 public:
  JsonFields(std::string_view text, const std::string& name)
      : json_(HandleJson::parse(text.begin(), text.end(), nullptr, false)), name_(name) {}

  Error fail(std::string_view what) const { return input_error(fmt::format("{}: {}.", name_, what)); }
  bool is_object() const { return json_.is_object(); }
  bool has(const char* key) const { return json_.is_object() && json_.contains(key); }

  /// The list of that name, or an empty one.
  const HandleJson& list(const char* key) const {
    static const HandleJson nothing = HandleJson::array();
    const auto found = json_.is_object() ? json_.find(key) : json_.end();
    return json_.is_object() && found != json_.end() && found->is_array() ? *found : nothing;
  }
  std::string text(const char* key) const {
    return has(key) && json_[key].is_string() ? json_[key].get<std::string>() : std::string();
  }
  double number(const char* key) const { return has(key) && json_[key].is_number() ? json_[key].get<double>() : 0.0; }

 private:
  HandleJson json_;
  const std::string& name_;
};

bool read_number(const HandleJson& json, double& value) {
  if (!json.is_number()) return false;
  value = json.get<double>();
  return std::isfinite(value);
}

bool read_place(const HandleJson& json, Vec3& place) {
  if (!json.is_array() || json.size() != 3) return false;
  for (std::size_t k = 0; k < 3; ++k)
    if (!read_number(json[k], place[static_cast<Eigen::Index>(k)])) return false;
  return true;
}

/// Three rows of four numbers, that turn no volume inside out.
bool read_frame(const HandleJson& json, Affine& frame) {
  if (!json.is_array() || json.size() != 3) return false;
  for (std::size_t r = 0; r < 3; ++r) {
    if (!json[r].is_array() || json[r].size() != 4) return false;
    for (std::size_t c = 0; c < 4; ++c)
      if (!read_number(json[r][c], frame(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)))) return false;
  }
  const double volume = frame.linear().determinant();
  return std::isfinite(volume) && volume > 0 && std::isfinite(1 / volume);
}

Status read_bones(const JsonFields& fields, HandleRig& rig) {
  const HandleJson &parents = fields.list("pI"), &frames = fields.list("p0"), &lengths = fields.list("lengths");
  if (frames.empty() || parents.size() != frames.size() || (!lengths.empty() && lengths.size() != frames.size()))
    return fields.fail("\"p0\", \"pI\" and \"lengths\" must be lists of one entry for each bone");
  const auto count = static_cast<std::int64_t>(frames.size());
  for (std::size_t b = 0; b < frames.size(); ++b) {
    Handle& handle = rig.handles.emplace_back();
    handle.name = handle_name(b);
    handle.bone = true;
    if (!read_frame(frames[b], handle.rest))
      return fields.fail(fmt::format("\"p0\" of bone {} must be three rows of four numbers, which mirror nothing", b));
    const std::int64_t parent = parents[b].is_number_integer() ? parents[b].get<std::int64_t>() : count;
    if (parent < -1 || parent >= count)
      return fields.fail(fmt::format("\"pI\" of bone {} must be -1 or the number of another bone", b));
    handle.parent = static_cast<Index>(parent);
    double length = 1;
    if (!lengths.empty() && (!read_number(lengths[b], length) || length < 0))
      return fields.fail(fmt::format("the length of bone {} must be a number that isn't negative", b));
    handle.head = handle.rest.translation();
    handle.tail = handle.rest * Vec3(0, length, 0);
    if (!handle.tail.allFinite()) return fields.fail(fmt::format("bone {} has no end", b));
  }
  return {};
}

Status read_surface(const JsonFields& fields, Surface& surface) {
  for (const HandleJson& place : fields.list("V"))
    if (!read_place(place, surface.vertices.emplace_back()))
      return fields.fail("\"V\" must be a list of places, three finite numbers each");
  const auto count = static_cast<std::int64_t>(surface.vertices.size());
  for (const HandleJson& corners : fields.list("F")) {
    Triangle& triangle = surface.triangles.emplace_back();
    bool good = corners.is_array() && corners.size() == 3;
    for (std::size_t k = 0; good && k < 3; ++k) {
      const std::int64_t v = corners[k].is_number_integer() ? corners[k].get<std::int64_t>() : -1;
      good = v >= 0 && v < count;
      if (good) triangle[k] = static_cast<Index>(v);
    }
    if (!good) return fields.fail("\"F\" must be a list of triangles, three numbers of places in \"V\" each");
  }
  if (surface.triangles.empty()) return fields.fail("\"V\" and \"F\", the surface of the weights, are missing");
  return {};
}

Status read_weights(const JsonFields& fields, JsonRig& rig) {
  const HandleJson& rows = fields.list("W");
  if (rows.size() != rig.surface.vertices.size())
    return fields.fail(
        fmt::format("\"W\" has {} rows for {} places in \"V\"", rows.size(), rig.surface.vertices.size()));
  rig.weights.resize(static_cast<Eigen::Index>(rows.size()), rig.rig.size());
  for (std::size_t v = 0; v < rows.size(); ++v) {
    if (!rows[v].is_array() || rows[v].size() != rig.rig.handles.size())
      return fields.fail(fmt::format("row {} of \"W\" must have a weight for each of {} bones", v, rig.rig.size()));
    for (std::size_t b = 0; b < rows[v].size(); ++b)
      if (!read_number(rows[v][b], rig.weights(static_cast<Eigen::Index>(v), static_cast<Eigen::Index>(b))))
        return fields.fail(fmt::format("row {} of \"W\" must hold finite numbers", v));
  }
  return {};
}

Result<JsonRig> read_rig(const JsonFields& fields, const std::string& name) {
  JsonRig rig;
  SUPPLE_RETURN_IF_ERROR(read_bones(fields, rig.rig));
  const Result<std::vector<Index>> order = parents_first(rig.rig, name);
  SUPPLE_RETURN_IF_ERROR(order);
  SUPPLE_RETURN_IF_ERROR(read_surface(fields, rig.surface));
  SUPPLE_RETURN_IF_ERROR(read_weights(fields, rig));
  return rig;
}

}  // namespace

Result<std::variant<JsonRig, HandleExample>> parse_handle_json(std::string_view text, const std::string& name) {
  using Either = std::variant<JsonRig, HandleExample>;
  const JsonFields fields(text, name);
  if (fields.has("handle_file")) {
    HandleExample example{fields.text("mesh_file"), fields.text("handle_file"), fields.text("weight_file"),
                          fields.text("anim_file"), fields.number("dt")};
    if (example.handles.empty()) return fields.fail("\"handle_file\" must name a file");
    if (!(example.frame_time >= 0 && example.frame_time < 1e3)) return fields.fail("\"dt\" must be some seconds");
    return Either(std::move(example));
  }
  if (!fields.has("p0"))
    return fields.fail(fields.is_object()
                           ? "it is no rig: there is neither \"p0\", bones, nor \"handle_file\", their file"
                           : "it isn't JSON");
  Result<JsonRig> rig = read_rig(fields, name);
  SUPPLE_RETURN_IF_ERROR(rig);
  return Either(std::move(*rig));
}

Result<HandleMotion> parse_handle_frames(std::string_view text, const std::string& name, const HandleRig& rig) {
  const JsonFields fields(text, name);
  const HandleJson& frames = fields.list("P");
  if (frames.empty()) return fields.fail("there is no motion in it: \"P\" must be a list of frames");
  HandleMotion motion;
  for (std::size_t f = 0; f < frames.size(); ++f) {
    if (!frames[f].is_array() || frames[f].size() != rig.handles.size())
      return fields.fail(fmt::format("frame {} must have a matrix for each of the rig's {} bones", f, rig.size()));
    std::vector<Affine>& maps = motion.frames.emplace_back();
    for (std::size_t h = 0; h < rig.handles.size(); ++h) {
      Affine place;
      if (!read_frame(frames[f][h], place))
        return fields.fail(
            fmt::format("bone {} in frame {} must be three rows of four numbers, which mirror nothing", h, f));
      maps.push_back(place * rig.handles[h].rest.inverse());
    }
  }
  return motion;
}

}  // namespace supple
