// SPDX-License-Identifier: Apache-2.0
// The shaders of surface_renderer.cpp. Positions are relative to the camera's target, so that single precision is
// enough wherever the character stands.
#pragma once

namespace supple::shaders {

inline constexpr const char* body_vertex = R"(#version 330 core
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 color;
layout(location = 3) in vec2 texcoord;
uniform mat4 view_projection;
out vec3 at, outward, albedo;
out vec2 uv;
void main() {
  at = position;
  outward = normal;
  albedo = color;
  uv = texcoord;
  gl_Position = view_projection * vec4(position, 1.0);
})";

// Share of the key light that arrives: sixteen looks at the shadow map, each filtered by the hardware.
#define SUPPLE_SHADOW_FUNCTION                                                                     \
  "uniform sampler2DShadow shadow_map;\n"                                                          \
  "uniform mat4 light_projection;\n"                                                               \
  "uniform float shadow_texel;\n"                                                                  \
  "float arriving(vec3 p, float radius) {\n"                                                       \
  "  vec3 s = (light_projection * vec4(p, 1.0)).xyz * 0.5 + 0.5;\n"                                \
  "  float sum = 0.0;\n"                                                                           \
  "  for (int j = 0; j < 4; ++j)\n"                                                                \
  "    for (int i = 0; i < 4; ++i)\n"                                                              \
  "      sum += texture(shadow_map, s + vec3((vec2(i, j) - 1.5) * radius * shadow_texel, 0.0));\n" \
  "  return sum / 16.0;\n"                                                                         \
  "}\n"

inline constexpr const char* body_fragment = "#version 330 core\n" SUPPLE_SHADOW_FUNCTION R"(
in vec3 at, outward, albedo;
in vec2 uv;
uniform vec3 eye, key, fill;
uniform float gloss, alpha_cutoff, shadow_step;
uniform sampler2D base, occlusion;
uniform vec2 pixel;
out vec4 result;
float wrapped(vec3 n, vec3 light, float wrap) { return max(0.0, (dot(n, light) + wrap) / (1.0 + wrap)); }
void main() {
  vec4 texel = texture(base, uv);
  if (texel.a < alpha_cutoff) discard;
  vec3 to_eye = normalize(eye - at);
  vec3 n = normalize(outward);
  if (dot(n, to_eye) < 0.0) n = -n;
  float direct = arriving(at + shadow_step * n, 1.5);
  // The sky comes from everywhere, the fill light from a large surface; the key light, too, is broader than its shadow tells.
  float open = texture(occlusion, gl_FragCoord.xy * pixel).r;
  vec3 light = 0.95 * direct * mix(0.65, 1.0, open) * wrapped(n, key, 0.15) * vec3(1.0, 0.965, 0.90) +
               0.24 * mix(0.3, 1.0, open) * wrapped(n, fill, 0.3) * vec3(0.80, 0.90, 1.0) +
               0.32 * open * (0.62 + 0.38 * n.y) * vec3(0.93, 0.97, 1.0);
  float highlight = direct * pow(max(0.0, dot(n, normalize(key + to_eye))), 48.0);
  float rim = 0.35 * open * pow(1.0 - abs(dot(n, to_eye)), 4.0);
  result = vec4(albedo * texel.rgb * light + gloss * (highlight + 0.5 * rim), 1.0);
})";

inline constexpr const char* depth_fragment = R"(#version 330 core
in vec2 uv;
uniform sampler2D base;
uniform float alpha_cutoff;
void main() {
  if (texture(base, uv).a < alpha_cutoff) discard;
})";

inline constexpr const char* contact_fragment = R"(#version 330 core
in vec3 at;
uniform float floor_height, reach;
out float nearness;
void main() { nearness = exp(-max(0.0, at.y - floor_height) / reach); })";

inline constexpr const char* screen_vertex = R"(#version 330 core
out vec2 place;
void main() {
  place = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  gl_Position = vec4(place, 0.0, 1.0);
})";

// A map of the floor: how near bodies are, and how much of the key light they take away.
inline constexpr const char* floor_fragment = "#version 330 core\n" SUPPLE_SHADOW_FUNCTION R"(
in vec2 place;
uniform sampler2D contact;
uniform vec3 floor_center;
uniform float floor_half;
out vec2 result;
void main() {
  vec3 p = floor_center + floor_half * vec3(place.x, 0.0, place.y);
  result = vec2(texture(contact, 0.5 * place + 0.5).r, 1.0 - arriving(p, 6.0));
})";

inline constexpr const char* blur_fragment = R"(#version 330 core
in vec2 place;
uniform sampler2D source;
uniform vec2 stride;
out vec2 result;
void main() {
  vec2 middle = 0.5 * place + 0.5, sum = vec2(0.0);
  float weights = 0.0;
  for (int k = -6; k <= 6; ++k) {
    float weight = exp(-float(k * k) / 18.0);
    sum += weight * texture(source, middle + float(k) * stride).rg;
    weights += weight;
  }
  result = sum / weights;
})";

// ---- ambient_occlusion.cpp
// -----------------------------------------------------------------------------------------------

// Normal towards the eye, and distance along the camera's axis.
inline constexpr const char* surface_fragment = R"(#version 330 core
in vec3 at, outward;
in vec2 uv;
uniform sampler2D base;
uniform float alpha_cutoff;
uniform vec3 eye, forward;
out vec4 surface;
void main() {
  if (texture(base, uv).a < alpha_cutoff) discard;
  vec3 n = normalize(outward);
  if (dot(n, eye - at) < 0.0) n = -n;
  surface = vec4(n, dot(at - eye, forward));
})";

// Eleven points on a spiral of seven turns, turned at each pixel by a number that looks random. Smooth normals aren't
// those of flat triangles: what a surface seems to rise above itself that way, beta, doesn't count.
inline constexpr const char* occlusion_fragment = R"(#version 330 core
uniform sampler2D surface;
uniform vec3 forward, right, up;
uniform float radius;
out vec2 result;
const int count = 11;
vec3 place_of(ivec2 pixel, vec2 size, float distance) {
  vec2 p = (vec2(pixel) + 0.5) / size * 2.0 - 1.0;
  return distance * (forward + p.x * right + p.y * up);
}
void main() {
  ivec2 here = ivec2(gl_FragCoord.xy), size = textureSize(surface, 0);
  vec4 own = texelFetch(surface, here, 0);
  result = vec2(1.0, own.w);
  float pixels = own.w > 0.0 ? min(0.5 * float(size.y) * radius / (own.w * length(up)), 0.3 * float(size.y)) : 0.0;
  if (pixels < 1.0) return;
  vec3 middle = place_of(here, vec2(size), own.w);
  float beta = 0.02 * radius, turn = float((3 * here.x ^ here.y + here.x * here.y) * 10), sum = 0.0;
  for (int k = 0; k < count; ++k) {
    float share = (float(k) + 0.5) / float(count), angle = share * 7.0 * 6.2831853 + turn;
    ivec2 there = here + ivec2(share * pixels * vec2(cos(angle), sin(angle)));
    if (any(lessThan(there, ivec2(0))) || any(greaterThanEqual(there, size))) continue;
    float distance = texelFetch(surface, there, 0).w;
    if (distance <= 0.0) continue;
    vec3 v = (place_of(there, vec2(size), distance) - middle) / radius;
    float near = max(0.0, 1.0 - dot(v, v));
    sum += near * near * near * max(0.0, dot(v, own.xyz) - beta / radius) / (dot(v, v) + 0.01);
  }
  result.x = max(0.0, 1.0 - 5.0 * sum / float(count));
})";

// Along one axis, over pixels at about the same distance. Where nothing is seen what is beside it goes on, so that
// edges which are drawn with finer samples find what belongs to them.
inline constexpr const char* occlusion_blur_fragment = R"(#version 330 core
uniform sampler2D source;
uniform vec2 stride;
uniform float reach;
out vec2 result;
void main() {
  ivec2 here = ivec2(gl_FragCoord.xy), size = textureSize(source, 0);
  vec2 own = texelFetch(source, here, 0).rg;
  float sum = 0.0, weights = 0.0, far = 0.0;
  for (int k = -4; k <= 4; ++k) {
    vec2 other = texelFetch(source, clamp(here + k * ivec2(stride), ivec2(0), size - 1), 0).rg;
    if (other.g <= 0.0) continue;
    float weight = exp(-float(k * k) / 8.0);
    if (own.g > 0.0) weight *= max(0.0, 1.0 - abs(other.g - own.g) / reach);
    sum += weight * other.r;
    far += weight * other.g;
    weights += weight;
  }
  result = weights > 0.0 ? vec2(sum, own.g > 0.0 ? own.g * weights : far) / weights : vec2(1.0, 0.0);
})";

// The floor is where a ray from the eye meets it; it has the colour of the background, and only its shadows show.
inline constexpr const char* backdrop_fragment = R"(#version 330 core
in vec2 place;
uniform vec3 top, bottom, eye, forward, right, up, floor_center;
uniform float floor_half;
uniform int with_floor;
uniform sampler2D floor_map;
out vec4 result;
void main() {
  float t = 0.5 - 0.5 * place.y;
  vec3 color = mix(top, bottom, t * t * (3.0 - 2.0 * t));
  vec3 ray = forward + place.x * right + place.y * up;
  float distance = (floor_center.y - eye.y) / ray.y;
  if (with_floor == 1 && distance > 0.0) {
    vec3 p = eye + distance * ray;
    vec2 middle = (p.xz - floor_center.xz) / floor_half;
    float inside = 1.0 - smoothstep(0.75, 1.0, max(abs(middle.x), abs(middle.y)));
    vec2 dark = texture(floor_map, 0.5 * middle + 0.5).rg;
    color *= (1.0 - inside * 0.62 * dark.r) * (1.0 - inside * 0.24 * dark.g);
  }
  result = vec4(color, 1.0);
})";

}  // namespace supple::shaders
