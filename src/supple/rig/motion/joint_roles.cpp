// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/motion/joint_roles.h"

#include "supple/rig/motion/root_motion.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

namespace supple {
namespace {

bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Words of a name: cut at separators, digits, and capitals that begin a word ("LHipJoint" → l hip joint).
std::vector<std::string> split_words(std::string_view name) {
  if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos) name.remove_prefix(colon + 1);
  std::vector<std::string> words;
  char before = ' ';
  for (std::size_t k = 0; k < name.size(); ++k) {
    const char c = name[k];
    const bool next_is_lower = k + 1 < name.size() && is_letter(name[k + 1]) && !is_upper(name[k + 1]);
    if (is_letter(c)) {
      const bool begins = !is_letter(before) || (is_upper(c) && (!is_upper(before) || next_is_lower));
      if (begins) words.emplace_back();
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (is_digit(c)) {
      if (!is_digit(before)) words.emplace_back();
      words.back() += c;
    }
    before = c;
  }
  return words;
}

struct ParsedName {
  Side side = Side::centre;
  std::vector<std::string> words;  ///< without side and prefixes
  std::string joined;              ///< letters only
  int number = 0;                  ///< the last one in the name
};

bool take_side(std::string& word, ParsedName& parsed) {
  for (const auto& [text, side] : {std::pair("left", Side::left), std::pair("right", Side::right)}) {
    if (word.starts_with(text)) {
      parsed.side = side;
      word.erase(0, std::string_view(text).size());
      return word.empty();
    }
  }
  if (word != "l" && word != "r") return false;
  parsed.side = word == "l" ? Side::left : Side::right;
  return true;
}

ParsedName parse_name(const std::string& name) {
  static constexpr std::array<std::string_view, 9> prefixes = {"mixamorig", "bip",      "def",  "org", "joint",
                                                               "jnt",       "skeleton", "bone", "cc"};
  ParsedName parsed;
  for (std::string word : split_words(name)) {
    if (word.starts_with("mixamorig")) word.erase(0, 9);
    if (word.empty() || take_side(word, parsed)) continue;
    if (is_digit(word[0])) {
      parsed.number = word.size() < 6 ? std::stoi(word) : 0;
      continue;
    }
    if (word.size() == 1) {  // "spineA", "spineB"; "c" for the centre
      if (!parsed.words.empty() && parsed.number == 0) parsed.number = word[0] - 'a' + 1;
      continue;
    }
    if (std::find(prefixes.begin(), prefixes.end(), word) != prefixes.end()) continue;
    parsed.joined += word;
    parsed.words.push_back(std::move(word));
  }
  return parsed;
}

bool contains(std::string_view text, std::initializer_list<std::string_view> any) {
  return std::any_of(any.begin(), any.end(),
                     [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

bool has_word(const ParsedName& name, std::initializer_list<std::string_view> any) {
  return std::any_of(name.words.begin(), name.words.end(),
                     [&](const std::string& word) { return std::find(any.begin(), any.end(), word) != any.end(); });
}

std::optional<BodyPart> finger_of(const ParsedName& name) {
  if (contains(name.joined, {"thumb"})) return BodyPart::thumb;
  if (contains(name.joined, {"index"})) return BodyPart::index;
  if (contains(name.joined, {"middle"})) return BodyPart::middle;
  if (contains(name.joined, {"pinky", "little"})) return BodyPart::pinky;
  if (has_word(name, {"ring"})) return BodyPart::ring;
  return {};
}

BodyPart limb_part(std::string_view w) {
  if (contains(w, {"toe"}) || w == "ball") return BodyPart::toe;
  if (contains(w, {"foot", "ankle"})) return BodyPart::foot;
  if (contains(w, {"lowleg", "lowerleg", "loleg", "calf", "shin", "knee", "leglower", "tibia"})) return BodyPart::shin;
  if (contains(w, {"upleg", "upperleg", "thigh", "femur", "legupper"})) return BodyPart::thigh;
  if (contains(w, {"forearm", "lowerarm", "lowarm", "loarm", "elbow", "armlower"})) return BodyPart::forearm;
  if (contains(w, {"upperarm", "uparm", "humerus", "armupper"})) return BodyPart::upper_arm;
  if (w == "hand" || contains(w, {"wrist", "palm"})) return BodyPart::hand;
  if (contains(w, {"shoulder", "clavicle", "collar"})) return BodyPart::shoulder;
  return BodyPart::none;
}

BodyPart trunk_part(std::string_view w) {
  if (w == "head") return BodyPart::head;
  if (w == "neck") return BodyPart::neck;
  if (w == "hips" || w == "hip" || w == "pelvis") return BodyPart::hips;
  if (contains(w, {"spine", "chest", "torso", "abdomen", "lowerback"}) || w == "back") return BodyPart::spine;
  return BodyPart::none;
}

bool is_helper(const std::string& name, const ParsedName& parsed) {
  return name.starts_with("__") || contains(parsed.joined, {"twist", "control", "target", "pole", "slot", "helper"}) ||
         has_word(parsed, {"ik", "roll", "end", "nub", "tip"});
}

/// Builds the roles step by step; what a name says plainly comes first.
class RoleFinder {
 public:
  explicit RoleFinder(const Skeleton& skeleton) : skeleton_(skeleton), roles_(skeleton.joints.size()) {}

  std::vector<JointRole> find() {
    for (const Joint& joint : skeleton_.joints) names_.push_back(parse_name(joint.name));
    name_limbs();
    for (const Side side : {Side::left, Side::right}) {
      name_chain("leg", side, {BodyPart::thigh, BodyPart::shin, BodyPart::foot, BodyPart::toe});
      name_arm(side);
    }
    name_trunk();
    return roles_;
  }

 private:
  bool taken(const JointRole& role) const { return std::find(roles_.begin(), roles_.end(), role) != roles_.end(); }

  void give(std::size_t joint, const JointRole& role) {
    if (roles_[joint].part == BodyPart::none && !taken(role)) roles_[joint] = role;
  }

  bool usable(std::size_t joint) const { return !is_helper(skeleton_.joints[joint].name, names_[joint]); }

  void name_limbs() {
    for (std::size_t j = 0; j < names_.size(); ++j) {
      const ParsedName& name = names_[j];
      if (!usable(j) || name.side == Side::centre) continue;
      if (const auto finger = finger_of(name)) {
        const bool in_palm = has_word(name, {"in", "metacarpal"});
        if (!contains(name.joined, {"toe"})) give(j, {*finger, name.side, in_palm ? 0 : std::max(name.number, 1)});
      } else {
        give(j, {limb_part(name.joined), name.side, 0});
      }
    }
  }

  /// Joints of one side whose name says only "arm" or "leg", from the root outwards.
  std::vector<std::size_t> plain_joints(std::string_view limb, Side side) const {
    std::vector<std::size_t> joints;
    for (std::size_t j = 0; j < names_.size(); ++j) {
      if (usable(j) && names_[j].side == side && names_[j].joined == limb && roles_[j].part == BodyPart::none)
        joints.push_back(j);
    }
    return joints;  // parents come before children
  }

  void name_chain(std::string_view limb, Side side, std::span<const BodyPart> parts) {
    std::size_t next = 0;
    for (const std::size_t j : plain_joints(limb, side)) {
      while (next < parts.size() && taken({parts[next], side, 0})) ++next;
      if (next < parts.size()) give(j, {parts[next], side, 0});
    }
  }
  void name_chain(std::string_view limb, Side side, std::initializer_list<BodyPart> parts) {
    name_chain(limb, side, std::span(parts.begin(), parts.size()));
  }

  void name_arm(Side side) {
    constexpr std::array parts = {BodyPart::shoulder, BodyPart::upper_arm, BodyPart::forearm, BodyPart::hand};
    const std::size_t count = plain_joints("arm", side).size();
    name_chain("arm", side, std::span(parts).subspan(count >= 4 ? 0 : 1));
    // "shoulder, elbow, wrist" are the places of the joints, not the bones that begin there.
    const Index shoulder = find_role(roles_, {BodyPart::shoulder, side, 0});
    const JointRole upper_arm{BodyPart::upper_arm, side, 0};
    if (shoulder >= 0 && !taken(upper_arm) && taken({BodyPart::forearm, side, 0}))
      roles_[to_size(shoulder)] = upper_arm;
  }

  void name_trunk() {
    std::array<int, 2> count{};  // of spine and neck joints so far
    for (std::size_t j = 0; j < names_.size(); ++j) {
      if (!usable(j) || names_[j].side != Side::centre) continue;
      const BodyPart part = trunk_part(names_[j].joined);
      if (part == BodyPart::spine || part == BodyPart::neck) {
        give(j, {part, Side::centre, count[part == BodyPart::spine ? 0 : 1]++});
      } else {
        give(j, {part, Side::centre, 0});
      }
    }
    move_hips();
    forget_what_is_beside_the_arms();
    renumber(BodyPart::spine);
    const int necks = renumber(BodyPart::neck);
    if (taken({BodyPart::head, Side::centre, 0}) || necks < 2) return;
    const Index last = find_role(roles_, {BodyPart::neck, Side::centre, necks - 1});
    roles_[to_size(last)] = {BodyPart::head, Side::centre, 0};
  }

  /// The hips are where the legs meet, whatever that joint is called.
  void move_hips() {
    const std::array thighs = {find_role(roles_, {BodyPart::thigh, Side::left, 0}),
                               find_role(roles_, {BodyPart::thigh, Side::right, 0})};
    if (thighs[0] < 0 || thighs[1] < 0) return;
    const Index meeting = common_ancestor(skeleton_, thighs);
    const Index named = find_role(roles_, {BodyPart::hips, Side::centre, 0});
    if (meeting < 0 || meeting == named) return;
    if (named >= 0) roles_[to_size(named)] = {};
    roles_[to_size(meeting)] = {BodyPart::hips, Side::centre, 0};
  }

  /// A mesh may be called "head" or "torso" too. The trunk's joints carry the arms or are carried with them.
  void forget_what_is_beside_the_arms() {
    const std::array arms = {find_role(roles_, {BodyPart::upper_arm, Side::left, 0}),
                             find_role(roles_, {BodyPart::upper_arm, Side::right, 0})};
    if (arms[0] < 0 || arms[1] < 0) return;
    const Index chest = common_ancestor(skeleton_, arms);
    if (chest < 0) return;
    for (std::size_t j = 0; j < roles_.size(); ++j) {
      const BodyPart part = roles_[j].part;
      const auto joint = static_cast<Index>(j);
      const bool trunk = part == BodyPart::spine || part == BodyPart::neck || part == BodyPart::head;
      if (trunk && !is_ancestor(skeleton_, chest, joint) && !is_ancestor(skeleton_, joint, chest)) roles_[j] = {};
    }
  }

  int renumber(BodyPart part) {
    int number = 0;
    for (JointRole& role : roles_) {
      if (role.part == part) role.number = number++;
    }
    return number;
  }

  const Skeleton& skeleton_;
  std::vector<ParsedName> names_;
  std::vector<JointRole> roles_;
};

}  // namespace

std::vector<JointRole> joint_roles(const Skeleton& skeleton) { return RoleFinder(skeleton).find(); }

Index find_role(const std::vector<JointRole>& roles, const JointRole& role) {
  const auto found = std::find(roles.begin(), roles.end(), role);
  return found == roles.end() ? -1 : static_cast<Index>(found - roles.begin());
}

}  // namespace supple
