#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "sampling/sampling.hpp"
#include "threads.hpp"

namespace nb = nanobind;

namespace bunraku {
namespace {

template <class T, std::size_t N>
using Array = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
using Rest = Array<const double, 1>;
using Values = Array<double, 2>;

// Track frames a thread should have at least: handing out a range costs about as much as 2000.
constexpr std::int64_t kGrain = 8192;

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

void require_timelines(const Array<const double, 1>& key_times, const Array<const std::int64_t, 1>& starts) {
  const auto total = static_cast<std::int64_t>(key_times.shape(0));
  require(starts.shape(0) >= 1 && starts.data()[0] == 0, "timeline_starts: expected to start at 0");
  for (std::size_t i = 1; i < starts.shape(0); ++i) {
    require(starts.data()[i] > starts.data()[i - 1] && starts.data()[i] <= total,
            "timeline_starts[" + std::to_string(i) + "]: expected at least one key, and " + std::to_string(total) +
                " in all");
  }
}

void require_track(const SampledTrack& track, const SamplingJob& job, std::int64_t timelines, std::int64_t numbers,
                   const std::string& name) {
  require(track.timeline >= 0 && track.timeline < timelines, name + ": no such timeline");
  require(track.kind >= 0 && track.kind < kTrackKinds, name + ": no such kind");
  require(track.output >= 0 && track.output < kSamplingOutputs, name + ": no such output");
  const std::int64_t available = job.outputs[track.output].width;
  require(track.width >= 0 && track.width <= available && track.column >= 0 &&
              track.column <= available - track.width,
          name + ": values reach beyond a frame");
  const auto kind = static_cast<TrackKind>(track.kind);
  const bool rotation = kind == TrackKind::slerp || kind == TrackKind::cubic_rotation;
  require(!rotation || track.width == 4, name + ": expected quaternions");
  const std::int64_t keys = job.timeline_starts[track.timeline + 1] - job.timeline_starts[track.timeline];
  const std::int64_t length = std::max<std::int64_t>(row_length(kind, track.width), 1);
  require(track.rows >= 0 && track.rows <= numbers && keys <= (numbers - track.rows) / length,
          name + ": keys reach beyond the rows");
}

void sample(Array<const double, 1> key_times, Array<const std::int64_t, 1> timeline_starts,
            Array<const double, 1> rows, Array<const std::int64_t, 2> tracks, Array<const double, 1> times,
            Rest rest_translations, Rest rest_rotations, Rest rest_scales, Rest rest_weights, Values translations,
            Values rotations, Values scales, Values weights) {
  static_assert(sizeof(SampledTrack) == 6 * sizeof(std::int64_t));
  require(tracks.shape(1) == 6, "tracks: expected 6 columns, found " + std::to_string(tracks.shape(1)));
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
            "output " + std::to_string(i) + ": expected one row per time, as long as its rest");
    job.outputs[i] = {rests[i]->data(), values[i]->data(), static_cast<std::int64_t>(rests[i]->shape(0))};
  }
  for (std::int64_t t = 0; t < job.track_count; ++t) {
    require_track(job.tracks[t], job, static_cast<std::int64_t>(timeline_starts.shape(0)) - 1,
                  static_cast<std::int64_t>(rows.shape(0)), "tracks[" + std::to_string(t) + "]");
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
