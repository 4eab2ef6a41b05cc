// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/plant/plant_rig.h"

#include <fmt/format.h>

#include "supple/export/posed_meshes.h"
#include "supple/io/gltf/gltf_editor.h"
#include "supple/io/gltf/gltf_joints.h"
#include "supple/io/gltf/read_character.h"
#include "supple/rig/motion/lean_keys.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <numeric>

namespace supple {
namespace {

/// Shows the domains at any frame of the motion.
class SwayPlayer {
 public:
  static Result<SwayPlayer> create(const DomainModel& model, const PlantSway& sway) {
    Result<PreparedTree> tree = prepare_tree(model);
    SUPPLE_RETURN_IF_ERROR(tree);
    Result<DomainDynamics> dynamics =
        DomainDynamics::create(std::make_shared<const PreparedTree>(std::move(*tree)), {});
    SUPPLE_RETURN_IF_ERROR(dynamics);
    return SwayPlayer(std::move(*dynamics), sway);
  }

  void show(Index f) { dynamics_.show(sway_->q[to_size(f)], sway_->root[to_size(f)]); }
  const DomainDynamics& dynamics() const { return dynamics_; }

 private:
  SwayPlayer(DomainDynamics dynamics, const PlantSway& sway) : dynamics_(std::move(dynamics)), sway_(&sway) {}
  DomainDynamics dynamics_;
  const PlantSway* sway_;
};

/// What the joints leave of the motion, in the file's units.
class PlantFrames final : public SoftFrames {
 public:
  PlantFrames(SwayPlayer player, const RawCharacter& character, const PlantPlan& plan, const PlantSway& sway,
              double scale, std::vector<Index> vertex)
      : player_(std::move(player)),
        posed_(character, {}),
        clip_(character.clips.back()),
        plan_(plan),
        sway_(sway),
        scale_(scale),
        vertex_(std::move(vertex)),
        xyz_(3 * to_size(plan.tree.surface.vertex_count())),
        rigid_(to_size(posed_.vertex_count())) {}

  Index frame_count() const override { return static_cast<Index>(sway_.times.size()); }

  void frame(Index f, std::span<Vec3> displacement) override {
    player_.show(f);
    player_.dynamics().surface_positions(xyz_);
    posed_.pose(clip_, sway_.times[to_size(f)]);
    posed_.positions(rigid_);
    for (std::size_t v = 0; v < displacement.size(); ++v) {
      const Index shown = plan_.shown[to_size(vertex_[v])];
      displacement[v] =
          shown < 0 ? Vec3(Vec3::Zero()) : Vec3(Eigen::Map<const Vec3>(xyz_.data() + 3 * shown) / scale_ - rigid_[v]);
    }
  }

 private:
  SwayPlayer player_;
  PosedMeshes posed_;
  const Clip& clip_;
  const PlantPlan& plan_;
  const PlantSway& sway_;
  double scale_;
  std::vector<Index> vertex_;  ///< of the source's surface, for each of the character's
  std::vector<double> xyz_;
  std::vector<Vec3> rigid_;
};

class PlantRigger {
 public:
  PlantRigger(const PlantSource& source, const PlantPlan& plan, const DomainModel& model, const PlantSway& sway,
              const PlantRigSettings& settings)
      : source_(source), plan_(plan), model_(model), sway_(sway), settings_(settings) {}

  Result<std::unique_ptr<PlantRig>> run() {
    rig_ = std::make_unique<PlantRig>();
    rig_->document = source_.document;
    choose_joints();
    SUPPLE_RETURN_IF_ERROR(add_joints());
    SUPPLE_RETURN_IF_ERROR(hang_meshes());
    Result<SwayPlayer> player = SwayPlayer::create(model_, sway_);
    SUPPLE_RETURN_IF_ERROR(player);
    SUPPLE_RETURN_IF_ERROR(animate(*player));
    Result<RawCharacter> character = read_character(rig_->document, {.require_skin = false});
    SUPPLE_RETURN_IF_ERROR(character);
    rig_->character = std::move(*character);
    Result<std::vector<Index>> vertex = source_vertices();
    SUPPLE_RETURN_IF_ERROR(vertex);
    rig_->frames = std::make_unique<PlantFrames>(std::move(*player), rig_->character, plan_, sway_,
                                                 source_.recipe.scale, std::move(*vertex));
    rig_->motion.character = &rig_->character;
    rig_->motion.clips = {{static_cast<Index>(rig_->character.clips.size()) - 1, sway_.times, 1}};
    rig_->motion.frames = rig_->frames.get();
    rig_->joints = static_cast<Index>(joints_.size());
    return std::move(rig_);
  }

 private:
  /// Domains with the largest subtrees get joints; parents before their children.
  void choose_joints() {
    const std::size_t count = model_.domains.size();
    std::vector<double> below(count, 0);
    for (std::size_t d = count; d-- > 0;) {
      const Domain& domain = model_.domains[d];
      below[d] += std::pow(domain.scale, 3) * mass_moments(model_.parts[to_size(domain.part)]).volume;
      if (domain.parent >= 0) below[to_size(domain.parent)] += below[d];
    }
    std::vector<Index> order(count);
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin() + 1, order.end(),
                     [&](Index a, Index b) { return below[to_size(a)] > below[to_size(b)]; });
    order.resize(std::min(count, to_size(settings_.most_joints)));
    std::sort(order.begin(), order.end());
    joints_ = order;
    joint_of_.assign(count, 0);
    std::size_t next = 0;
    for (std::size_t d = 0; d < count; ++d) {
      if (next < joints_.size() && joints_[next] == static_cast<Index>(d))
        joint_of_[d] = static_cast<Index>(next++);
      else
        joint_of_[d] = joint_of_[to_size(model_.domains[d].parent)];
    }
  }

  Index parent_joint(std::size_t j) const {
    const Index above = model_.domains[to_size(joints_[j])].parent;
    return above < 0 ? -1 : joint_of_[to_size(above)];
  }
  /// Where a joint is at rest, in the file's units.
  Vec3 rest(std::size_t j) const { return model_.domains[to_size(joints_[j])].position / source_.recipe.scale; }

  Status add_joints() {
    for (std::size_t j = 0; j < joints_.size(); ++j) {
      const Index above = parent_joint(j);
      const Vec3 local = above < 0 ? rest(j) : Vec3(rest(j) - rest(to_size(above)));
      const Result<Index> node =
          add_node(rig_->document, fmt::format("plant_{}", j), above < 0 ? -1 : nodes_[to_size(above)], local);
      SUPPLE_RETURN_IF_ERROR(node);
      nodes_.push_back(*node);
    }
    return {};
  }

  Status hang_meshes() {
    const std::vector<Affine> world = world_matrices(source_.character.skeleton, rest_pose(source_.character.skeleton));
    Index first = 0;
    for (const CharacterMesh& mesh : source_.character.meshes) {
      const auto count = std::ssize(mesh.surface.vertices);
      std::vector<Index> joint;
      for (Index v = first; v < first + count; ++v) joint.push_back(joint_of_[to_size(plan_.domain[to_size(v)])]);
      first += static_cast<Index>(count);
      const Result<Index> node = hang_mesh(mesh, joint, world[to_size(mesh.node)]);
      SUPPLE_RETURN_IF_ERROR(node);
      mesh_nodes_.push_back(*node);
    }
    return {};
  }

  Result<Index> hang_mesh(const CharacterMesh& mesh, const std::vector<Index>& joint, const Affine& world) {
    const Index node = source_.character.file_node[to_size(mesh.node)];
    std::vector<Index> used = joint;
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    if (used.size() == 1) {
      Affine local = world;
      local.pretranslate(-rest(to_size(used[0])));
      return move_mesh(rig_->document, node, nodes_[to_size(used[0])], local);
    }
    std::vector<Index> skin_nodes;
    std::vector<Affine> inverse_bind;
    for (const Index j : used) {
      skin_nodes.push_back(nodes_[to_size(j)]);
      inverse_bind.push_back(world);
      inverse_bind.back().pretranslate(-rest(to_size(j)));
    }
    SkinWeights weights;
    weights.first.push_back(0);
    for (const Index j : joint) {
      weights.joint.push_back(static_cast<Index>(std::lower_bound(used.begin(), used.end(), j) - used.begin()));
      weights.weight.push_back(1.0);
      weights.first.push_back(static_cast<Index>(weights.joint.size()));
    }
    // A skinned mesh stands in a node of its own, because its parents don't move it.
    const Result<Index> own = own_mesh(rig_->document, node);
    SUPPLE_RETURN_IF_ERROR(own);
    SUPPLE_RETURN_IF_ERROR(add_skin(rig_->document, node, skin_nodes, inverse_bind));
    SUPPLE_RETURN_IF_ERROR(set_skin_weights(rig_->document, *own, weights, mesh.welded_vertex));
    return node;
  }

  /// The motion of each joint within its parent's.
  Status animate(SwayPlayer& player) {
    Clip clip;
    clip.name = "wind";
    for (std::size_t j = 0; j < joints_.size(); ++j) {
      clip.channels.push_back({nodes_[j], ChannelTarget::translation, Interpolation::linear, 3, sway_.times, {}});
      clip.channels.push_back({nodes_[j], ChannelTarget::rotation, Interpolation::linear, 4, sway_.times, {}});
    }
    std::vector<RigidTransform> place(joints_.size());
    std::vector<Quat> last(joints_.size(), Quat::Identity());
    for (Index f = 0; f < std::ssize(sway_.times); ++f) {
      player.show(f);
      for (std::size_t j = 0; j < joints_.size(); ++j) {
        Mat3 R;
        Vec3 c;
        player.dynamics().frame(joints_[j], R, c);
        const Mat3 turned = R * model_.domains[to_size(joints_[j])].rotation.transpose();
        place[j] = {c / source_.recipe.scale, Quat(turned).normalized()};
        const Index above = parent_joint(j);
        const RigidTransform local = above < 0 ? place[j] : place[to_size(above)].inverse() * place[j];
        Eigen::Vector4d q = local.rotation.coeffs();
        if (q.dot(last[j].coeffs()) < 0) q = -q;
        last[j].coeffs() = q;
        auto& moves = clip.channels[2 * j].values;
        auto& turns = clip.channels[2 * j + 1].values;
        moves.insert(moves.end(), local.translation.begin(), local.translation.end());
        turns.insert(turns.end(), q.begin(), q.end());
      }
    }
    const Clip lean = with_lean_keys(clip);
    const Index animation = add_animation(rig_->document, "wind");
    return add_channels(rig_->document, animation, lean.channels);
  }

  /// The vertices of the source's surface in the order of the new character's meshes.
  Result<std::vector<Index>> source_vertices() const {
    std::vector<Index> first{0};
    for (const CharacterMesh& mesh : source_.character.meshes)
      first.push_back(first.back() + static_cast<Index>(mesh.surface.vertices.size()));
    std::vector<Index> vertex;
    for (const CharacterMesh& mesh : rig_->character.meshes) {
      const Index node = rig_->character.file_node[to_size(mesh.node)];
      const auto found = std::find(mesh_nodes_.begin(), mesh_nodes_.end(), node);
      if (found == mesh_nodes_.end()) return failure("a mesh of the plant was lost on the way to its joints");
      const auto m = static_cast<std::size_t>(found - mesh_nodes_.begin());
      if (mesh.surface.vertices.size() != source_.character.meshes[m].surface.vertices.size())
        return failure("the vertices of the plant changed on the way to its joints");
      for (Index v = first[m]; v < first[m + 1]; ++v) vertex.push_back(v);
    }
    return vertex;
  }

  const PlantSource& source_;
  const PlantPlan& plan_;
  const DomainModel& model_;
  const PlantSway& sway_;
  PlantRigSettings settings_;
  std::unique_ptr<PlantRig> rig_;
  std::vector<Index> joints_;    ///< domains
  std::vector<Index> joint_of_;  ///< of each domain
  std::vector<Index> nodes_;     ///< of each joint
  std::vector<Index> mesh_nodes_;
};

}  // namespace

Result<std::unique_ptr<PlantRig>> rig_plant(const PlantSource& source, const PlantPlan& plan, const DomainModel& model,
                                            const PlantSway& sway, const PlantRigSettings& settings) {
  return PlantRigger(source, plan, model, sway, settings).run();
}

}  // namespace supple
