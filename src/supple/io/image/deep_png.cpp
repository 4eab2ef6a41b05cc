// SPDX-License-Identifier: Apache-2.0
#include "supple/io/image/deep_png.h"

#include "supple/base/assert.h"
#include "supple/io/image/png_parts.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

namespace supple {
namespace {

constexpr Index largest_side = 1 << 20;
constexpr std::size_t pixel_bytes = 6, piece = std::size_t{1} << 16;

std::string start_of_file(Index width, Index height) {
  std::string header;
  append_big_endian(header, static_cast<std::uint32_t>(width));
  append_big_endian(header, static_cast<std::uint32_t>(height));
  header += {16, 2, 0, 0, 0};  // depth, RGB, deflate, filters, not interlaced
  std::string png = png_signature;
  append_chunk(png, "IHDR", header);
  append_chunk(png, "gAMA", std::string("\0\1\x86\xa0", 4));  // 1: numbers, not light for a screen
  return png;
}

}  // namespace

struct DeepPngWriter::Writing {
  Writing(AtomicFile target, Index columns, Index rows)
      : file(std::move(target)), width(columns), height(rows), row(pixel_bytes * to_size(columns)), above(row) {
    const int started = deflateInit(&stream, 1);  // more takes longer and hardly makes 16-bit numbers smaller
    SUPPLE_ASSERT(started == Z_OK);
  }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  ~Writing() { deflateEnd(&stream); }

  /// Compresses what it is given; each piece that is full becomes a chunk.
  Status compress(std::string& bytes, int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_in = static_cast<uInt>(bytes.size());
    for (;;) {
      stream.next_out = out.data();
      stream.avail_out = static_cast<uInt>(out.size());
      const int state = deflate(&stream, flush);
      waiting.append(out.begin(), out.end() - stream.avail_out);
      const bool over = flush == Z_FINISH ? state == Z_STREAM_END : stream.avail_out > 0;
      if (waiting.size() >= piece || (over && flush == Z_FINISH)) SUPPLE_RETURN_IF_ERROR(write_chunk());
      if (over) return {};
    }
  }

  Status write_chunk() {
    std::string chunk;
    append_chunk(chunk, "IDAT", waiting);
    waiting.clear();
    return file.write(chunk);
  }

  AtomicFile file;
  Index width, height, rows = 0;
  std::vector<std::uint8_t> row, above;
  z_stream stream{};
  std::vector<Bytef> out = std::vector<Bytef>(piece);
  std::string waiting;
};

DeepPngWriter::DeepPngWriter(std::unique_ptr<Writing> writing) : writing_(std::move(writing)) {}
DeepPngWriter::DeepPngWriter(DeepPngWriter&&) noexcept = default;
DeepPngWriter::~DeepPngWriter() = default;

Result<DeepPngWriter> DeepPngWriter::open(const std::filesystem::path& path, Index width, Index height) {
  if (width < 1 || height < 1 || width > largest_side || height > largest_side)
    return usage_error("A PNG image needs 1 to 1048576 pixels on each side.");
  Result<AtomicFile> file = AtomicFile::open(path);
  SUPPLE_RETURN_IF_ERROR(file);
  SUPPLE_RETURN_IF_ERROR(file->write(start_of_file(width, height)));
  return DeepPngWriter(std::make_unique<Writing>(std::move(*file), width, height));
}

Status DeepPngWriter::add_row(std::span<const Pixel> pixels) {
  Writing& w = *writing_;
  SUPPLE_ASSERT(static_cast<Index>(pixels.size()) <= w.width && w.rows < w.height);
  std::fill(w.row.begin(), w.row.end(), std::uint8_t{0});
  for (std::size_t x = 0; x < pixels.size(); ++x) {
    for (std::size_t i = 0; i < 3; ++i) {
      w.row[pixel_bytes * x + 2 * i] = static_cast<std::uint8_t>(pixels[x][i] >> 8);
      w.row[pixel_bytes * x + 2 * i + 1] = static_cast<std::uint8_t>(pixels[x][i] & 255);
    }
  }
  std::string filtered;
  append_best_filter(filtered, w.row, w.above, pixel_bytes);
  std::swap(w.row, w.above);
  ++w.rows;
  return w.compress(filtered, Z_NO_FLUSH);
}

Status DeepPngWriter::finish() {
  Writing& w = *writing_;
  SUPPLE_ASSERT(w.rows == w.height);
  std::string nothing, end;
  SUPPLE_RETURN_IF_ERROR(w.compress(nothing, Z_FINISH));
  append_chunk(end, "IEND", "");
  SUPPLE_RETURN_IF_ERROR(w.file.write(end));
  return w.file.commit();
}

}  // namespace supple
