// SPDX-License-Identifier: Apache-2.0
// HalfPack: eight numbers in 16 bits each (IEEE half precision: 11 bits, from 6e-5 to 65504), to be read once and from
// afar: half the memory is half the time. They are scaled into range by their maker, and widened as they are read.
#pragma once

#include "supple/math/simd/pack.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace supple {

/// The half precision number nearest to `value`, ties to even; beyond the range infinity.
inline std::uint16_t to_half(float value) {
  const std::uint32_t sign = std::bit_cast<std::uint32_t>(value) >> 16 & 0x8000u;
  const float size = std::abs(value);
  std::uint32_t bits = 0;
  if (std::isnan(value)) {
    bits = 0x7e00u;
  } else if (size >= 65520.0F) {
    bits = 0x7c00u;
  } else if (size < 0x1p-14F) {
    bits = static_cast<std::uint32_t>(std::nearbyint(size * 0x1p24F));  // in steps of 2^-24
  } else {
    int exponent = 0;
    const float fraction = std::frexp(size, &exponent);  // size = fraction · 2^exponent, fraction in [1/2, 1)
    const auto mantissa = static_cast<std::uint32_t>(std::nearbyint(fraction * 2048));  // 2048 carries
    bits = static_cast<std::uint32_t>(exponent + 13) * 1024 + mantissa;
  }
  return static_cast<std::uint16_t>(sign | bits);
}

inline float from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  float size = 0;
  if (exponent == 31)
    size = mantissa == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  else if (exponent == 0)
    size = std::ldexp(static_cast<float>(mantissa), -24);
  else
    size = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return (bits & 0x8000u) != 0 ? -size : size;
}

/// The numbers nearest to `whole` that half precision has, ties to even; beyond the range infinity. Adding and taking
/// away a number that is large enough leaves eleven bits; below 2^−14 numbers are 2^−24 apart.
inline Pack<float, 8> rounded_to_half(Pack<float, 8> whole) {
  using Lanes = Pack<float, 8>;
  const Lanes large = whole * Lanes(8193.0F), many = large - (large - whole);
  const Lanes few = (whole + Lanes(0.75F)) - Lanes(0.75F), infinite(std::numeric_limits<float>::infinity());
  const Lanes near = select(abs(whole) < Lanes(0x1p-14F), few, many);
  const Lanes within = select(whole < Lanes(65520.0F), near, infinite);
  return select(whole > Lanes(-65520.0F), within, -infinite);
}

/// Where no instruction widens them (WebAssembly), doing it takes longer than reading twice as much: the same numbers
/// are kept in single precision there.
struct HalfPack {
#ifdef __F16C__
  alignas(16) std::array<std::uint16_t, 8> bits{};

  void set(int lane, float value) { bits[to_size(lane)] = to_half(value); }
#else
  Pack<float, 8> whole = Pack<float, 8>(0.0F);

  void set(int lane, float value) { whole.set(lane, from_half(to_half(value))); }
#endif
};

inline Pack<float, 8> widened(const HalfPack& half) {
#ifdef __F16C__
  return {_mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(half.bits.data())))};
#else
  return half.whole;
#endif
}
inline HalfPack narrowed(const Pack<float, 8>& whole, HalfPack) {
#ifdef __F16C__
  HalfPack half;
  _mm_store_si128(reinterpret_cast<__m128i*>(half.bits.data()), _mm256_cvtps_ph(whole.v, _MM_FROUND_TO_NEAREST_INT));
  return half;
#else
  return {rounded_to_half(whole)};
#endif
}

// What is stored as it is.
template <class T, int W>
Pack<T, W> widened(const Pack<T, W>& whole) {
  return whole;
}
template <class T, int W>
Pack<T, W> narrowed(const Pack<T, W>& whole, Pack<T, W>) {
  return whole;
}

}  // namespace supple
