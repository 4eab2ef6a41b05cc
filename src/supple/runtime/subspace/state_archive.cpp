// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/subspace/state_archive.h"

namespace supple {
namespace {

constexpr std::string_view kind = "subspace-state";

std::vector<double> column(const Eigen::Map<const MatX>& motion, Eigen::Index index) {
  return {motion.col(index).begin(), motion.col(index).end()};
}

}  // namespace

std::string encode_subspace_state(const SubspaceState<double>& state) {
  const auto r = static_cast<Eigen::Index>(state.q.size());
  MatX motion(r, 3);
  motion.col(0) = Eigen::Map<const VecX>(state.q.data(), r);
  motion.col(1) = Eigen::Map<const VecX>(state.velocity.data(), r);
  motion.col(2) = Eigen::Map<const VecX>(state.acceleration.data(), r);
  ArchiveWriter writer(kind);
  writer.add("motion", motion);
  writer.add("time", MatX::Constant(1, 1, state.time));
  return writer.bytes();
}

Result<SubspaceState<double>> load_subspace_state(const std::filesystem::path& path, int size) {
  const Result<Archive> archive = Archive::open(path);
  SUPPLE_RETURN_IF_ERROR(archive);
  if (archive->kind() != kind)
    return input_error(path.string() + ": the file holds a \"" + archive->kind() + "\", not a saved state");
  const auto motion = archive->matrix("motion");
  const auto time = archive->matrix("time");
  SUPPLE_RETURN_IF_ERROR(motion);
  SUPPLE_RETURN_IF_ERROR(time);
  if (motion->rows() != size || motion->cols() != 3 || !motion->allFinite() || time->size() != 1 || !time->allFinite())
    return input_error(path.string() + ": the state belongs to another model; save it again with this one");
  return SubspaceState<double>{column(*motion, 0), column(*motion, 1), column(*motion, 2), (*time)(0)};
}

}  // namespace supple
