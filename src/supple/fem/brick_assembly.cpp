// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/assembly_kernels.h"

namespace supple {

template struct Assembly<8>;

}  // namespace supple
