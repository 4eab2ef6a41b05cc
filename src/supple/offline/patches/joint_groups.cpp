// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/patches/joint_groups.h"

#include "supple/mesh/bounds.h"
#include "supple/rig/motion/joint_roles.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>
#include <numeric>

namespace supple {
namespace {

/// Joints this near to a mirrored one, as a share of the skeleton's size, are its twin.
constexpr double twin_tolerance = 0.02;
/// The share of joints that need a twin for a plane to be one of symmetry.
constexpr double symmetric_share = 0.8;
/// What has less of the flesh is a limb, even if it branches.
constexpr double largest_limb = 0.25;
/// A joint that leads others has less of the flesh itself.
constexpr double leading_share = 0.01;
/// A joint belongs elsewhere when that is nearer than this times its distance from its parent.
constexpr double much_nearer = 0.4;
/// Only what has less of the flesh, with all below it, is looked at for that.
constexpr double small_end = 0.02;
/// A chain is cut into pieces about this many times as long as it is thick.
constexpr double piece_slenderness = 4;
constexpr int most_chain_pieces = 4;

/// Twins by one axis, and how many joints have one.
std::pair<std::vector<Index>, int> twins_across(int axis, std::span<const Vec3> places, std::span<const char> used) {
  Bounds bounds;
  for (std::size_t j = 0; j < places.size(); ++j)
    if (used[j]) bounds.add(places[j]);
  const auto nearest = [&](std::size_t j) {
    Vec3 image = places[j];
    image[axis] = 2 * bounds.center()[axis] - image[axis];
    Index best = -1;
    double least = twin_tolerance * bounds.diagonal();
    for (std::size_t k = 0; k < places.size(); ++k) {
      const double distance = (places[k] - image).norm();
      // Several joints may sit in one place; then a joint on the plane is its own twin.
      if (used[k] && (distance < least || (distance == least && k == j))) {
        least = distance;
        best = static_cast<Index>(k);
      }
    }
    return best;
  };
  std::vector<Index> twin(places.size());
  std::iota(twin.begin(), twin.end(), Index{0});
  int found = 0;
  for (std::size_t j = 0; j < places.size(); ++j) {
    if (!used[j]) continue;
    const Index k = nearest(j);
    if (k < 0) continue;
    ++found;
    if (nearest(to_size(k)) == static_cast<Index>(j)) twin[j] = k;
  }
  return {twin, found};
}

/// The skeleton with its flesh, seen from the root.
class FleshTree {
 public:
  FleshTree(const Skeleton& skeleton, const std::vector<JointRole>& roles, std::span<const double> volume,
            std::span<const Index> twin, double worthwhile, double largest)
      : twin_(twin),
        largest_(largest),
        skeleton_(skeleton),
        roles_(roles),
        below_(volume.begin(), volume.end()),
        fleshy_(volume.size(), 0),
        branches_(volume.size(), 0),
        counts_(volume.size(), 0),
        simple_(volume.size(), 1) {
    for (Index j = skeleton.size() - 1; j >= 0; --j) visit(j, volume[to_size(j)] > 0, worthwhile);
  }

  /// Joints that a limb starts with.
  std::vector<Index> limbs() const {
    std::vector<Index> found;
    std::vector<char> inside(simple_.size(), 0);  // of a limb, or below one
    for (Index j = 0; j < skeleton_.size(); ++j) {
      const int siblings = parent(j) < 0 ? roots_ : branches_[to_size(parent(j))];
      inside[to_size(j)] = parent(j) >= 0 && inside[to_size(parent(j))];
      if (!counts_[to_size(j)] || !simple_[to_size(j)] || siblings < 2 || inside[to_size(j)]) continue;
      inside[to_size(j)] = 1;
      if (const Index first = beyond_spine(j); first >= 0) found.push_back(first);
    }
    return found;
  }

 private:
  Index parent(Index j) const { return skeleton_.joints[to_size(j)].parent; }

  /// All below it have been visited.
  void visit(Index j, bool fleshy, double worthwhile) {
    if (fleshy) fleshy_[to_size(j)] += roles_[to_size(j)].part == BodyPart::head ? 2 : 1;
    counts_[to_size(j)] = below_[to_size(j)] >= worthwhile && fleshy_[to_size(j)] > 1;
    if (branches_[to_size(j)] > 1 && (below_[to_size(j)] >= largest_ || parts_sides(j))) simple_[to_size(j)] = 0;
    if (parent(j) < 0) {
      roots_ += counts_[to_size(j)];
      return;
    }
    below_[to_size(parent(j))] += below_[to_size(j)];
    fleshy_[to_size(parent(j))] += fleshy_[to_size(j)];
    branches_[to_size(parent(j))] += counts_[to_size(j)];
    if (!simple_[to_size(j)]) simple_[to_size(parent(j))] = 0;
  }

  /// Whether a left and a right branch hang on it.
  bool parts_sides(Index j) const {
    for (Index child = j + 1; child < skeleton_.size(); ++child)
      if (parent(child) == j && counts_[to_size(child)] && twin_[to_size(child)] != child &&
          parent(twin_[to_size(child)]) == j)
        return true;
    return false;
  }

  /// The first joint from here on that isn't hips or spine, along what counts; -1 if there is none.
  Index beyond_spine(Index j) const {
    while (j >= 0 && (roles_[to_size(j)].part == BodyPart::spine || roles_[to_size(j)].part == BodyPart::hips)) {
      Index next = -1;
      for (Index child = j + 1; child < skeleton_.size(); ++child)
        if (parent(child) == j && counts_[to_size(child)]) next = child;
      j = next;
    }
    return j;
  }

  std::span<const Index> twin_;
  double largest_;
  const Skeleton& skeleton_;
  const std::vector<JointRole>& roles_;
  std::vector<double> below_;  ///< flesh of the joint and all below it
  std::vector<int> fleshy_;    ///< how many of these have some; a head is enough for two
  std::vector<int> branches_;  ///< children that count
  std::vector<char> counts_;
  std::vector<char> simple_;  ///< nothing branches at or below it, or it is small
  int roots_ = 0;
};

/// For each joint the limb it belongs to, by number, or -1: the body.
std::vector<Index> spread_down(const Skeleton& skeleton, std::span<const Index> limbs) {
  std::vector<Index> group(skeleton.joints.size(), -1);
  for (Index j = 0; j < skeleton.size(); ++j) {
    const auto found = std::find(limbs.begin(), limbs.end(), j);
    const Index parent = skeleton.joints[to_size(j)].parent;
    if (found != limbs.end())
      group[to_size(j)] = static_cast<Index>(found - limbs.begin());
    else if (parent >= 0)
      group[to_size(j)] = group[to_size(parent)];
  }
  return group;
}

std::string name_of(const Skeleton& skeleton, const std::vector<JointRole>& roles, Index first,
                    std::span<const Index> joints) {
  // Animals have legs in front and behind, and roles know only two of them.
  std::string own = skeleton.joints[to_size(first)].name;
  std::transform(own.begin(), own.end(), own.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* word : {"front", "back", "hind", "fore_", "mid"})
    if (own.find(word) != own.npos) return skeleton.joints[to_size(first)].name;
  const auto side = [](const JointRole& role) { return std::string(role.side == Side::left ? "left " : "right "); };
  for (const Index j : joints) {
    const JointRole& role = roles[to_size(j)];
    if (role.part == BodyPart::head) return "head";
    if (role.part == BodyPart::upper_arm || role.part == BodyPart::forearm) return side(role) + "arm";
    if (role.part == BodyPart::thigh || role.part == BodyPart::shin) return side(role) + "leg";
  }
  return skeleton.joints[to_size(first)].name;
}

/// Small ends of the body that are much nearer to a limb than to what they hang on become part of it.
void move_to_near_limbs(const Skeleton& skeleton, std::span<const Vec3> places, std::span<const double> volume,
                        std::vector<Index>& group) {
  const std::vector<Index> before = group;
  std::vector<double> below(volume.begin(), volume.end());
  std::vector<char> ends(volume.size(), 1);  // no limb hangs on it
  for (Index j = skeleton.size() - 1; j >= 0; --j) {
    const Index parent = skeleton.joints[to_size(j)].parent;
    if (before[to_size(j)] >= 0) ends[to_size(j)] = 0;
    if (parent < 0) continue;
    below[to_size(parent)] += below[to_size(j)];
    if (!ends[to_size(j)]) ends[to_size(parent)] = 0;
  }
  const double total = std::accumulate(volume.begin(), volume.end(), 0.0);
  for (Index j = 0; j < skeleton.size(); ++j) {
    const Index parent = skeleton.joints[to_size(j)].parent;
    if (!ends[to_size(j)] || parent < 0) continue;
    group[to_size(j)] = group[to_size(parent)];
    if (volume[to_size(j)] == 0 || below[to_size(j)] > small_end * total) continue;
    double least = much_nearer * (places[to_size(j)] - places[to_size(parent)]).norm();
    for (Index k = 0; k < skeleton.size(); ++k) {
      const double distance = (places[to_size(k)] - places[to_size(j)]).norm();
      if (before[to_size(k)] < 0 || volume[to_size(k)] == 0 || distance >= least) continue;
      least = distance;
      group[to_size(j)] = before[to_size(k)];
    }
  }
}

std::vector<JointGroup> limb_groups(const Skeleton& skeleton, const std::vector<JointRole>& roles,
                                    std::span<const Vec3> places, std::span<const double> volume,
                                    std::span<const Index> limbs) {
  std::vector<Index> number = spread_down(skeleton, limbs);
  move_to_near_limbs(skeleton, places, volume, number);
  std::vector<JointGroup> groups(limbs.size() + 1);
  groups[0].name = "body";
  for (Index j = 0; j < skeleton.size(); ++j) {
    JointGroup& group = groups[to_size(number[to_size(j)] + 1)];
    group.joints.push_back(j);
    group.volume += volume[to_size(j)];
  }
  for (std::size_t k = 0; k < limbs.size(); ++k) {
    std::string name = name_of(skeleton, roles, limbs[k], groups[k + 1].joints);
    // Four-legged animals may have two left legs.
    const bool taken =
        std::any_of(groups.begin(), groups.end(), [&](const JointGroup& other) { return other.name == name; });
    groups[k + 1].name = taken ? skeleton.joints[to_size(limbs[k])].name : std::move(name);
  }
  return groups;
}

/// Where each joint lies along a chain with its root somewhere on it: the limb `backwards` counts down from there.
std::vector<double> chain_places(const Skeleton& skeleton, std::span<const Vec3> places, Index backwards) {
  const Index first[] = {backwards};
  const std::vector<Index> number = spread_down(skeleton, first);
  std::vector<double> along(places.size(), 0.0);
  for (Index j = 0; j < skeleton.size(); ++j) {
    const Index parent = skeleton.joints[to_size(j)].parent;
    if (parent < 0) continue;
    along[to_size(j)] = along[to_size(parent)] +
                        (number[to_size(j)] == 0 ? -1 : 1) * (places[to_size(j)] - places[to_size(parent)]).norm();
  }
  return along;
}

std::vector<JointGroup> chain_groups(const Skeleton& skeleton, std::span<const Vec3> places,
                                     std::span<const double> volume, Index backwards) {
  const std::vector<double> along = chain_places(skeleton, places, backwards);
  std::vector<Index> order(places.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return along[to_size(a)] < along[to_size(b)]; });
  double total = 0, low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t j = 0; j < volume.size(); ++j) {
    total += volume[j];
    if (volume[j] == 0) continue;
    low = std::min(low, along[j]);
    high = std::max(high, along[j]);
  }
  int pieces = 1;
  if (total > 0 && high > low) {
    const double length = high - low;
    const double thickness = 2 * std::sqrt(total / (std::numbers::pi * length));
    pieces = std::clamp(static_cast<int>(length / (piece_slenderness * thickness)), 1, most_chain_pieces);
  }
  std::vector<JointGroup> groups(to_size(pieces));
  double before = 0;
  for (const Index j : order) {
    const double middle = total > 0 ? (before + 0.5 * volume[to_size(j)]) / total : 0;
    JointGroup& group = groups[to_size(std::min(pieces - 1, static_cast<int>(middle * pieces)))];
    if (group.name.empty() && volume[to_size(j)] > 0) group.name = skeleton.joints[to_size(j)].name;
    group.joints.push_back(j);
    group.volume += volume[to_size(j)];
    before += volume[to_size(j)];
  }
  std::erase_if(groups, [](const JointGroup& group) { return group.volume == 0; });
  if (groups.size() <= 1) groups = limb_groups(skeleton, {}, places, volume, {});
  for (JointGroup& group : groups) std::sort(group.joints.begin(), group.joints.end());
  return groups;
}

/// The skeleton with its loose ends tied up: of the trees of joints with flesh the one with most of it stays, and the
/// root of each other hangs on its nearest joint. Keeps parents before children by giving the joints new numbers.
struct TiedSkeleton {
  Skeleton skeleton;
  std::vector<Index> original;  ///< of each of its joints
};

/// For each joint the first of its tree: one that hangs on nothing, or on a joint that leads most of the flesh and has
/// next to none itself. Those, and trees without flesh, have -1.
std::vector<Index> tree_tops(const Skeleton& skeleton, std::span<const double> volume) {
  std::vector<double> below(volume.begin(), volume.end());
  for (Index j = skeleton.size() - 1; j >= 0; --j)
    if (const Index parent = skeleton.joints[to_size(j)].parent; parent >= 0)
      below[to_size(parent)] += below[to_size(j)];
  const double total = std::accumulate(volume.begin(), volume.end(), 0.0);
  std::vector<char> leads(volume.size(), 0);
  std::vector<Index> top(volume.size(), -1);
  for (Index j = 0; j < skeleton.size(); ++j) {
    const Index parent = skeleton.joints[to_size(j)].parent;
    const bool first = parent < 0 || leads[to_size(parent)];
    leads[to_size(j)] = first && volume[to_size(j)] < leading_share * total && below[to_size(j)] > 0.5 * total;
    if (leads[to_size(j)] || below[to_size(j)] == 0) continue;
    top[to_size(j)] = first ? j : top[to_size(parent)];
  }
  return top;
}

TiedSkeleton tie_up(const Skeleton& skeleton, std::span<const Vec3> places, std::span<const double> volume) {
  const Index n = skeleton.size();
  const std::vector<Index> top = tree_tops(skeleton, volume);
  std::vector<double> tree(to_size(n), 0.0);
  for (Index j = 0; j < n; ++j)
    if (top[to_size(j)] >= 0) tree[to_size(top[to_size(j)])] += volume[to_size(j)];
  const auto main = static_cast<Index>(std::max_element(tree.begin(), tree.end()) - tree.begin());
  std::vector<Index> parent(to_size(n));
  for (Index j = 0; j < n; ++j) {
    parent[to_size(j)] = skeleton.joints[to_size(j)].parent;
    if (top[to_size(j)] != j || j == main) continue;
    Index nearest = main;
    for (Index k = 0; k < n; ++k)
      if (top[to_size(k)] == main && volume[to_size(k)] > 0 &&
          (places[to_size(k)] - places[to_size(j)]).norm() < (places[to_size(nearest)] - places[to_size(j)]).norm())
        nearest = k;
    parent[to_size(j)] = nearest;
  }
  TiedSkeleton tied;
  std::vector<Index> number(to_size(n), -1);
  while (tied.original.size() < to_size(n)) {
    for (Index j = 0; j < n; ++j) {
      if (number[to_size(j)] >= 0 || (parent[to_size(j)] >= 0 && number[to_size(parent[to_size(j)])] < 0)) continue;
      number[to_size(j)] = static_cast<Index>(tied.original.size());
      tied.original.push_back(j);
      Joint joint = skeleton.joints[to_size(j)];
      joint.parent = parent[to_size(j)] < 0 ? -1 : number[to_size(parent[to_size(j)])];
      tied.skeleton.joints.push_back(std::move(joint));
    }
  }
  return tied;
}

/// A body too small for itself goes with its largest limb, unless that has a twin that would want it as well.
void absorb_small_body(std::vector<JointGroup>& groups, double worthwhile, const std::vector<char>& paired) {
  if (groups[0].volume >= worthwhile) return;
  std::size_t largest = 0;
  for (std::size_t k = 1; k < groups.size(); ++k)
    if (!paired[k - 1] && (largest == 0 || groups[k].volume > groups[largest].volume)) largest = k;
  if (largest == 0) {
    if (groups[0].volume == 0) groups.erase(groups.begin());
    return;
  }
  groups[0].name = groups[largest].name;
  groups[0].volume += groups[largest].volume;
  groups[0].joints.insert(groups[0].joints.end(), groups[largest].joints.begin(), groups[largest].joints.end());
  std::sort(groups[0].joints.begin(), groups[0].joints.end());
  groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(largest));
}

}  // namespace

std::string mirrored_name(std::string_view name) {
  const auto letter = [&](std::size_t k) { return std::isalpha(static_cast<unsigned char>(name[k])) != 0; };
  std::string text(name);
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"left", "right"}, {"Left", "Right"}, {"LEFT", "RIGHT"}};
  for (const auto& [left, right] : words) {
    for (const auto& [from, to] : {std::pair(left, right), std::pair(right, left)})
      if (const std::size_t k = text.find(from); k != text.npos) return text.replace(k, from.size(), to);
  }
  for (std::size_t k = 0; k < text.size(); ++k) {
    const bool alone = (k == 0 || !letter(k - 1)) && (k + 1 == text.size() || !letter(k + 1));
    const std::size_t side = std::string_view("LRlr").find(text[k]);
    if (!alone || side == std::string_view::npos) continue;
    text[k] = "RLrl"[side];
    return text;
  }
  return {};
}

std::vector<Index> mirror_twins(const Skeleton& skeleton, std::span<const Vec3> places, std::span<const char> used) {
  std::vector<Index> best(places.size());
  std::iota(best.begin(), best.end(), Index{0});
  int most = static_cast<int>(symmetric_share * static_cast<double>(std::count(used.begin(), used.end(), char{1})));
  for (const int axis : {0, 2, 1}) {
    auto [twin, found] = twins_across(axis, places, used);
    if (found <= most) continue;
    most = found;
    best = std::move(twin);
  }
  for (std::size_t j = 0; j < places.size(); ++j) {
    const std::string other = mirrored_name(skeleton.joints[j].name);
    const auto named = [&](const Joint& joint) { return joint.name == other; };
    const auto found = std::find_if(skeleton.joints.begin(), skeleton.joints.end(), named);
    if (used[j] && !other.empty() && found != skeleton.joints.end() && used[to_size(found - skeleton.joints.begin())])
      best[j] = static_cast<Index>(found - skeleton.joints.begin());
  }
  return best;
}

namespace {

std::vector<JointGroup> group_tied(const Skeleton& skeleton, std::span<const Vec3> places,
                                   std::span<const double> volume, const JointGroupSettings& settings) {
  std::vector<char> used(volume.size(), 0);
  for (std::size_t j = 0; j < volume.size(); ++j) used[j] = volume[j] > 0;
  const std::vector<Index> twin = mirror_twins(skeleton, places, used);
  std::vector<double> even(volume.size());
  for (std::size_t j = 0; j < volume.size(); ++j) even[j] = 0.5 * (volume[j] + volume[to_size(twin[j])]);
  const double total = std::accumulate(volume.begin(), volume.end(), 0.0);
  const std::vector<JointRole> roles = joint_roles(skeleton);
  double worthwhile = settings.smallest_share * total;
  std::vector<Index> limbs;
  if (total > 0) limbs = FleshTree(skeleton, roles, even, twin, worthwhile * (1 - 1e-9), largest_limb * total).limbs();
  while (std::ssize(limbs) + 1 > settings.most) {
    worthwhile *= 1.2;
    limbs = FleshTree(skeleton, roles, even, twin, worthwhile * (1 - 1e-9), largest_limb * total).limbs();
  }
  // A limb's first joint may carry nothing; its flesh tells its side.
  std::vector<char> paired;
  const std::vector<Index> number = spread_down(skeleton, limbs);
  for (std::size_t k = 0; k < limbs.size(); ++k) {
    bool elsewhere = false;
    for (std::size_t j = 0; j < number.size(); ++j)
      elsewhere = elsewhere || (number[j] == static_cast<Index>(k) && number[to_size(twin[j])] != number[j]);
    paired.push_back(elsewhere);
  }
  if (limbs.size() <= 2 && std::find(paired.begin(), paired.end(), char{1}) == paired.end())
    return chain_groups(skeleton, places, volume, limbs.empty() ? -1 : limbs[0]);
  std::vector<JointGroup> groups = limb_groups(skeleton, roles, places, volume, limbs);
  absorb_small_body(groups, worthwhile, paired);
  return groups;
}

}  // namespace

std::vector<JointGroup> group_joints(const Skeleton& original, std::span<const Vec3> original_places,
                                     std::span<const double> original_volume, const JointGroupSettings& settings) {
  const TiedSkeleton tied = tie_up(original, original_places, original_volume);
  std::vector<Vec3> places;
  std::vector<double> volume;
  for (const Index j : tied.original) {
    places.push_back(original_places[to_size(j)]);
    volume.push_back(original_volume[to_size(j)]);
  }
  std::vector<JointGroup> groups = group_tied(tied.skeleton, places, volume, settings);
  for (JointGroup& group : groups) {
    for (Index& j : group.joints) j = tied.original[to_size(j)];
    std::sort(group.joints.begin(), group.joints.end());
  }
  return groups;
}

}  // namespace supple
