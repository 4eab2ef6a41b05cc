// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/regions/joint_groups.h"

#include "supple/mesh/bounds.h"
#include "supple/rig/joint_roles.h"

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

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

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
    if (nearest(at(k)) == static_cast<Index>(j)) twin[j] = k;
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
    for (Index j = skeleton.size() - 1; j >= 0; --j) visit(j, volume[at(j)] > 0, worthwhile);
  }

  /// Joints that a limb starts with.
  std::vector<Index> limbs() const {
    std::vector<Index> found;
    std::vector<char> inside(simple_.size(), 0);  // of a limb, or below one
    for (Index j = 0; j < skeleton_.size(); ++j) {
      const int siblings = parent(j) < 0 ? roots_ : branches_[at(parent(j))];
      inside[at(j)] = parent(j) >= 0 && inside[at(parent(j))];
      if (!counts_[at(j)] || !simple_[at(j)] || siblings < 2 || inside[at(j)]) continue;
      inside[at(j)] = 1;
      if (const Index first = beyond_spine(j); first >= 0) found.push_back(first);
    }
    return found;
  }

 private:
  Index parent(Index j) const { return skeleton_.joints[at(j)].parent; }

  /// All below it have been visited.
  void visit(Index j, bool fleshy, double worthwhile) {
    if (fleshy) fleshy_[at(j)] += roles_[at(j)].part == BodyPart::head ? 2 : 1;
    counts_[at(j)] = below_[at(j)] >= worthwhile && fleshy_[at(j)] > 1;
    if (branches_[at(j)] > 1 && (below_[at(j)] >= largest_ || parts_sides(j))) simple_[at(j)] = 0;
    if (parent(j) < 0) {
      roots_ += counts_[at(j)];
      return;
    }
    below_[at(parent(j))] += below_[at(j)];
    fleshy_[at(parent(j))] += fleshy_[at(j)];
    branches_[at(parent(j))] += counts_[at(j)];
    if (!simple_[at(j)]) simple_[at(parent(j))] = 0;
  }

  /// Whether a left and a right branch hang on it.
  bool parts_sides(Index j) const {
    for (Index child = j + 1; child < skeleton_.size(); ++child)
      if (parent(child) == j && counts_[at(child)] && twin_[at(child)] != child && parent(twin_[at(child)]) == j)
        return true;
    return false;
  }

  /// The first joint from here on that isn't hips or spine, along what counts; -1 if there is none.
  Index beyond_spine(Index j) const {
    while (j >= 0 && (roles_[at(j)].part == BodyPart::spine || roles_[at(j)].part == BodyPart::hips)) {
      Index next = -1;
      for (Index child = j + 1; child < skeleton_.size(); ++child)
        if (parent(child) == j && counts_[at(child)]) next = child;
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
    const Index parent = skeleton.joints[at(j)].parent;
    if (found != limbs.end())
      group[at(j)] = static_cast<Index>(found - limbs.begin());
    else if (parent >= 0)
      group[at(j)] = group[at(parent)];
  }
  return group;
}

std::string name_of(const Skeleton& skeleton, const std::vector<JointRole>& roles, Index first,
                    std::span<const Index> joints) {
  // Animals have legs in front and behind, and roles know only two of them.
  std::string own = skeleton.joints[at(first)].name;
  std::transform(own.begin(), own.end(), own.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* word : {"front", "back", "hind", "fore_", "mid"})
    if (own.find(word) != own.npos) return skeleton.joints[at(first)].name;
  const auto side = [](const JointRole& role) { return std::string(role.side == Side::left ? "left " : "right "); };
  for (const Index j : joints) {
    const JointRole& role = roles[at(j)];
    if (role.part == BodyPart::head) return "head";
    if (role.part == BodyPart::upper_arm || role.part == BodyPart::forearm) return side(role) + "arm";
    if (role.part == BodyPart::thigh || role.part == BodyPart::shin) return side(role) + "leg";
  }
  return skeleton.joints[at(first)].name;
}

/// Small ends of the body that are much nearer to a limb than to what they hang on become part of it.
void move_to_near_limbs(const Skeleton& skeleton, std::span<const Vec3> places, std::span<const double> volume,
                        std::vector<Index>& group) {
  const std::vector<Index> before = group;
  std::vector<double> below(volume.begin(), volume.end());
  std::vector<char> ends(volume.size(), 1);  // no limb hangs on it
  for (Index j = skeleton.size() - 1; j >= 0; --j) {
    const Index parent = skeleton.joints[at(j)].parent;
    if (before[at(j)] >= 0) ends[at(j)] = 0;
    if (parent < 0) continue;
    below[at(parent)] += below[at(j)];
    if (!ends[at(j)]) ends[at(parent)] = 0;
  }
  const double total = std::accumulate(volume.begin(), volume.end(), 0.0);
  for (Index j = 0; j < skeleton.size(); ++j) {
    const Index parent = skeleton.joints[at(j)].parent;
    if (!ends[at(j)] || parent < 0) continue;
    group[at(j)] = group[at(parent)];
    if (volume[at(j)] == 0 || below[at(j)] > small_end * total) continue;
    double least = much_nearer * (places[at(j)] - places[at(parent)]).norm();
    for (Index k = 0; k < skeleton.size(); ++k) {
      const double distance = (places[at(k)] - places[at(j)]).norm();
      if (before[at(k)] < 0 || volume[at(k)] == 0 || distance >= least) continue;
      least = distance;
      group[at(j)] = before[at(k)];
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
    JointGroup& group = groups[at(number[at(j)] + 1)];
    group.joints.push_back(j);
    group.volume += volume[at(j)];
  }
  for (std::size_t k = 0; k < limbs.size(); ++k) {
    std::string name = name_of(skeleton, roles, limbs[k], groups[k + 1].joints);
    // Four-legged animals may have two left legs.
    const bool taken =
        std::any_of(groups.begin(), groups.end(), [&](const JointGroup& other) { return other.name == name; });
    groups[k + 1].name = taken ? skeleton.joints[at(limbs[k])].name : std::move(name);
  }
  return groups;
}

/// Where each joint lies along a chain with its root somewhere on it: the limb `backwards` counts down from there.
std::vector<double> chain_places(const Skeleton& skeleton, std::span<const Vec3> places, Index backwards) {
  const Index first[] = {backwards};
  const std::vector<Index> number = spread_down(skeleton, first);
  std::vector<double> along(places.size(), 0.0);
  for (Index j = 0; j < skeleton.size(); ++j) {
    const Index parent = skeleton.joints[at(j)].parent;
    if (parent < 0) continue;
    along[at(j)] = along[at(parent)] + (number[at(j)] == 0 ? -1 : 1) * (places[at(j)] - places[at(parent)]).norm();
  }
  return along;
}

std::vector<JointGroup> chain_groups(const Skeleton& skeleton, std::span<const Vec3> places,
                                     std::span<const double> volume, Index backwards) {
  const std::vector<double> along = chain_places(skeleton, places, backwards);
  std::vector<Index> order(places.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return along[at(a)] < along[at(b)]; });
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
  std::vector<JointGroup> groups(static_cast<std::size_t>(pieces));
  double before = 0;
  for (const Index j : order) {
    const double middle = total > 0 ? (before + 0.5 * volume[at(j)]) / total : 0;
    JointGroup& group = groups[static_cast<std::size_t>(std::min(pieces - 1, static_cast<int>(middle * pieces)))];
    if (group.name.empty() && volume[at(j)] > 0) group.name = skeleton.joints[at(j)].name;
    group.joints.push_back(j);
    group.volume += volume[at(j)];
    before += volume[at(j)];
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
    if (const Index parent = skeleton.joints[at(j)].parent; parent >= 0) below[at(parent)] += below[at(j)];
  const double total = std::accumulate(volume.begin(), volume.end(), 0.0);
  std::vector<char> leads(volume.size(), 0);
  std::vector<Index> top(volume.size(), -1);
  for (Index j = 0; j < skeleton.size(); ++j) {
    const Index parent = skeleton.joints[at(j)].parent;
    const bool first = parent < 0 || leads[at(parent)];
    leads[at(j)] = first && volume[at(j)] < leading_share * total && below[at(j)] > 0.5 * total;
    if (leads[at(j)] || below[at(j)] == 0) continue;
    top[at(j)] = first ? j : top[at(parent)];
  }
  return top;
}

TiedSkeleton tie_up(const Skeleton& skeleton, std::span<const Vec3> places, std::span<const double> volume) {
  const Index n = skeleton.size();
  const std::vector<Index> top = tree_tops(skeleton, volume);
  std::vector<double> tree(at(n), 0.0);
  for (Index j = 0; j < n; ++j)
    if (top[at(j)] >= 0) tree[at(top[at(j)])] += volume[at(j)];
  const auto main = static_cast<Index>(std::max_element(tree.begin(), tree.end()) - tree.begin());
  std::vector<Index> parent(at(n));
  for (Index j = 0; j < n; ++j) {
    parent[at(j)] = skeleton.joints[at(j)].parent;
    if (top[at(j)] != j || j == main) continue;
    Index nearest = main;
    for (Index k = 0; k < n; ++k)
      if (top[at(k)] == main && volume[at(k)] > 0 &&
          (places[at(k)] - places[at(j)]).norm() < (places[at(nearest)] - places[at(j)]).norm())
        nearest = k;
    parent[at(j)] = nearest;
  }
  TiedSkeleton tied;
  std::vector<Index> number(at(n), -1);
  while (tied.original.size() < at(n)) {
    for (Index j = 0; j < n; ++j) {
      if (number[at(j)] >= 0 || (parent[at(j)] >= 0 && number[at(parent[at(j)])] < 0)) continue;
      number[at(j)] = static_cast<Index>(tied.original.size());
      tied.original.push_back(j);
      Joint joint = skeleton.joints[at(j)];
      joint.parent = parent[at(j)] < 0 ? -1 : number[at(parent[at(j)])];
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
    if (used[j] && !other.empty() && found != skeleton.joints.end() &&
        used[static_cast<std::size_t>(found - skeleton.joints.begin())])
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
  for (std::size_t j = 0; j < volume.size(); ++j) even[j] = 0.5 * (volume[j] + volume[at(twin[j])]);
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
      elsewhere = elsewhere || (number[j] == static_cast<Index>(k) && number[at(twin[j])] != number[j]);
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
    places.push_back(original_places[at(j)]);
    volume.push_back(original_volume[at(j)]);
  }
  std::vector<JointGroup> groups = group_tied(tied.skeleton, places, volume, settings);
  for (JointGroup& group : groups) {
    for (Index& j : group.joints) j = tied.original[at(j)];
    std::sort(group.joints.begin(), group.joints.end());
  }
  return groups;
}

}  // namespace supple
