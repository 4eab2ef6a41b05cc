// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/domain_archive.h"

#include "support/domain_bodies.h"
#include "support/memory_archive.h"

#include <gtest/gtest.h>

namespace supple::domain_archive_test {
namespace {

DomainModel beam_with_rigid_end() {
  const TetMesh mesh = soft_beam(Vec3(0.9, 0.1, 0.12), {6, 1, 1});
  SplitSettings settings;
  settings.fixed = left_end(mesh);
  settings.size = 4;
  settings.names = {"stem", "middle", "tip"};
  TreePlan plan = split_mesh(mesh, labels_along_x(mesh, 3), settings).value();
  plan.parts.back().size = 0;
  return build_domains(plan).value().model;
}

TEST(DomainArchive, GivesBackWhatWasWritten) {
  const DomainModel model = beam_with_rigid_end();
  std::vector<double> storage;
  const Result<Archive> archive = parse_archive(encode_domain_model(model), storage);
  ASSERT_TRUE(archive.ok());
  const Result<DomainModel> read = decode_domain_model(*archive);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->part_names, model.part_names);
  EXPECT_EQ(read->surface.first, model.surface.first);
  EXPECT_EQ(read->parts.back().size(), 0);
  DomainDynamics before = dynamics_of(model, {}), after = dynamics_of(*read, {});
  for (int k = 0; k < 20; ++k) {
    before.step();
    after.step();
  }
  ASSERT_EQ(before.coordinates().size(), after.coordinates().size());
  for (std::size_t l = 0; l < before.coordinates().size(); ++l)
    EXPECT_EQ(before.coordinates()[l], after.coordinates()[l]);
}

TEST(DomainArchive, RefusesTreesThatDontFit) {
  DomainModel model = beam_with_rigid_end();
  const auto refused = [](const DomainModel& broken) {
    std::vector<double> storage;
    return !decode_domain_model(*parse_archive(encode_domain_model(broken), storage)).ok();
  };
  EXPECT_FALSE(refused(model));
  DomainModel broken = model;
  broken.domains[1].parent = 1;
  EXPECT_TRUE(refused(broken));
  broken = model;
  broken.domains[2].scale = 0;
  EXPECT_TRUE(refused(broken));
  broken = model;
  broken.domains[2].part = 7;
  EXPECT_TRUE(refused(broken));
  broken = model;
  broken.surface.vertex[0] = 100000;
  EXPECT_TRUE(refused(broken));
  broken = model;
  broken.domains[1].interface.move.conservativeResize(3, 2);
  broken.domains[1].interface.turn.conservativeResize(9, 2);
  EXPECT_TRUE(refused(broken));
}

}  // namespace
}  // namespace supple::domain_archive_test
