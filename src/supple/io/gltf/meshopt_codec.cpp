// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/meshopt_views.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace supple {
namespace {

using CodedBytes = std::span<const unsigned char>;

constexpr std::size_t group_size = 16;
constexpr std::size_t smallest_tail = 24;
constexpr std::size_t largest_block = 256;

// Takes bytes from the front of the stream; sticks at a failure.
struct Stream {
  CodedBytes rest;
  bool ok = true;

  CodedBytes take(std::size_t count) {
    if (count > rest.size()) {
      ok = false;
      return {};
    }
    const CodedBytes taken = rest.first(count);
    rest = rest.subspan(count);
    return taken;
  }
};

// 16 deltas of `bits` bits; one whose bits are all set follows as a byte. One-bit deltas lie from the lowest bit up,
// the others from the highest down.
void decode_group(Stream& stream, unsigned bits, unsigned char* out) {
  if (bits == 0) {
    std::memset(out, 0, group_size);
    return;
  }
  const CodedBytes packed = stream.take(group_size * bits / 8);
  if (!stream.ok) return;
  if (bits == 8) {
    std::memcpy(out, packed.data(), group_size);
    return;
  }
  const unsigned sentinel = (1u << bits) - 1, per_byte = 8 / bits;
  for (unsigned k = 0; k < group_size; ++k) {
    const unsigned place = k % per_byte, shift = bits == 1 ? place : 8 - bits * (place + 1);
    unsigned value = packed[k / per_byte] >> shift & sentinel;
    if (value == sentinel) {
      const CodedBytes whole = stream.take(1);
      if (!stream.ok) return;
      value = whole[0];
    }
    out[k] = static_cast<unsigned char>(value);
  }
}

// The deltas of one byte of the stride, for a block; `out` has room for whole groups.
void decode_lane(Stream& stream, unsigned control, std::size_t count, unsigned char* out) {
  static constexpr unsigned widths[2][4] = {{0, 1, 2, 4}, {1, 2, 4, 8}};
  if (control == 2) {
    std::memset(out, 0, count);
    return;
  }
  if (control == 3) {
    const CodedBytes literal = stream.take(count);
    if (stream.ok) std::memcpy(out, literal.data(), count);
    return;
  }
  const std::size_t groups = (count + group_size - 1) / group_size;
  const CodedBytes header = stream.take((groups + 3) / 4);
  for (std::size_t g = 0; g < groups && stream.ok; ++g)
    decode_group(stream, widths[control][header[g / 4] >> (2 * (g % 4)) & 3u], out + g * group_size);
}

template <class T>
T unzigzag(T v) {
  return static_cast<T>((v & 1u) != 0 ? ~(v >> 1) : v >> 1);
}

// Pack4 lanes of deltas to values: `last` is the previous element, and the last of this block afterwards.
void add_deltas(const unsigned char lanes[4][largest_block], unsigned channel, std::size_t count, std::size_t stride,
                unsigned char* last, unsigned char* out) {
  const unsigned mode = channel & 15u;
  const int turn = static_cast<int>(channel >> 4);
  for (std::size_t i = 0; i < count; ++i) {
    if (mode == 0) {
      for (std::size_t j = 0; j < 4; ++j) last[j] = static_cast<unsigned char>(last[j] + unzigzag(lanes[j][i]));
    } else if (mode == 1) {
      for (std::size_t j = 0; j < 4; j += 2) {
        const auto delta = static_cast<std::uint16_t>(lanes[j][i] | lanes[j + 1][i] << 8);
        const auto value = static_cast<std::uint16_t>((last[j] | last[j + 1] << 8) + unzigzag(delta));
        std::memcpy(last + j, &value, 2);
      }
    } else {
      std::uint32_t value = 0, delta = 0;
      std::memcpy(&value, last, 4);
      for (std::size_t j = 0; j < 4; ++j) delta |= static_cast<std::uint32_t>(lanes[j][i]) << (8 * j);
      value ^= std::rotr(delta, turn);
      std::memcpy(last, &value, 4);
    }
    std::memcpy(out + i * stride, last, 4);
  }
}

bool valid_channels(CodedBytes channels) {
  for (const unsigned char channel : channels)
    if ((channel & 15u) > 2 || ((channel & 15u) < 2 && channel > 15)) return false;
  return true;
}

}  // namespace

bool decode_meshopt_attributes_v1(std::span<unsigned char> out, std::size_t count, std::size_t stride,
                                  CodedBytes bytes) {
  const std::size_t tail_size = stride + stride / 4;
  if (bytes.size() < 1 + std::max(tail_size, smallest_tail) || out.size() < count * stride) return false;
  std::vector<unsigned char> last(bytes.end() - static_cast<std::ptrdiff_t>(tail_size),
                                  bytes.end() - static_cast<std::ptrdiff_t>(stride / 4));
  const CodedBytes channels = bytes.last(stride / 4);
  if (!valid_channels(channels)) return false;
  Stream stream{bytes.subspan(1, bytes.size() - 1 - std::max(tail_size, smallest_tail))};
  const std::size_t block_size = std::min((8192 / stride) & ~std::size_t{15}, largest_block);
  for (std::size_t first = 0; first < count; first += block_size) {
    const std::size_t block = std::min(block_size, count - first);
    const CodedBytes controls = stream.take(stride / 4);
    for (std::size_t k = 0; k < stride && stream.ok; k += 4) {
      unsigned char lanes[4][largest_block];
      for (std::size_t j = 0; j < 4 && stream.ok; ++j)
        decode_lane(stream, controls[k / 4] >> (2 * j) & 3u, block, lanes[j]);
      if (stream.ok)
        add_deltas(lanes, channels[k / 4], block, stride, last.data() + k, out.data() + first * stride + k);
    }
    if (!stream.ok) return false;
  }
  return stream.rest.empty();
}

namespace {

template <class Unsigned, class Signed>
void decode_colors(std::span<unsigned char> data) {
  constexpr int largest = std::numeric_limits<Unsigned>::max();
  for (std::size_t i = 0; i + 4 * sizeof(Unsigned) <= data.size(); i += 4 * sizeof(Unsigned)) {
    Unsigned in[4];
    std::memcpy(in, data.data() + i, sizeof(in));
    const int y = in[0], co = static_cast<Signed>(in[1]), cg = static_cast<Signed>(in[2]);
    // The highest bit of alpha tells how many bits all components have.
    const int all = (1 << std::bit_width(in[3])) - 1;
    const int alpha = in[3] & (all >> 1);
    const int values[4] = {y + co - cg, y + cg, y - co - cg, alpha << 1 | (alpha & 1)};
    for (std::size_t k = 0; k < 4; ++k) {
      const long scaled = all == 0 ? 0 : std::lround(static_cast<double>(values[k]) * largest / all);
      in[k] = static_cast<Unsigned>(std::clamp<long>(scaled, 0, largest));
    }
    std::memcpy(data.data() + i, in, sizeof(in));
  }
}

}  // namespace

void decode_meshopt_colors(std::span<unsigned char> data, std::size_t stride) {
  if (stride == 4)
    decode_colors<std::uint8_t, std::int8_t>(data);
  else
    decode_colors<std::uint16_t, std::int16_t>(data);
}

}  // namespace supple
