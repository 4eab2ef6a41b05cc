// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/cache_sinks.h"

#include "supple/io/mdd.h"
#include "supple/io/pc2.h"

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

}  // namespace supple
