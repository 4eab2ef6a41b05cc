// SPDX-License-Identifier: Apache-2.0
// Vertex animation textures; docs/formats.md describes their layout.
#include "supple/base/parallel.h"
#include "supple/export/cache_sinks.h"
#include "supple/io/image/deep_png.h"
#include "supple/io/image/exr.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr Index widest = 8192, highest = 16384;  // what graphics cards take

struct TextureLayout {
  Index width = 0, rows_per_frame = 0, height = 0;
};

TextureLayout layout_of(const CacheDescription& description) {
  TextureLayout layout;
  layout.rows_per_frame = (description.vertex_count + widest - 1) / widest;
  layout.width = (description.vertex_count + layout.rows_per_frame - 1) / layout.rows_per_frame;
  layout.height = layout.rows_per_frame * static_cast<Index>(description.times.size());
  return layout;
}

/// An image of vectors, one row after the other.
class ImageRows {
 public:
  virtual ~ImageRows() = default;
  virtual Status add_row(std::span<const Vec3> pixels) = 0;
  virtual Status finish() = 0;
};
using OpenedRows = Result<std::unique_ptr<ImageRows>>;

class ExrRows final : public ImageRows {
 public:
  explicit ExrRows(ExrWriter writer) : writer_(std::move(writer)) {}
  Status add_row(std::span<const Vec3> pixels) override { return writer_.add_row(pixels); }
  Status finish() override { return writer_.finish(); }

 private:
  ExrWriter writer_;
};

/// 0 stands for the low end of the range, 65535 for the high one.
class PngRows final : public ImageRows {
 public:
  PngRows(DeepPngWriter writer, VectorRange range) : writer_(std::move(writer)), range_(std::move(range)) {}
  Status add_row(std::span<const Vec3> pixels) override {
    row_.clear();
    for (const Vec3& value : pixels) {
      DeepPngWriter::Pixel& pixel = row_.emplace_back();
      for (int i = 0; i < 3; ++i) {
        const double size = range_.high[i] - range_.low[i];
        const double share = size > 0 ? std::clamp((value[i] - range_.low[i]) / size, 0.0, 1.0) : 0.0;
        pixel[to_size(i)] = static_cast<std::uint16_t>(std::lround(65535 * share));
      }
    }
    return writer_.add_row(row_);
  }
  Status finish() override { return writer_.finish(); }

 private:
  DeepPngWriter writer_;
  VectorRange range_;
  std::vector<DeepPngWriter::Pixel> row_;
};

const VectorRange unit_range{Vec3::Constant(-1), Vec3::Constant(1)};

OpenedRows open_exr(const std::string& path, const TextureLayout& layout, ExrPrecision precision) {
  Result<ExrWriter> writer = ExrWriter::open(path, layout.width, layout.height, precision);
  SUPPLE_RETURN_IF_ERROR(writer);
  return std::unique_ptr<ImageRows>(std::make_unique<ExrRows>(std::move(*writer)));
}

OpenedRows open_png(const std::string& path, const TextureLayout& layout, const VectorRange& range) {
  Result<DeepPngWriter> writer = DeepPngWriter::open(path, layout.width, layout.height);
  SUPPLE_RETURN_IF_ERROR(writer);
  return std::unique_ptr<ImageRows>(std::make_unique<PngRows>(std::move(*writer), range));
}

class TextureSink final : public CacheSink {
 public:
  TextureSink(std::string stem, std::string ending, CacheDescription description, TextureLayout layout,
              std::unique_ptr<ImageRows> positions, std::unique_ptr<ImageRows> normals)
      : stem_(std::move(stem)),
        ending_(std::move(ending)),
        description_(std::move(description)),
        layout_(layout),
        positions_(std::move(positions)),
        normals_(std::move(normals)) {}

  Status add_frame(std::span<const Vec3> positions, std::span<const Vec3> normals) override {
    bounds_.include(positions);
    Status added[2];
    parallel_for(2, 1, [&](std::int64_t i) {  // compression takes longer than all else
      added[i] = i == 0 ? add_rows(*positions_, positions) : add_rows(*normals_, normals);
    });
    SUPPLE_RETURN_IF_ERROR(added[0]);
    return added[1];
  }

  Status finish(std::vector<std::filesystem::path>& files) override {
    SUPPLE_RETURN_IF_ERROR(positions_->finish());
    SUPPLE_RETURN_IF_ERROR(normals_->finish());
    SUPPLE_RETURN_IF_ERROR(write_file_atomically(stem_ + ".json", json_text()));
    for (const std::string& ending : {".position" + ending_, ".normal" + ending_, std::string(".json")})
      files.emplace_back(stem_ + ending);
    return {};
  }
  bool wants_normals() const override { return true; }

 private:
  Status add_rows(ImageRows& writer, std::span<const Vec3> values) const {
    for (Index row = 0; row < layout_.rows_per_frame; ++row) {
      const auto first = to_size(row * layout_.width);
      const std::size_t count = std::min(values.size() - first, to_size(layout_.width));
      SUPPLE_RETURN_IF_ERROR(writer.add_row(values.subspan(first, count)));
    }
    return {};
  }

  std::string json_text() const {
    const auto name = [&](const char* what) {
      return std::filesystem::path(stem_ + what + ending_).filename().string();
    };
    const auto numbers = [](const Vec3& v) { return std::vector<double>{v.x(), v.y(), v.z()}; };
    const auto range = [&](const VectorRange& r) {
      return nlohmann::ordered_json{{"min", numbers(r.low)}, {"max", numbers(r.high)}};
    };
    nlohmann::ordered_json parts = nlohmann::ordered_json::array();
    for (const CachePart& part : description_.parts)
      parts.push_back({{"name", part.name}, {"first_vertex", part.first_vertex}, {"vertices", part.vertex_count}});
    const std::vector<double>& times = description_.times;
    const double span = times.back() - times.front();
    nlohmann::ordered_json json = {{"format", "supple vertex animation texture"},
                                   {"version", 1},
                                   {"clip", description_.clip},
                                   {"mesh", description_.mesh},
                                   {"position", name(".position")},
                                   {"normal", name(".normal")},
                                   {"space", "world, metres, y up"},
                                   {"vertices", description_.vertex_count},
                                   {"primitives", parts},
                                   {"width", layout_.width},
                                   {"height", layout_.height},
                                   {"rows_per_frame", layout_.rows_per_frame},
                                   {"frames", times.size()},
                                   {"frame_rate", span > 0 ? static_cast<double>(times.size() - 1) / span : 0.0},
                                   {"times", times},
                                   {"bounds", range(bounds_)}};
    if (ending_ == ".png") json["range"] = {{"position", range(description_.range)}, {"normal", range(unit_range)}};
    return json.dump(1) + "\n";
  }

  std::string stem_, ending_;
  CacheDescription description_;
  TextureLayout layout_;
  std::unique_ptr<ImageRows> positions_, normals_;
  VectorRange bounds_;
};

}  // namespace

OpenedSink open_texture_sink(const std::string& stem, const CacheDescription& description, TextureFormat format) {
  const TextureLayout layout = layout_of(description);
  if (layout.height > highest)
    return input_error(
        fmt::format("The clip '{}' needs a texture of {} rows for {} and graphics cards take {}; bake "
                    "fewer frames or simplify the mesh.",
                    description.clip, layout.height, description.mesh, highest));
  const bool exr = format == TextureFormat::exr;
  const std::string ending = exr ? ".exr" : ".png", position = stem + ".position" + ending,
                    normal = stem + ".normal" + ending;
  OpenedRows positions =
      exr ? open_exr(position, layout, ExrPrecision::single) : open_png(position, layout, description.range);
  SUPPLE_RETURN_IF_ERROR(positions);
  OpenedRows normals = exr ? open_exr(normal, layout, ExrPrecision::half) : open_png(normal, layout, unit_range);
  SUPPLE_RETURN_IF_ERROR(normals);
  return std::unique_ptr<CacheSink>(
      std::make_unique<TextureSink>(stem, ending, description, layout, std::move(*positions), std::move(*normals)));
}

}  // namespace supple
