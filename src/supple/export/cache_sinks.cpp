// SPDX-License-Identifier: Apache-2.0
#include "supple/export/cache_sinks.h"

#include "supple/io/motion/mdd.h"
#include "supple/io/motion/pc2.h"

namespace supple {
namespace {

/// One file that takes frame after frame by `add` of its writer.
template <class Writer, Status (Writer::*add)(std::span<const Vec3>)>
class PointSink final : public CacheSink {
 public:
  PointSink(std::filesystem::path path, Writer writer) : path_(std::move(path)), writer_(std::move(writer)) {}
  Status add_frame(std::span<const Vec3> positions, std::span<const Vec3>) override {
    return (writer_.*add)(positions);
  }
  Status finish(std::vector<std::filesystem::path>& files) override {
    files.push_back(path_);
    return writer_.finish();
  }

 private:
  std::filesystem::path path_;
  Writer writer_;
};

template <class Writer, Status (Writer::*add)(std::span<const Vec3>)>
OpenedSink sink_of(const std::string& path, Result<Writer> writer) {
  SUPPLE_RETURN_IF_ERROR(writer);
  return std::unique_ptr<CacheSink>(std::make_unique<PointSink<Writer, add>>(path, std::move(*writer)));
}

}  // namespace

OpenedSink open_pc2_sink(const std::string& stem, const CacheDescription& description) {
  const std::vector<double>& times = description.times;
  const double step = times.size() > 1 ? (times.back() - times.front()) / static_cast<double>(times.size() - 1) : 0.0;
  Pc2Header header;
  header.points = description.vertex_count;
  header.start_frame = static_cast<float>(times.front() * description.frame_rate);
  header.frames_per_sample = step > 0 ? static_cast<float>(step * description.frame_rate) : 1.0f;
  header.samples = static_cast<std::int32_t>(times.size());
  return sink_of<Pc2Writer, &Pc2Writer::add_sample>(stem + ".pc2", Pc2Writer::open(stem + ".pc2", header));
}

OpenedSink open_mdd_sink(const std::string& stem, const CacheDescription& description) {
  return sink_of<MddWriter, &MddWriter::add_frame>(
      stem + ".mdd", MddWriter::open(stem + ".mdd", description.vertex_count, description.times));
}

}  // namespace supple
