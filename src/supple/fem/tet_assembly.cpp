// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/assembly_kernels.h"

namespace supple {

template struct Assembly<4>;

}  // namespace supple
