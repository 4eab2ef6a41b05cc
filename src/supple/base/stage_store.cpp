// SPDX-License-Identifier: Apache-2.0
#include "supple/base/stage_store.h"

namespace supple {
namespace {

class NoStore final : public StageStore {
 public:
  std::optional<std::string> find(std::string_view /*stage*/, const ContentHash& /*content*/) override { return {}; }
  void keep(std::string_view /*stage*/, const ContentHash& /*content*/, std::string_view /*bytes*/) override {}
};

}  // namespace

StageStore& StageStore::none() {
  static NoStore store;
  return store;
}

}  // namespace supple
