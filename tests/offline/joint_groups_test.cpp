// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/patches/joint_groups.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace supple::joint_groups_test {
namespace {

/// A skeleton written down joint by joint, with the flesh on each.
struct Sketch {
  Skeleton skeleton;
  std::vector<Vec3> places;
  std::vector<double> volume;

  Index add(const std::string& name, Index parent, const Vec3& place, double flesh) {
    Joint joint;
    joint.name = name;
    joint.parent = parent;
    skeleton.joints.push_back(joint);
    places.push_back(place);
    volume.push_back(flesh);
    return skeleton.size() - 1;
  }
  /// A limb of three joints on either side.
  void add_pair(const std::string& name, Index parent, const Vec3& left, double flesh) {
    for (const auto& [side, x] : {std::pair("l", 1.0), std::pair("r", -1.0)}) {
      Index joint = parent;
      Vec3 place = left.cwiseProduct(Vec3(x, 1, 1));
      for (int k = 0; k < 3; ++k) {
        joint = add(name + std::to_string(k) + "." + side, joint, place, flesh / 3);
        place += Vec3(0.1 * x, -0.2, 0);
      }
    }
  }
  std::vector<JointGroup> group(const JointGroupSettings& settings = {}) const {
    return group_joints(skeleton, places, volume, settings);
  }
};

std::vector<std::string> names(const std::vector<JointGroup>& groups) {
  std::vector<std::string> result;
  for (const JointGroup& group : groups) result.push_back(group.name);
  std::sort(result.begin(), result.end());
  return result;
}

const JointGroup& named(const std::vector<JointGroup>& groups, const std::string& name) {
  return *std::find_if(groups.begin(), groups.end(), [&](const JointGroup& group) { return group.name == name; });
}

Sketch person() {
  Sketch s;
  const Index root = s.add("root", -1, Vec3(0, 0, 0), 0);
  const Index hips = s.add("hips", root, Vec3(0, 1, 0), 15);
  const Index spine = s.add("spine", hips, Vec3(0, 1.2, 0), 15);
  const Index chest = s.add("chest", spine, Vec3(0, 1.4, 0), 20);
  s.add("belly", spine, Vec3(0, 1.2, 0.1), 9);
  const Index head = s.add("head", chest, Vec3(0, 1.6, 0), 6);
  s.add("ear.l", head, Vec3(0.1, 1.7, 0), 0.1);
  s.add("ear.r", head, Vec3(-0.1, 1.7, 0), 0.1);
  s.add_pair("arm", chest, Vec3(0.2, 1.5, 0), 5);
  s.add_pair("leg", hips, Vec3(0.1, 0.9, 0), 12);
  return s;
}

TEST(JointGroups, APersonHasABodyAHeadAndFourLimbs) {
  const std::vector<JointGroup> groups = person().group();
  EXPECT_EQ(names(groups),
            (std::vector<std::string>{"body", "head", "left arm", "left leg", "right arm", "right leg"}));
  EXPECT_EQ(groups[0].name, "body");
  EXPECT_DOUBLE_EQ(named(groups, "body").volume, 59);  // with the belly, which is a joint by itself
  EXPECT_NEAR(named(groups, "left arm").volume, 5, 1e-12);
  EXPECT_EQ(named(groups, "head").joints.size(), 3u);
  std::size_t joints = 0;
  for (const JointGroup& group : groups) joints += group.joints.size();
  EXPECT_EQ(joints, person().skeleton.joints.size());
}

TEST(JointGroups, BothSidesOrNone) {
  Sketch s = person();
  // The right arm alone is too thin to be worthwhile; with its twin it is.
  for (std::size_t j = 0; j < s.volume.size(); ++j)
    if (s.skeleton.joints[j].name.starts_with("arm") && s.skeleton.joints[j].name.ends_with("r")) s.volume[j] = 0.3;
  EXPECT_EQ(s.group().size(), 6u);
  for (std::size_t j = 0; j < s.volume.size(); ++j)
    if (s.skeleton.joints[j].name.starts_with("arm") && s.skeleton.joints[j].name.ends_with("l")) s.volume[j] = 0.35;
  EXPECT_EQ(names(s.group()), (std::vector<std::string>{"body", "head", "left leg", "right leg"}));
  // Places do where names don't tell.
  Sketch nameless = person();
  for (std::size_t j = 0; j < nameless.skeleton.joints.size(); ++j)
    nameless.skeleton.joints[j].name = "joint" + std::to_string(j);
  const std::vector<char> used(nameless.places.size(), 1);
  const std::vector<Index> by_place = mirror_twins(nameless.skeleton, nameless.places, used);
  EXPECT_EQ(by_place, mirror_twins(person().skeleton, person().places, used));
  EXPECT_NE(by_place[6], 6);
}

TEST(JointGroups, ALooseFootGoesWithItsLeg) {
  Sketch s = person();
  for (const auto& [name, x] : {std::pair("foot.l", 1.0), std::pair("foot.r", -1.0)})
    s.add(name, 0, Vec3(0.35 * x, 0.35, 0), 0.5);
  const std::vector<JointGroup> groups = s.group();
  EXPECT_EQ(groups.size(), 6u);
  EXPECT_NEAR(named(groups, "left leg").volume, 12.5, 1e-12);
  EXPECT_NEAR(named(groups, "right leg").volume, 12.5, 1e-12);
}

TEST(JointGroups, ManyLegsAreLimited) {
  Sketch s;
  const Index body = s.add("abdomen", -1, Vec3(0, 0.5, 0), 40);
  for (int k = 0; k < 7; ++k)
    s.add_pair("leg" + std::string(1, static_cast<char>('a' + k)) + "_", body, Vec3(0.2, 0.5, 0.1 * k), 3 + 0.5 * k);
  EXPECT_EQ(s.group({0.02, 20}).size(), 15u);
  const std::vector<JointGroup> groups = s.group();
  EXPECT_EQ(groups.size(), 9u);  // four pairs: a fifth would make eleven
  EXPECT_EQ(
      std::count_if(groups.begin(), groups.end(), [](const JointGroup& g) { return g.name.starts_with("legg_"); }), 2);
}

TEST(JointGroups, ChainsAreCutByHowSlenderTheyAre) {
  // A snake of length 2 rooted in its middle: thickness 0.1 makes it twenty times as long as thick, 0.5 four times.
  for (const auto& [thickness, pieces] : {std::pair(0.1, 4u), std::pair(0.15, 3u), std::pair(0.5, 1u)}) {
    Sketch s;
    const double flesh = 3.14159 * thickness * thickness / 4 * 2.0 / 21;
    const Index middle = s.add("middle", -1, Vec3::Zero(), flesh);
    for (const double way : {1.0, -1.0}) {
      Index joint = middle;
      for (int k = 1; k <= 10; ++k)
        joint = s.add((way > 0 ? "front" : "rear") + std::to_string(k), joint, Vec3(0, 0, 0.1 * k * way), flesh);
    }
    const std::vector<JointGroup> groups = s.group();
    ASSERT_EQ(groups.size(), pieces);
    for (const JointGroup& group : groups) EXPECT_NEAR(group.volume, 21 * flesh / pieces, 1.01 * flesh);
  }
}

TEST(JointGroups, NoFleshIsOneGroup) {
  Sketch s;
  s.add("a", -1, Vec3::Zero(), 0);
  s.add("b", 0, Vec3::UnitX(), 0);
  const std::vector<JointGroup> groups = s.group();
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].name, "body");
  EXPECT_EQ(group_joints({}, {}, {}).size(), 1u);
}

TEST(JointGroups, NamesOfTheOtherSide) {
  EXPECT_EQ(mirrored_name("left arm"), "right arm");
  EXPECT_EQ(mirrored_name("mixamorig:RightUpLeg"), "mixamorig:LeftUpLeg");
  EXPECT_EQ(mirrored_name("Leg_R.002"), "Leg_L.002");
  EXPECT_EQ(mirrored_name("l-frontleg"), "r-frontleg");
  EXPECT_EQ(mirrored_name("tail"), "");
}

}  // namespace
}  // namespace supple::joint_groups_test
