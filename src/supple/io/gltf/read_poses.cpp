// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/read_poses.h"

#include "supple/io/gltf/gltf_content.h"
#include "supple/rig/pose.h"

namespace supple {
namespace {

JointRotation read_rotation(const GltfJson& rotations, const std::string& joint, const Skeleton& skeleton,
                            const std::string& where) {
  JointRotation result;
  result.joint = find_joint(skeleton, joint);
  if (result.joint < 0) gltf_fault("{} turns the joint \"{}\", which doesn't exist.", where, joint);
  const std::vector<double> q = json_numbers(rotations, joint.c_str(), where, 4);
  result.rotation.coeffs() = Eigen::Vector4d(q[0], q[1], q[2], q[3]);
  if (!(result.rotation.norm() > 1e-6))
    gltf_fault("{} turns \"{}\" by four zeros, which is no rotation.", where, joint);
  result.rotation.normalize();
  return result;
}

ExamplePose read_pose(const GltfJson& json, const Skeleton& skeleton) {
  ExamplePose pose;
  pose.name = json_string(json, "name");
  if (pose.name.empty()) gltf_fault("an example pose in the extras has no name; give it one.");
  const std::string where = fmt::format("the example pose \"{}\"", pose.name);
  const auto corrected = json.find("corrected");
  pose.corrected = corrected != json.end() && corrected->is_boolean() && corrected->get<bool>();
  const GltfJson& rotations = json_object(json, "rotations", where);
  for (const auto& [joint, value] : rotations.items())
    pose.rotations.push_back(read_rotation(rotations, joint, skeleton, where));
  return pose;
}

}  // namespace

Result<std::vector<ExamplePose>> read_poses(const GltfDocument& document, const RawCharacter& character) {
  return gltf_guarded(document.name(), [&]() -> Result<std::vector<ExamplePose>> {
    std::vector<ExamplePose> poses;
    for (const GltfJson& mesh : json_array(document.content().root, "meshes")) {
      if (!mesh.is_object() || !mesh.contains("extras") || !mesh["extras"].is_object()) continue;
      const GltfJson& extras = mesh["extras"];
      // Somebody else's "poses" may be anything.
      if (!extras.contains("poses") || !extras["poses"].is_array()) continue;
      for (const GltfJson& json : extras["poses"])
        if (json.is_object()) poses.push_back(read_pose(json, character.skeleton));
    }
    return poses;
  });
}

}  // namespace supple
