// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/corrective_names.h"

#include <fmt/format.h>

#include "supple/math/dense/decompositions.h"
#include "supple/rig/motion/joint_roles.h"
#include "supple/rig/pose.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

namespace supple {
namespace {

using Words = std::vector<std::string>;
using Bag = std::map<std::string, int>;  // words, however they are ordered

constexpr std::string_view fillers[] = {"corrective", "correctives", "correction", "corr", "fix",  "psd",
                                        "pose",       "shape",       "bend",       "bent", "flex", "deg",
                                        "degrees",    "rot",         "cs",         "at"};
constexpr std::string_view telling[] = {"corrective", "correctives", "correction", "psd"};

template <class List>
bool is_in(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Words of a name, without the namespace before a colon.
Words words_of(std::string_view name) {
  if (const std::size_t colon = name.rfind(':'); colon != name.npos) name.remove_prefix(colon + 1);
  Words words;
  bool open = false;
  for (std::size_t k = 0; k < name.size(); ++k) {
    const char c = name[k];
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      if (c == '-' && k + 1 < name.size() && is_digit(name[k + 1]) && (k == 0 || !is_digit(name[k - 1])))
        words.emplace_back("neg");
      open = false;
      continue;
    }
    const bool turn = open && ((is_lower(name[k - 1]) && is_upper(c)) || is_digit(name[k - 1]) != is_digit(c));
    if (!open || turn) words.emplace_back();
    words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    open = true;
  }
  for (std::string& word : words) {
    if (word == "left") word = "l";
    if (word == "right") word = "r";
  }
  return words;
}

Bag bag_of(const Words& words) {
  Bag bag;
  for (const std::string& word : words) ++bag[word];
  return bag;
}

/// The axis that a word names, or -1.
int axis_of(std::string_view word) {
  for (const std::string_view start : {"rotate", "rot", "r"})
    if (word.size() > 1 && word.starts_with(start)) {
      word.remove_prefix(start.size());
      break;
    }
  return word == "x" || word == "y" || word == "z" ? word[0] - 'x' : -1;
}

std::optional<double> angle_of(std::string_view word) {
  int degrees = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), degrees);
  if (fault != std::errc() || end != word.data() + word.size() || degrees < 5 || degrees > 180) return std::nullopt;
  return degrees;
}

/// What is left of `words` without those of `taken`; nothing where these aren't all among them.
std::optional<Bag> without(Bag words, const Bag& taken) {
  for (const auto& [word, count] : taken) {
    const auto found = words.find(word);
    if (found == words.end() || found->second < count) return std::nullopt;
    if ((found->second -= count) == 0) words.erase(found);
  }
  return words;
}

/// The rest of a name, without its joint: one angle, at most one axis, fillers.
std::optional<CorrectiveName> read_rest(const Bag& rest) {
  CorrectiveName name;
  int angles = 0, axes = 0, signs = 0;
  for (const auto& [word, count] : rest) {
    if (const std::optional<double> angle = angle_of(word)) {
      angles += count;
      name.degrees = *angle;
    } else if (const int axis = axis_of(word); axis >= 0) {
      axes += count;
      name.axis = axis;
    } else if (word == "neg" || word == "minus" || word == "m") {
      signs += count;
    } else if (!is_in(fillers, word)) {
      return std::nullopt;
    }
  }
  if (angles != 1 || axes > 1 || signs > 1) return std::nullopt;
  if (signs == 1) name.degrees = -name.degrees;
  return name;
}

/// What people call the place that a joint bends at.
std::map<std::string, BodyPart> bending_places() {
  return {{"elbow", BodyPart::forearm}, {"knee", BodyPart::shin},  {"shoulder", BodyPart::upper_arm},
          {"hip", BodyPart::thigh},     {"wrist", BodyPart::hand}, {"ankle", BodyPart::foot},
          {"neck", BodyPart::neck}};
}

/// Words by which each joint may be called, besides its own name.
std::vector<std::pair<Bag, Index>> other_names(const Skeleton& skeleton) {
  const std::vector<JointRole> roles = joint_roles(skeleton);
  std::vector<std::pair<Bag, Index>> names;
  for (const auto& [word, part] : bending_places()) {
    for (const Side side : {Side::centre, Side::left, Side::right}) {
      const Index joint = find_role(roles, {part, side, 0});
      if (joint < 0) continue;
      Bag bag{{word, 1}};
      if (side != Side::centre) bag[side == Side::left ? "l" : "r"] = 1;
      names.emplace_back(std::move(bag), joint);
    }
  }
  return names;
}

bool looks_like_one(const Words& words) {
  const bool told = std::any_of(words.begin(), words.end(), [](const std::string& w) { return is_in(telling, w); });
  return told && std::any_of(words.begin(), words.end(), [](const std::string& w) { return angle_of(w).has_value(); });
}

}  // namespace

std::optional<CorrectiveName> read_corrective_name(std::string_view name, const Skeleton& skeleton,
                                                   std::string& remark) {
  remark.clear();
  const Words words = words_of(name);
  const Bag all = bag_of(words);
  std::vector<CorrectiveName> found;
  const auto try_joint = [&](const Bag& joint_words, Index joint) {
    const std::optional<Bag> rest = without(all, joint_words);
    std::optional<CorrectiveName> read = rest ? read_rest(*rest) : std::nullopt;
    if (!read) return;
    read->joint = joint;
    found.push_back(*read);
  };
  for (Index j = 0; j < skeleton.size(); ++j) {
    const Words joint_words = words_of(skeleton.joints[to_size(j)].name);
    if (!joint_words.empty()) try_joint(bag_of(joint_words), j);
  }
  // A joint that bears the name itself goes before what people call the place.
  if (found.empty())
    for (const auto& [joint_words, joint] : other_names(skeleton)) try_joint(joint_words, joint);
  if (found.size() == 1) return found.front();
  if (found.size() > 1)
    remark = fmt::format(
        "the morph target \"{}\" may be a corrective of \"{}\" or of \"{}\"; say in a [[correction]] "
        "which",
        name, skeleton.joints[to_size(found[0].joint)].name, skeleton.joints[to_size(found[1].joint)].name);
  else if (looks_like_one(words))
    remark = fmt::format(
        "the morph target \"{}\" looks like a corrective, but no joint is called so; say in a "
        "[[correction]] what pose it is for",
        name);
  return std::nullopt;
}

std::optional<Vec3> usual_axis(const Skeleton& skeleton, Index joint, std::span<const Clip> clips) {
  constexpr double about_one = 0.85, to_one_side = 0.5, least = 0.05;  // shares, and [rad]
  const Quat rest = skeleton.joints[to_size(joint)].rest.rotation.conjugate();
  MatX spread = MatX::Zero(3, 3);
  Vec3 sum = Vec3::Zero();
  double lengths = 0, most = 0;
  for (const Clip& clip : clips) {
    for (const Channel& channel : clip.channels) {
      if (channel.joint != joint || channel.target != ChannelTarget::rotation) continue;
      const std::size_t stride = channel.interpolation == Interpolation::cubic ? 12 : 4;
      for (std::size_t at = stride == 12 ? 4 : 0; at + 4 <= channel.values.size(); at += stride) {
        Quat turn = rest * Quat(Eigen::Vector4d(Eigen::Map<const Eigen::Vector4d>(channel.values.data() + at)));
        if (turn.w() < 0) turn.coeffs() *= -1;
        const double sine = turn.vec().norm();
        const Vec3 turned =
            sine > 1e-12 ? Vec3(turn.vec() * (2 * std::atan2(sine, turn.w()) / sine)) : Vec3(Vec3::Zero());
        spread += turned * turned.transpose();
        sum += turned;
        lengths += turned.norm();
        most = std::max(most, turned.norm());
      }
    }
  }
  if (most < least || !(sum.norm() > to_one_side * lengths)) return std::nullopt;
  const Vec3 axis = sum.normalized();
  if (axis.dot(spread * axis) < about_one * spread.trace()) return std::nullopt;
  return axis;
}

}  // namespace supple
