// SPDX-License-Identifier: Apache-2.0
#include "supple/io/image/color.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple {
namespace {

// OKLab (Ottosson 2020): lightness and two opponent axes in which equal steps look equal.
Color oklab_to_linear(float lightness, float a, float b) {
  const float l = lightness + 0.3963377774f * a + 0.2158037573f * b;
  const float m = lightness - 0.1055613458f * a - 0.0638541728f * b;
  const float s = lightness - 0.0894841775f * a - 1.2914855480f * b;
  const float l3 = l * l * l, m3 = m * m * m, s3 = s * s * s;
  return {4.0767416621f * l3 - 3.3077115913f * m3 + 0.2309699292f * s3,
          -1.2684380046f * l3 + 2.6097574011f * m3 - 0.3413193965f * s3,
          -0.0041960863f * l3 - 0.7034186147f * m3 + 1.7076147010f * s3};
}

float channel_to_linear(float c) {
  c = std::clamp(c, 0.0f, 1.0f);
  return c <= 0.04045f ? c / 12.92f : std::pow((c + 0.055f) / 1.055f, 2.4f);
}

float channel_to_srgb(float c) {
  c = std::clamp(c, 0.0f, 1.0f);
  return c <= 0.0031308f ? 12.92f * c : 1.055f * std::pow(c, 1 / 2.4f) - 0.055f;
}

}  // namespace

Color to_linear(const Color& srgb) { return srgb.unaryExpr(&channel_to_linear); }
Color to_srgb(const Color& linear) { return linear.unaryExpr(&channel_to_srgb); }

Color hex_color(std::uint32_t rgb) {
  return Color(static_cast<float>(rgb >> 16 & 255), static_cast<float>(rgb >> 8 & 255), static_cast<float>(rgb & 255)) /
         255.0f;
}

Color color_map(double t) {
  const auto x = static_cast<float>(std::clamp(std::isnan(t) ? 0.0 : t, 0.0, 1.0));
  const float lightness = 0.34f + 0.57f * x;
  const float hue = (292.0f - 190.0f * x) * std::numbers::pi_v<float> / 180;
  // The sRGB gamut is narrow around cyan; chroma dips there so that no channel clips, which would show as a band.
  const float chroma = 0.082f + 0.02f * x + 0.24f * (x - 0.46f) * (x - 0.46f);
  return to_srgb(oklab_to_linear(lightness, chroma * std::cos(hue), chroma * std::sin(hue)));
}

}  // namespace supple
