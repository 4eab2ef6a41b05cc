// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/subspace/state_archive.h"

#include <cmath>

namespace supple {
namespace {

constexpr std::string_view held_kind = "subspace-state";
constexpr std::string_view free_kind = "floating-state";

std::vector<double> column(const Eigen::Map<const MatX>& motion, Eigen::Index index) {
  return {motion.col(index).begin(), motion.col(index).end()};
}

Error other_model(const std::filesystem::path& path) {
  return input_error(path.string() + ": the state belongs to another model; save it again with this one");
}

Error other_kind(const std::filesystem::path& path, const Archive& archive) {
  if (archive.kind() == free_kind)
    return input_error(path.string() + ": the state is of a free object, but this one is held; save it again with it");
  return input_error(path.string() + ": the file holds a \"" + archive.kind() + "\", not a saved state");
}

/// Reads an array whose shape follows from the model.
Result<MatX> read(const Archive& archive, std::string_view name, Eigen::Index rows, Eigen::Index columns,
                  const std::filesystem::path& path) {
  const auto matrix = archive.matrix(name);
  SUPPLE_RETURN_IF_ERROR(matrix);
  if (matrix->rows() != rows || matrix->cols() != columns || !matrix->allFinite()) return other_model(path);
  return MatX(*matrix);
}

Result<SubspaceState<double>> decode_held(const Archive& archive, const std::filesystem::path& path, int size) {
  const auto motion = archive.matrix("motion");
  const auto time = archive.matrix("time");
  SUPPLE_RETURN_IF_ERROR(motion);
  SUPPLE_RETURN_IF_ERROR(time);
  if (motion->rows() != size || motion->cols() != 3 || !motion->allFinite() || time->size() != 1 || !time->allFinite())
    return other_model(path);
  return SubspaceState<double>{column(*motion, 0), column(*motion, 1), column(*motion, 2), (*time)(0)};
}

/// Takes a deformation and its velocity over into a frame that rests at the origin.
Status resume_without_frame(const Archive& archive, const std::filesystem::path& path, FloatingBody& body) {
  const Result<SubspaceState<double>> held = decode_held(archive, path, body.size());
  SUPPLE_RETURN_IF_ERROR(held);
  body.reset();
  FloatingState state = body.state();
  state.time = held->time;
  body.set_state(state);
  body.set_deformation(Eigen::Map<const VecX>(held->q.data(), body.size()));
  body.set_velocity({Vec3::Zero(), Vec3::Zero(), Eigen::Map<const VecX>(held->velocity.data(), body.size())});
  return {};
}

/// Reads back the four numbers of a rotation as they were written, bit by bit.
Eigen::Quaterniond quaternion(const MatX& numbers, Eigen::Index first) {
  return Eigen::Quaterniond(Eigen::Vector4d(numbers.block<4, 1>(first, 0)));
}

bool is_rotation(const Eigen::Quaterniond& q) { return std::abs(q.norm() - 1) < 1e-9; }

}  // namespace

// ---- held -----------------------------------------------------------------------------------------------------------

std::string encode_subspace_state(const SubspaceState<double>& state) {
  const auto r = static_cast<Eigen::Index>(state.q.size());
  MatX motion(r, 3);
  motion.col(0) = Eigen::Map<const VecX>(state.q.data(), r);
  motion.col(1) = Eigen::Map<const VecX>(state.velocity.data(), r);
  motion.col(2) = Eigen::Map<const VecX>(state.acceleration.data(), r);
  ArchiveWriter writer(held_kind);
  writer.add("motion", motion);
  writer.add("time", MatX::Constant(1, 1, state.time));
  return writer.bytes();
}

Result<SubspaceState<double>> load_subspace_state(const std::filesystem::path& path, int size) {
  const Result<Archive> archive = Archive::open(path);
  SUPPLE_RETURN_IF_ERROR(archive);
  if (archive->kind() != held_kind) return other_kind(path, *archive);
  return decode_held(*archive, path, size);
}

// ---- free -----------------------------------------------------------------------------------------------------------

std::string encode_floating_state(const FloatingBody& body) {
  const FloatingState& state = body.state();
  const FloatingIncrement& guess = body.increment();
  MatX frame(13, 1), next(7, 1), motion(body.size(), 2);
  frame << state.position, state.orientation.coeffs(), state.linear_momentum, state.angular_momentum;
  next << guess.translation, guess.rotation.coeffs();
  motion << state.q, state.deformation_momentum;
  ArchiveWriter writer(free_kind);
  writer.add("frame", frame);
  writer.add("motion", motion);
  writer.add("next", next);
  writer.add("next_motion", MatX(guess.q));
  writer.add("time", MatX::Constant(1, 1, state.time));
  return writer.bytes();
}

Status resume_floating_state(const std::filesystem::path& path, FloatingBody& body) {
  const Result<Archive> archive = Archive::open(path);
  SUPPLE_RETURN_IF_ERROR(archive);
  if (archive->kind() == held_kind) return resume_without_frame(*archive, path, body);
  if (archive->kind() != free_kind) return other_kind(path, *archive);
  const Result<MatX> frame = read(*archive, "frame", 13, 1, path);
  const Result<MatX> motion = read(*archive, "motion", body.size(), 2, path);
  const Result<MatX> next = read(*archive, "next", 7, 1, path);
  const Result<MatX> next_motion = read(*archive, "next_motion", body.size(), 1, path);
  const Result<MatX> time = read(*archive, "time", 1, 1, path);
  for (const Result<MatX>* part : {&frame, &motion, &next, &next_motion, &time}) SUPPLE_RETURN_IF_ERROR(*part);
  FloatingState state{frame->block<3, 1>(0, 0),
                      quaternion(*frame, 3),
                      frame->block<3, 1>(7, 0),
                      frame->block<3, 1>(10, 0),
                      motion->col(0),
                      motion->col(1),
                      (*time)(0)};
  const FloatingIncrement guess{next->block<3, 1>(0, 0), quaternion(*next, 3), next_motion->col(0)};
  if (!is_rotation(state.orientation) || !is_rotation(guess.rotation)) return other_model(path);
  body.set_state(state, guess);
  return {};
}

}  // namespace supple
