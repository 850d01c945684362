#include <nanobind/nanobind.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "bindings/arrays.hpp"
#include "sampling/sampling.hpp"
#include "threads.hpp"

namespace nb = nanobind;

namespace bunraku {
namespace {

using Rest = Array<const double, 1>;
using Values = Array<double, 2>;

// Track frames a thread should have at least: handing out a range costs about as much as 2000.
constexpr std::int64_t kGrain = 1024;

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

void require_timelines(const Array<const double, 1>& key_times, const Array<const std::int64_t, 1>& starts) {
  require(starts.shape(0) >= 1 && starts.data()[0] == 0, "timeline_starts: expected to start at 0");
  for (std::size_t i = 1; i < starts.shape(0); ++i) {
    require(starts.data()[i] > starts.data()[i - 1], "timeline_starts: expected at least one key for each");
  }
  require(starts.data()[starts.shape(0) - 1] == static_cast<std::int64_t>(key_times.shape(0)),
          "timeline_starts: expected to end where key_times does");
}

// What is wrong with a track, or null. Offsets are compared by subtraction, so that none overflows.
const char* fault(const SampledTrack& track, const SamplingJob& job, std::int64_t timelines, std::int64_t numbers) {
  if (track.timeline < 0 || track.timeline >= timelines) return "no such timeline";
  if (track.kind < 0 || track.kind >= kTrackKinds) return "no such kind";
  if (track.output < 0 || track.output >= kSamplingOutputs) return "no such output";
  const std::int64_t available = job.outputs[track.output].width;
  if (track.width < 1 || track.width > available || track.column < 0 || track.column > available - track.width) {
    return "values reach beyond a frame";
  }
  const auto kind = static_cast<TrackKind>(track.kind);
  const bool rotation =
      kind == TrackKind::slerp || kind == TrackKind::cubic_rotation || kind == TrackKind::bezier_slerp;
  if (rotation && track.width != 4) return "expected quaternions";
  const std::int64_t keys = job.timeline_starts[track.timeline + 1] - job.timeline_starts[track.timeline];
  if (track.rows < 0 || track.rows > numbers || keys > (numbers - track.rows) / row_length(kind, track.width)) {
    return "keys reach beyond the rows";
  }
  return nullptr;
}

void sample(Array<const double, 1> key_times, Array<const std::int64_t, 1> timeline_starts,
            Array<const double, 1> rows, Array<const std::int64_t, 2> tracks, Array<const double, 1> times,
            Rest rest_translations, Rest rest_rotations, Rest rest_scales, Rest rest_weights, Values translations,
            Values rotations, Values scales, Values weights) {
  static_assert(sizeof(SampledTrack) == 6 * sizeof(std::int64_t));
  require(tracks.shape(1) == 6, "tracks: expected 6 columns");
  require_timelines(key_times, timeline_starts);
  SamplingJob job{key_times.data(),
                  timeline_starts.data(),
                  rows.data(),
                  reinterpret_cast<const SampledTrack*>(tracks.data()),
                  static_cast<std::int64_t>(tracks.shape(0)),
                  times.data(),
                  {}};
  const Rest* const rests[kSamplingOutputs] = {&rest_translations, &rest_rotations, &rest_scales, &rest_weights};
  const Values* const values[kSamplingOutputs] = {&translations, &rotations, &scales, &weights};
  for (int i = 0; i < kSamplingOutputs; ++i) {
    require(values[i]->shape(0) == times.shape(0) && values[i]->shape(1) == rests[i]->shape(0),
            "outputs: expected one row per time, as long as the rest values");
    job.outputs[i] = {rests[i]->data(), values[i]->data(), static_cast<std::int64_t>(rests[i]->shape(0))};
  }
  const auto timelines = static_cast<std::int64_t>(timeline_starts.shape(0)) - 1;
  for (std::int64_t t = 0; t < job.track_count; ++t) {
    const char* const what = fault(job.tracks[t], job, timelines, static_cast<std::int64_t>(rows.shape(0)));
    if (what != nullptr) throw std::invalid_argument("tracks[" + std::to_string(t) + "]: " + what);
  }
  const auto run = sampling_kernels_at(active_level()).sample;
  const nb::gil_scoped_release released;
  parallel_for(static_cast<std::int64_t>(times.shape(0)), kGrain / std::max<std::int64_t>(job.track_count, 1),
               [&](std::int64_t begin, std::int64_t end) { run(job, begin, end); });
}

}  // namespace

void bind_sampling(nb::module_& m) {
  m.def("sample", &sample, nb::arg("key_times").noconvert(), nb::arg("timeline_starts").noconvert(),
        nb::arg("rows").noconvert(), nb::arg("tracks").noconvert(), nb::arg("times").noconvert(),
        nb::arg("rest_translations").noconvert(), nb::arg("rest_rotations").noconvert(),
        nb::arg("rest_scales").noconvert(), nb::arg("rest_weights").noconvert(), nb::arg("translations").noconvert(),
        nb::arg("rotations").noconvert(), nb::arg("scales").noconvert(), nb::arg("weights").noconvert(),
        "Fill (frames, width) outputs: rest values, and over them the value of every track at every time.");
}

}  // namespace bunraku
