// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/sketch/sketch_recording.h"

#include <fmt/format.h>

#include "supple/io/file.h"
#include "supple/io/text_scanner.h"

namespace supple {
namespace {

constexpr std::string_view magic = "supple-sketch";
constexpr Index version = 1;

Status read_header(TextScanner& text, SketchRecording& recording, std::size_t& loads) {
  if (text.token() != magic) {
    return input_error(fmt::format("{} isn't a sketch recording: it doesn't begin with '{}'; record it again",
                                   text.file_name(), magic));
  }
  Index found = 0;
  if (!text.read(found)) return text.error();
  if (found != version) {
    return input_error(
        fmt::format("{} is a sketch recording of version {}, but only version {} is read; record it again",
                    text.file_name(), found, version));
  }
  if (!text.expect("vertices") || !text.read(recording.vertex_count)) return text.error();
  if (recording.vertex_count < 1) return text.fail("a body has at least one vertex");
  if (!text.expect("loads") || !text.read_count(loads, 6)) return text.error();
  return {};
}

Status read_load(TextScanner& text, Index vertex_count, NodalLoad& load) {
  std::size_t forces = 0;
  if (!text.expect("load") || !text.read_count(forces, 7)) return text.error();
  load.resize(forces);
  for (NodalForce& entry : load) {
    if (!text.read(entry.vertex) || !text.read_point(entry.force)) return text.error();
    if (entry.vertex < 0 || entry.vertex >= vertex_count) {
      return text.fail(fmt::format("vertex {} doesn't exist, the body has {}", entry.vertex, vertex_count));
    }
  }
  return {};
}

double body_diagonal(const ElasticBody& body) {
  const Eigen::Map<const Eigen::Matrix3Xd> points(body.rest_positions().data(), 3, body.vertex_count());
  return (points.rowwise().maxCoeff() - points.rowwise().minCoeff()).norm();
}

Status check_script(const ElasticBody& body, const Modes& modes, const ScriptedPull& script) {
  if (script.vertices.empty() || script.path.empty() || script.steps < 1) {
    return input_error("a scripted pull needs at least one vertex to grab, one corner to pull to and one step");
  }
  if (modes.shapes.rows() != body.dof_count() || modes.shapes.cols() == 0) {
    return input_error("the modes of a scripted pull don't belong to its body");
  }
  if (modes.rigid.cols() > 0) {
    return input_error("the body can move as a whole, so a static pull has no answer; fix some of its vertices");
  }
  for (const Index v : script.vertices) {
    if (v < 0 || v >= body.vertex_count()) {
      return input_error(fmt::format("the pull grabs vertex {}, but the body has {} vertices", v, body.vertex_count()));
    }
  }
  for (const PullCorner& corner : script.path) {
    if (!(corner.direction.norm() > 0) || !corner.direction.allFinite() || !std::isfinite(corner.reach)) {
      return input_error("a corner of the pull has no direction or an infinite reach");
    }
  }
  return {};
}

NodalLoad spread(const std::vector<Index>& vertices, const Vec3& force) {
  NodalLoad load;
  for (const Index v : vertices) load.push_back({v, force / static_cast<double>(vertices.size())});
  return load;
}

}  // namespace

Result<SketchRecording> load_sketch(const std::filesystem::path& path) {
  const Result<std::string> bytes = read_file(path);
  SUPPLE_RETURN_IF_ERROR(bytes);
  return parse_sketch(*bytes, path.string());
}

Result<SketchRecording> parse_sketch(std::string_view bytes, const std::string& name) {
  TextScanner text(bytes, name);
  SketchRecording recording;
  std::size_t loads = 0;
  SUPPLE_RETURN_IF_ERROR(read_header(text, recording, loads));
  recording.loads.resize(loads);
  for (NodalLoad& load : recording.loads) {
    SUPPLE_RETURN_IF_ERROR(read_load(text, recording.vertex_count, load));
  }
  if (!text.at_end()) return text.fail("there is more after the last load; the file is damaged, record it again");
  return recording;
}

Status save_sketch(const std::filesystem::path& path, const SketchRecording& recording) {
  return write_file_atomically(path, encode_sketch(recording));
}

std::string encode_sketch(const SketchRecording& recording) {
  std::string text =
      fmt::format("{} {}\nvertices {}\nloads {}\n", magic, version, recording.vertex_count, recording.loads.size());
  for (const NodalLoad& load : recording.loads) {
    text += fmt::format("load {}\n", load.size());
    for (const auto& [vertex, f] : load) text += fmt::format("{} {} {} {}\n", vertex, f[0], f[1], f[2]);
  }
  return text;
}

VecX dense_load(const NodalLoad& load, Index vertex_count) {
  VecX dense = VecX::Zero(3 * Eigen::Index{vertex_count});
  for (const auto& [vertex, force] : load) dense.segment<3>(3 * Eigen::Index{vertex}) += force;
  return dense;
}

VecX linear_response(const Modes& modes, const VecX& force) {
  return modes.shapes * ((modes.shapes.transpose() * force).array() / modes.eigenvalues.array()).matrix();
}

Result<SketchRecording> scripted_pull(const ElasticBody& body, const Modes& modes, const ScriptedPull& script) {
  SUPPLE_RETURN_IF_ERROR(check_script(body, modes, script));
  const double size = body_diagonal(body);
  SketchRecording recording{body.vertex_count(), {}};
  Vec3 from = Vec3::Zero();
  for (const PullCorner& corner : script.path) {
    const Vec3 direction = corner.direction.normalized();
    const VecX u = linear_response(modes, dense_load(spread(script.vertices, direction), body.vertex_count()));
    const double compliance =
        Eigen::Map<const Eigen::Matrix3Xd>(u.data(), 3, body.vertex_count()).colwise().norm().maxCoeff();
    if (!(compliance > 0)) return input_error("the pull grabs only vertices that are fixed; grab others");
    const Vec3 to = corner.reach * size / compliance * direction;
    for (int step = 1; step <= script.steps; ++step) {
      recording.loads.push_back(spread(script.vertices, from + (to - from) * (step / double(script.steps))));
    }
    from = to;
  }
  return recording;
}

std::vector<std::size_t> select_separated(const SketchRecording& recording, double distance) {
  std::vector<std::size_t> kept;
  VecX last = VecX::Zero(3 * Eigen::Index{recording.vertex_count});
  for (std::size_t k = 0; k < recording.loads.size(); ++k) {
    VecX load = dense_load(recording.loads[k], recording.vertex_count);
    if (load.isZero(0) || (load - last).norm() < distance) continue;
    kept.push_back(k);
    last = std::move(load);
  }
  return kept;
}

}  // namespace supple
