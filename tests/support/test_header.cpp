// SPDX-License-Identifier: Apache-2.0
// What CMake compiles the tests' precompiled header with.
