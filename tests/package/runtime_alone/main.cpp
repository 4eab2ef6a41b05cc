// SPDX-License-Identifier: Apache-2.0
#include "runtime_headers.h"
#include "supple/base/result.h"
#include "supple/base/types.h"

int main() {
  const supple::Error error = supple::failure("");
  return error.kind == supple::ErrorKind::failure && supple::Vec3::Ones().sum() == 3 ? 0 : 1;
}
