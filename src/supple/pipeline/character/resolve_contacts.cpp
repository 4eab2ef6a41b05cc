// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/resolve_contacts.h"

#include <fmt/format.h>

#include "supple/export/posed_meshes.h"
#include "supple/math/dense/decompositions.h"
#include "supple/pipeline/character/resolve_poses.h"
#include "supple/pipeline/character/skin_depth.h"
#include "supple/rig/motion/clip_motion.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple {
namespace {

constexpr std::string_view target_prefix = "apart: ";
/// A correction's reach, as multiples of how far it is from its pose to where nothing is inside any more; the wider it
/// is, the more gently the skin gives way.
constexpr double reaches[] = {2.2, 1.4, 0.9};
constexpr int most_failures = 6;  ///< one after the other: what is left can't be pushed out of itself
constexpr double least_reach = 2 * std::numbers::pi / 180;  ///< [rad]
constexpr double least_gain = 0.97;  ///< of a moment's depth that a correction has to bring it below

/// A moment of a clip.
struct Moment {
  Index clip = 0;
  double time = 0;
  std::vector<double> p;
  double before = 0, after = 0;     ///< depth as the character shows it by itself, and with corrections
  std::vector<std::size_t> inside;  ///< welded vertices that are inside as the character shows it by itself
  bool nameless = false;            ///< a recipe couldn't name its clip
  bool hopeless = false;
};

std::vector<double> times_of(const Clip& clip, double rate) {
  const double first = std::min(first_key(clip), clip.duration), whole = clip.duration - first;
  const auto count = std::max(2, static_cast<int>(std::ceil(whole * rate - 1e-9)) + 1);
  std::vector<double> times;
  for (int k = 0; k < count; ++k) times.push_back(first + whole * k / (count - 1));
  return times;
}

/// Joints between the parts that a shape moves: whatever turns one of them turns them against each other. Empty where
/// none of them is part of the pose.
class JointsBetween {
 public:
  JointsBetween(const CharacterSource& source) : source_(source) {
    const Skeleton& skeleton = source.character.skeleton;
    const PoseLayout& layout = source.rig.rig()->layout();
    for (const Joint& joint : skeleton.joints)
      moves_.push_back(std::any_of(layout.groups.begin(), layout.groups.end(), [&](const ParameterGroup& group) {
        return group.scale > 0 && (group.name == joint.name + ".rotation" ||
                                   group.name == joint.name + ".translation" || group.name == joint.name + ".scale");
      }));
  }

  std::vector<Index> of(std::span<const Vec3> pushes) const {
    const Skeleton& skeleton = source_.character.skeleton;
    std::vector<double> share(skeleton.joints.size(), 0.0);
    count_weights(pushes, share);
    const double most = *std::max_element(share.begin(), share.end());
    std::vector<int> below(share.size(), 0);  // joints that count, in each joint's subtree
    int all = 0;
    for (std::size_t j = share.size(); j-- > 0;) {
      if (share[j] > least_share * most) ++below[j], ++all;
      if (const Index parent = skeleton.joints[j].parent; parent >= 0) below[to_size(parent)] += below[j];
    }
    std::vector<Index> joints;
    for (std::size_t j = 0; j < share.size(); ++j)
      if (below[j] > 0 && below[j] < all && moves_[j]) joints.push_back(static_cast<Index>(j));
    return joints;
  }

 private:
  static constexpr double least_share = 0.05;

  void count_weights(std::span<const Vec3> pushes, std::vector<double>& share) const {
    std::size_t v = 0;
    for (const CharacterMesh& mesh : source_.character.meshes) {
      for (std::size_t own = 0; own < mesh.surface.vertices.size(); ++own, ++v) {
        const double push = pushes[v].norm();
        if (push == 0) continue;
        if (mesh.skin < 0) {
          share[to_size(mesh.node)] += push;
          continue;
        }
        const Skin& skin = source_.character.skins[to_size(mesh.skin)];
        for (auto e = to_size(mesh.weights.first[own]); e < to_size(mesh.weights.first[own + 1]); ++e)
          share[to_size(skin.joints[to_size(mesh.weights.joint[e])])] += push * mesh.weights.weight[e];
      }
    }
  }

  const CharacterSource& source_;
  std::vector<char> moves_;
};

/// A correction in the making.
struct Candidate {
  std::size_t moment = 0;
  std::vector<Index> joints;
  PoseMetric metric;
  double reach = 0;
  std::vector<char> region;    ///< welded vertices that it is about
  std::vector<Vec3> needed;    ///< D: what its moment needs of its group, before skinning
  std::vector<double> weight;  ///< of each moment
};

/// Shapes of the same joints that meet are solved for together; others are added.
bool belong_together(const Candidate& a, const Candidate& b) {
  if (a.joints != b.joints) return false;
  for (std::size_t v = 0; v < a.region.size(); ++v)
    if (a.region[v] != 0 && b.region[v] != 0) return true;
  return false;
}

class ContactResolver {
 public:
  ContactResolver(const CharacterSource& source, const ResolveSettings& settings, Progress& progress)
      : source_(source), settings_(settings), progress_(progress), joints_(source), meshes_(source.character, {}) {}

  Result<ResolvedContacts> run() {
    progress_.stage("looking for skin inside skin");
    look();
    if (progress_.cancelled()) return failure("stopped");
    progress_.stage("resolving contacts");
    const Moment* worst = worst_moment();
    aim_ = std::max(settings_.aim * (worst ? worst->before : 0), depth_->slack());
    int failures = 0;
    while (static_cast<int>(taken_.size()) < settings_.most_poses && failures < most_failures) {
      Moment* deepest = worst_moment();
      if (deepest == nullptr || !(deepest->after > aim_)) break;
      const bool done = resolve(*deepest);
      failures = done ? 0 : failures + 1;
      if (!done)
        deepest->hopeless = true;
      else
        for (Moment& moment : moments_) moment.hopeless = moment.nameless;  // now they may be less entangled
      if (progress_.cancelled()) return failure("stopped");
    }
    return result();
  }

 private:
  void look() {
    const RawCharacter& character = source_.character;
    std::vector<Vec3> x(to_size(meshes_.vertex_count()));
    meshes_.pose_at_rest();
    meshes_.positions(x);
    depth_.emplace(character, x, touching_share * character_height(meshes_));
    std::size_t count = 0;
    for (const Clip& clip : character.clips) count += times_of(clip, settings_.rate).size();
    const double rate = settings_.rate * std::min(1.0, settings_.most_moments / static_cast<double>(count));
    CharacterPose pose = source_.rig.neutral();
    for (std::size_t c = 0; c < character.clips.size(); ++c) {
      for (const double time : times_of(character.clips[c], rate)) {
        Moment& moment = moments_.emplace_back();
        moment.clip = static_cast<Index>(c);
        moment.time = time;
        source_.rig.sample(character.clips[c], time, ClipWrap::hold, pose);
        moment.p = pose.p;
        moment.nameless = moment.hopeless = find_clip_named(character.clips[c].name) != c;
        const std::vector<double> depths = depth_->depths(shown(moment));
        for (std::size_t v = 0; v < depths.size(); ++v) {
          if (!(depths[v] > 0)) continue;
          moment.inside.push_back(v);
          moment.before = moment.after = std::max(moment.before, depths[v]);
        }
        progress_.update(static_cast<double>(moments_.size()) / static_cast<double>(count));
        if (progress_.cancelled()) return;
      }
    }
  }

  std::size_t find_clip_named(const std::string& name) const {
    std::size_t c = 0;
    while (source_.character.clips[c].name != name) ++c;
    return c;
  }

  /// Where the character's own skin and shapes have the vertices; meshes_ is posed there.
  std::vector<Vec3> shown(const Moment& moment) {
    std::vector<Vec3> x(to_size(meshes_.vertex_count()));
    meshes_.pose(source_.character.clips[to_size(moment.clip)], moment.time);
    meshes_.positions(x);
    return x;
  }

  Moment* worst_moment() {
    Moment* worst = nullptr;
    for (Moment& moment : moments_)
      if (!moment.hopeless && (worst == nullptr || moment.after > worst->after)) worst = &moment;
    return worst;
  }

  /// The same with corrections.
  std::vector<Vec3> positions(const Moment& moment, std::span<const Candidate> all,
                              const std::vector<std::vector<Vec3>>& shapes) {
    const std::size_t m = static_cast<std::size_t>(&moment - moments_.data());
    std::vector<Vec3> x = shown(moment);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const double w = all[k].weight[m];
      if (w == 0) continue;
      for (std::size_t v = 0; v < x.size(); ++v)
        if (!shapes[k][v].isZero(0)) x[v] += w * (meshes_.matrices()[v].linear() * shapes[k][v]);
    }
    return x;
  }

  /// δ of all candidates, so that those of a group add up to D at the moment of each; none where moments are too much
  /// alike.
  std::optional<std::vector<std::vector<Vec3>>> shapes_of(std::span<const Candidate> all) const {
    const auto count = std::ssize(all);
    MatX weights = MatX::Identity(count, count);
    for (Eigen::Index i = 0; i < count; ++i)
      for (Eigen::Index j = 0; j < count; ++j)
        if (i != j && belong_together(all[to_size(i)], all[to_size(j)]))
          weights(i, j) = all[to_size(j)].weight[all[to_size(i)].moment];
    const std::optional<MatX> inverse = pivoted_inverse(weights, 0.05);
    if (!inverse) return std::nullopt;
    std::vector<std::vector<Vec3>> shapes(all.size(), std::vector<Vec3>(all.front().needed.size(), Vec3::Zero()));
    for (std::size_t k = 0; k < all.size(); ++k)
      for (std::size_t i = 0; i < all.size(); ++i) {
        const double a = (*inverse)(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(i));
        if (std::abs(a) < 1e-9) continue;
        for (std::size_t v = 0; v < shapes[k].size(); ++v) shapes[k][v] += a * all[i].needed[v];
      }
    return shapes;
  }

  bool resolve(Moment& moment) {
    SkinDepth::Place place = depth_->deepest_place(positions(moment, taken_, shapes_));
    Candidate candidate;
    candidate.moment = static_cast<std::size_t>(&moment - moments_.data());
    candidate.region = std::move(place.region);
    candidate.joints = joints_.of(place.pushes);
    for (std::size_t v = 0; v < place.pushes.size(); ++v)
      candidate.needed.push_back(carried_back(meshes_.matrices()[v].linear(), place.pushes[v]));
    const std::vector<Vec3> pushes = candidate.needed;
    if (try_reaches(candidate)) return true;
    if (candidate.joints.empty()) return false;
    candidate.joints.clear();  // the whole pose tells apart what these joints don't
    candidate.needed = pushes;
    return try_reaches(candidate);
  }

  /// What its group shows at the moment of a candidate, to which its pushes are added.
  void add_to_group(Candidate& candidate) const {
    for (std::size_t k = 0; k < taken_.size(); ++k) {
      const double w = taken_[k].weight[candidate.moment];
      if (w == 0 || !belong_together(taken_[k], candidate)) continue;
      for (std::size_t v = 0; v < candidate.needed.size(); ++v) candidate.needed[v] += w * shapes_[k][v];
    }
  }

  /// Where skinning has flattened the skin no target can bring it out again.
  static Vec3 carried_back(const Mat3& B, const Vec3& u) {
    const double volume = std::abs(B.determinant()), length = B.norm();
    return volume > 1e-3 * length * length * length ? Vec3(B.inverse() * u) : Vec3(Vec3::Zero());
  }

  bool try_reaches(Candidate& candidate) {
    const Result<PoseLayout> layout = reach_layout(source_.rig, candidate.joints);
    if (!layout.ok()) return false;
    candidate.metric = PoseMetric(*layout);
    add_to_group(candidate);
    const Moment& own = moments_[candidate.moment];
    std::vector<double> distance;
    double onset = std::numeric_limits<double>::infinity(), farthest = 0;
    for (const Moment& moment : moments_) {
      distance.push_back(candidate.metric.distance(moment.p, own.p));
      farthest = std::max(farthest, distance.back());
      const bool inside = std::any_of(moment.inside.begin(), moment.inside.end(),
                                      [&](std::size_t v) { return candidate.region[v] != 0; });
      if (!inside) onset = std::min(onset, distance.back());
    }
    if (!std::isfinite(onset)) onset = std::max(farthest, 10 * least_reach);
    const std::optional<double> given = reach_of_same_pose(candidate);
    std::optional<Trial> best;
    for (const double factor : reaches) {
      candidate.reach = given.value_or(std::max(factor * onset, least_reach));
      candidate.weight.clear();
      for (const double d : distance) candidate.weight.push_back(reach_weight(d / candidate.reach));
      std::optional<Trial> trial = attempt(candidate);
      if (trial && (!best || trial->worst < best->worst)) best = std::move(trial);
      if (given || (best && best->worst <= aim_)) break;
    }
    if (!best || !(best->own < least_gain * own.after)) return false;  // in the candidate's region
    take(std::move(*best));
    return true;
  }

  /// One pose of the same joints has one reach, whatever happens in several places there.
  std::optional<double> reach_of_same_pose(const Candidate& candidate) const {
    constexpr double same = 1e-6;
    for (const Candidate& other : taken_)
      if (other.joints == candidate.joints &&
          candidate.metric.distance(moments_[other.moment].p, moments_[candidate.moment].p) < same)
        return other.reach;
    return std::nullopt;
  }

  struct Trial {
    std::vector<Candidate> all;
    std::vector<std::vector<Vec3>> shapes;
    std::vector<double> after;  ///< of each moment
    double worst = 0, own = 0;  ///< depths in its region within its reach, and at its moment
  };

  /// The depths with one more correction; nothing where a moment gets worse than without any.
  std::optional<Trial> attempt(const Candidate& candidate) {
    Trial trial;
    trial.all = taken_;
    trial.all.push_back(candidate);
    std::optional<std::vector<std::vector<Vec3>>> shapes = shapes_of(trial.all);
    if (!shapes) return std::nullopt;
    trial.shapes = std::move(*shapes);
    for (std::size_t m = 0; m < moments_.size(); ++m) {
      const Moment& moment = moments_[m];
      trial.after.push_back(moment.after);
      if (!changes(trial.all, candidate, m)) continue;
      const std::vector<double> depths = depth_->depths(positions(moment, trial.all, trial.shapes));
      double here = 0, all = 0;
      for (std::size_t v = 0; v < depths.size(); ++v) {
        all = std::max(all, depths[v]);
        if (candidate.region[v] != 0) here = std::max(here, depths[v]);
      }
      if (all > std::max(moment.before, depth_->slack()) * 1.001) return std::nullopt;
      trial.after.back() = all;
      trial.worst = std::max(trial.worst, here);
      if (m == candidate.moment) trial.own = here;
    }
    return trial;
  }

  /// Whether a moment is within reach of the candidate, or of one whose shape the candidate changes.
  bool changes(std::span<const Candidate> all, const Candidate& candidate, std::size_t m) const {
    if (candidate.weight[m] > 0) return true;
    return std::any_of(all.begin(), all.end(), [&](const Candidate& other) {
      return other.weight[m] > 0 && (other.weight[candidate.moment] > 0 || candidate.weight[other.moment] > 0);
    });
  }

  void take(Trial trial) {
    taken_ = std::move(trial.all);
    shapes_ = std::move(trial.shapes);
    for (std::size_t m = 0; m < moments_.size(); ++m) moments_[m].after = trial.after[m];
  }

  ResolvedContacts result() const {
    ResolvedContacts resolved;
    for (const Clip& clip : source_.character.clips) resolved.curves.push_back({clip.name, {}, {}, {}});
    for (const Moment& moment : moments_) {
      DepthCurve& curve = resolved.curves[to_size(moment.clip)];
      curve.times.push_back(moment.time);
      curve.before.push_back(moment.before);
      curve.after.push_back(moment.after);
    }
    for (std::size_t k = 0; k < taken_.size(); ++k) {
      const Moment& moment = moments_[taken_[k].moment];
      const std::string& clip = source_.character.clips[to_size(moment.clip)].name;
      resolved.corrections.push_back({fmt::format("{}{} {:.3f} s", target_prefix, clip, moment.time), moment.clip,
                                      moment.time, taken_[k].joints, taken_[k].reach, shapes_[k]});
    }
    return resolved;
  }

  const CharacterSource& source_;
  const ResolveSettings& settings_;
  Progress& progress_;
  JointsBetween joints_;
  PosedMeshes meshes_;
  std::optional<SkinDepth> depth_;
  std::vector<Moment> moments_;
  std::vector<Candidate> taken_;
  std::vector<std::vector<Vec3>> shapes_;
  double aim_ = 0;  ///< [m]
};

bool skins_otherwise(const Recipe& recipe) { return !recipe.wires.empty() || recipe.dual_quaternions; }

bool resolved_before(const Recipe& recipe) {
  return recipe.corrections &&
         std::any_of(recipe.corrections->begin(), recipe.corrections->end(),
                     [](const RecipeCorrection& c) { return c.target.starts_with(target_prefix); });
}

RecipeCorrection recipe_correction(const CharacterSource& source, const ContactCorrection& correction) {
  RecipeCorrection result;
  result.target = correction.target;
  result.clip = source.character.clips[to_size(correction.clip)].name;
  result.time = correction.time;
  result.reach = correction.reach * 180 / std::numbers::pi;
  for (const Index j : correction.joints) result.joints.push_back(source.character.skeleton.joints[to_size(j)].name);
  return result;
}

}  // namespace

double DepthCurve::worst_before() const { return *std::max_element(before.begin(), before.end()); }
double DepthCurve::worst_after() const { return *std::max_element(after.begin(), after.end()); }
double ResolvedContacts::worst_before() const {
  double worst = 0;
  for (const DepthCurve& curve : curves) worst = std::max(worst, curve.worst_before());
  return worst;
}
double ResolvedContacts::worst_after() const {
  double worst = 0;
  for (const DepthCurve& curve : curves) worst = std::max(worst, curve.worst_after());
  return worst;
}

Result<ResolvedContacts> resolve_contacts(const CharacterSource& source, const ResolveSettings& settings,
                                          Progress& progress) {
  if (skins_otherwise(source.recipe))
    return input_error(
        "contacts are resolved by morph targets under linear skinning, but the recipe moves the skin by wires or dual "
        "quaternions");
  if (source.character.clips.empty()) return ResolvedContacts{};
  return ContactResolver(source, settings, progress).run();
}

Result<CharacterSource> with_contacts_resolved(CharacterSource source, const ResolveSettings& settings,
                                               Progress& progress) {
  if (resolved_before(source.recipe)) return source;
  if (skins_otherwise(source.recipe)) {
    source.character.warnings.push_back(
        "[flesh] contact: skin that wires or dual quaternions put into skin isn't pushed out of it; what touches in "
        "the poses is held all the same");
    return source;
  }
  Result<ResolvedContacts> resolved = resolve_contacts(source, settings, progress);
  SUPPLE_RETURN_IF_ERROR(resolved);
  const auto contacts = std::make_shared<const ResolvedContacts>(std::move(*resolved));
  source.contacts = contacts;
  if (contacts->corrections.empty()) return source;
  std::vector<RigTarget> targets;
  Recipe recipe = source.recipe;
  if (!recipe.corrections) recipe.corrections.emplace();
  for (const ContactCorrection& correction : contacts->corrections) {
    targets.push_back({correction.target, correction.displacements});
    recipe.corrections->push_back(recipe_correction(source, correction));
  }
  Result<GltfDocument> document = with_targets(source, targets);
  SUPPLE_RETURN_IF_ERROR(document);
  Result<CharacterFile> file = read_character_file(std::move(*document));
  SUPPLE_RETURN_IF_ERROR(file);
  Result<CharacterSource> corrected = follow_recipe(std::move(*file), recipe, source.folder);
  if (corrected.ok()) corrected->contacts = contacts;
  return corrected;
}

}  // namespace supple
