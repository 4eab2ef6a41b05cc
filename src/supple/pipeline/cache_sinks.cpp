// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/cache_sinks.h"

#include "supple/io/exr.h"
#include "supple/io/mdd.h"
#include "supple/io/pc2.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace supple {
namespace {

class Pc2Sink final : public CacheSink {
 public:
  Pc2Sink(std::filesystem::path path, Pc2Writer writer) : path_(std::move(path)), writer_(std::move(writer)) {}
  Status add_frame(std::span<const Vec3> positions, std::span<const Vec3>) override {
    return writer_.add_sample(positions);
  }
  Status finish(std::vector<std::filesystem::path>& files) override {
    files.push_back(path_);
    return writer_.finish();
  }

 private:
  std::filesystem::path path_;
  Pc2Writer writer_;
};

class MddSink final : public CacheSink {
 public:
  MddSink(std::filesystem::path path, MddWriter writer) : path_(std::move(path)), writer_(std::move(writer)) {}
  Status add_frame(std::span<const Vec3> positions, std::span<const Vec3>) override {
    return writer_.add_frame(positions);
  }
  Status finish(std::vector<std::filesystem::path>& files) override {
    files.push_back(path_);
    return writer_.finish();
  }

 private:
  std::filesystem::path path_;
  MddWriter writer_;
};

// ---- textures -------------------------------------------------------------------------------------------------------

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

class TextureSink final : public CacheSink {
 public:
  TextureSink(std::string stem, CacheDescription description, TextureLayout layout, ExrWriter positions,
              ExrWriter normals)
      : stem_(std::move(stem)),
        description_(std::move(description)),
        layout_(layout),
        positions_(std::move(positions)),
        normals_(std::move(normals)) {}

  Status add_frame(std::span<const Vec3> positions, std::span<const Vec3> normals) override {
    for (const Vec3& x : positions) low_ = low_.cwiseMin(x), high_ = high_.cwiseMax(x);
    SUPPLE_RETURN_IF_ERROR(add_rows(positions_, positions));
    return add_rows(normals_, normals);
  }

  Status finish(std::vector<std::filesystem::path>& files) override {
    SUPPLE_RETURN_IF_ERROR(positions_.finish());
    SUPPLE_RETURN_IF_ERROR(normals_.finish());
    SUPPLE_RETURN_IF_ERROR(write_file_atomically(stem_ + ".json", json_text()));
    for (const char* ending : {".position.exr", ".normal.exr", ".json"}) files.emplace_back(stem_ + ending);
    return {};
  }
  bool wants_normals() const override { return true; }

 private:
  Status add_rows(ExrWriter& writer, std::span<const Vec3> values) const {
    for (Index row = 0; row < layout_.rows_per_frame; ++row) {
      const auto first = static_cast<std::size_t>(row * layout_.width);
      const std::size_t count = std::min(values.size() - first, static_cast<std::size_t>(layout_.width));
      SUPPLE_RETURN_IF_ERROR(writer.add_row(values.subspan(first, count)));
    }
    return {};
  }

  std::string json_text() const {
    const auto name = [&](const char* ending) { return std::filesystem::path(stem_ + ending).filename().string(); };
    const auto numbers = [](const Vec3& v) { return std::vector<double>{v.x(), v.y(), v.z()}; };
    nlohmann::ordered_json parts = nlohmann::ordered_json::array();
    for (const CachePart& part : description_.parts)
      parts.push_back({{"name", part.name}, {"first_vertex", part.first_vertex}, {"vertices", part.vertex_count}});
    const std::vector<double>& times = description_.times;
    const double span = times.back() - times.front();
    nlohmann::ordered_json json = {{"format", "supple vertex animation texture"},
                                   {"version", 1},
                                   {"clip", description_.clip},
                                   {"mesh", description_.mesh},
                                   {"position", name(".position.exr")},
                                   {"normal", name(".normal.exr")},
                                   {"space", "world, metres, y up"},
                                   {"vertices", description_.vertex_count},
                                   {"primitives", parts},
                                   {"width", layout_.width},
                                   {"height", layout_.height},
                                   {"rows_per_frame", layout_.rows_per_frame},
                                   {"frames", times.size()},
                                   {"frame_rate", span > 0 ? static_cast<double>(times.size() - 1) / span : 0.0},
                                   {"times", times},
                                   {"bounds", {{"min", numbers(low_)}, {"max", numbers(high_)}}}};
    return json.dump(1) + "\n";
  }

  std::string stem_;
  CacheDescription description_;
  TextureLayout layout_;
  ExrWriter positions_, normals_;
  Vec3 low_ = Vec3::Constant(1e300), high_ = Vec3::Constant(-1e300);
};

}  // namespace

OpenedSink open_pc2_sink(const std::string& stem, const CacheDescription& description) {
  const std::vector<double>& times = description.times;
  const double step = times.size() > 1 ? (times.back() - times.front()) / static_cast<double>(times.size() - 1) : 0.0;
  Pc2Header header;
  header.points = description.vertex_count;
  header.start_frame = static_cast<float>(times.front() * description.frame_rate);
  header.frames_per_sample = step > 0 ? static_cast<float>(step * description.frame_rate) : 1.0f;
  header.samples = static_cast<std::int32_t>(times.size());
  Result<Pc2Writer> writer = Pc2Writer::open(stem + ".pc2", header);
  if (!writer.ok()) return writer.error();
  return std::unique_ptr<CacheSink>(std::make_unique<Pc2Sink>(stem + ".pc2", std::move(*writer)));
}

OpenedSink open_mdd_sink(const std::string& stem, const CacheDescription& description) {
  Result<MddWriter> writer = MddWriter::open(stem + ".mdd", description.vertex_count, description.times);
  if (!writer.ok()) return writer.error();
  return std::unique_ptr<CacheSink>(std::make_unique<MddSink>(stem + ".mdd", std::move(*writer)));
}

OpenedSink open_texture_sink(const std::string& stem, const CacheDescription& description) {
  const TextureLayout layout = layout_of(description);
  if (layout.height > highest)
    return input_error(
        fmt::format("The clip '{}' needs a texture of {} rows for {} and graphics cards take {}; bake "
                    "fewer frames or simplify the mesh.",
                    description.clip, layout.height, description.mesh, highest));
  Result<ExrWriter> positions =
      ExrWriter::open(stem + ".position.exr", layout.width, layout.height, ExrPrecision::single);
  if (!positions.ok()) return positions.error();
  Result<ExrWriter> normals = ExrWriter::open(stem + ".normal.exr", layout.width, layout.height, ExrPrecision::half);
  if (!normals.ok()) return normals.error();
  return std::unique_ptr<CacheSink>(
      std::make_unique<TextureSink>(stem, description, layout, std::move(*positions), std::move(*normals)));
}

}  // namespace supple
