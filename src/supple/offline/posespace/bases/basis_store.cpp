// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/bases/basis_store.h"

#include "supple/offline/stage_archives.h"

#include <Eigen/SparseCore>

namespace supple {
namespace {

/// All but the basis.
void add(ContentHash& content, const PoseBasis& pose) {
  content.add(pose.p).add(pose.positions).add(pose.turns);
  add_content(content, pose.materials);
}

void add(ContentHash& content, const SparseConstraints& constraints) {
  content.add(constraints.rows());
  for (Eigen::Index row = 0; row < constraints.outerSize(); ++row)
    for (SparseConstraints::InnerIterator entry(constraints, row); entry; ++entry)
      content.add(entry.row()).add(entry.col()).add(entry.value());
}

}  // namespace

std::optional<ContentHash> content_of(const PoseBasesInput& input) {
  ContentHash content;
  if (!add_content(content, input.rest)) return {};
  add_content(content, input.mesh);
  content.add(input.body.material()).add(input.fixed).add(input.height);
  content.add(input.motion.accelerations).add(input.exact_strain);
  content.add(input.most_acceleration).add(input.exaggeration);
  for (const MotionRun& run : input.motion.runs) {
    content.add(run.clip).add(run.length()).add(run.finer).add(run.every);
    for (const auto& p : run.poses) content.add(p);
    for (const RigidTransform& place : run.placements) {
      for (const double x : place.translation) content.add(x);
      for (const double x : place.rotation.coeffs()) content.add(x);
    }
  }
  if (input.skin != nullptr) content.add(input.skin->vertices).add(input.skin->weights);
  const Index poses = input.weights != nullptr ? input.weights->pose_count() : 0;
  content.add(poses);
  for (Index i = 0; i < poses; ++i) content.add(input.weights->pose(i));
  return content;
}

Result<PatchBasis> find_or_make_basis(const PoseBasesInput& input, const PoseBasis& pose, std::size_t number,
                                      std::size_t patch, int size, const std::function<Result<PatchBasis>()>& make) {
  ContentHash content = input.content;
  content.add(number).add(patch).add(size);
  add(content, pose);
  // All of them: a patch's part of the body's motion is what the others leave.
  if (input.patches.size() > 1)
    for (const Patch& each : input.patches) content.add(MatX(each.weights));
  if (number < input.contacts.size()) add(content, input.contacts[number]);
  const auto encode = [](const PatchBasis& made) {
    const MatX matrices[] = {made.basis, made.frequencies};
    return encode_stage(std::span<const MatX>(matrices));
  };
  const auto decode = [](const std::string& bytes) -> Result<PatchBasis> {
    const Result<std::vector<MatX>> matrices = decode_matrices(bytes);
    SUPPLE_RETURN_IF_ERROR(matrices);
    if (matrices->size() != 2 || (*matrices)[1].cols() != 1) return input_error("the cache holds something else");
    return PatchBasis{(*matrices)[0], (*matrices)[1]};
  };
  return find_or_make(*input.store, "basis", content, make, encode, decode);
}

Result<PoseCubature> find_or_make_cubature(StageStore& store, const ContentHash& content, const TrainingInput& input,
                                           const TrainingSettings& settings, Progress& progress) {
  ContentHash all = content;
  for (const PoseBasis& pose : input.poses) {
    add(all, pose);
    all.add(pose.basis).add(pose.gradient_sources);
  }
  for (const MatX& stiffness : input.stiffness) all.add(stiffness);
  for (const auto& p : input.known_poses) all.add(p);
  all.add(input.directions).add(input.free).add(input.frames != nullptr);
  all.add(settings.tolerance)
      .add(settings.pose_tolerance)
      .add(settings.posed_tolerance)
      .add(settings.elements)
      .add(settings.vertices)
      .add(settings.seed);
  const auto make = [&]() -> Result<PoseCubature> {
    PoseCubature made = train_cubature(input, settings, progress);
    if (progress.cancelled()) return failure("cancelled");
    return made;
  };
  return find_or_make(
      store, "cubature", all, make, [](const PoseCubature& made) { return encode_stage(made); }, decode_cubature);
}

}  // namespace supple
