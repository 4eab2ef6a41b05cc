// SPDX-License-Identifier: Apache-2.0
// A researcher's five lines, and a studio tool's: modes of a beam; a character baked from file to file.
#include <supple/fem/modes.h>
#include <supple/mesh/box.h>
#include <supple/pipeline/bake_file.h>

#include <cmath>
#include <iostream>

namespace {

/// A free beam has six motions without stiffness; the seventh mode bends.
bool beam_bends() {
  const supple::TetMesh beam = supple::make_tet_box({1.0, 0.1, 0.1}, {10, 2, 2});
  const auto body = supple::ElasticBody::create(beam, supple::MaterialModel::stvk);
  if (!body.ok()) return false;
  const auto modes = supple::compute_modes(*body, {}, {.count = 3});
  return modes.ok() && modes->frequencies[0] > 1 && std::isfinite(modes->frequencies[2]);
}

bool bakes(const char* input, const char* output) {
  supple::BakeFileSettings settings;
  settings.tets = 600;
  settings.coordinates = 12;
  settings.cache = false;
  const supple::Result<supple::BakedFile> baked = supple::bake_file(input, output, settings);
  if (!baked.ok()) std::cout << baked.error().message << '\n';
  return baked.ok() && !baked->clips.empty() && baked->clips[0].peak > 0 && baked->height > 0;
}

}  // namespace

int main(int count, char** words) {
  const supple::Result<supple::BakedFile> nothing = supple::bake_file("nowhere.glb", "nothing.glb");
  if (nothing.ok() || nothing.error().kind != supple::ErrorKind::input) return 1;
  if (!beam_bends()) return 2;
  return count < 3 || bakes(words[1], words[2]) ? 0 : 3;
}
