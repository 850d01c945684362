#pragma once
// Keyed tracks to values at many times.

#include <cstdint>

#include "level.hpp"

namespace bunraku {

// How a track's keys are stored, one row of float64 per key, and what lies between them (glTF 2.0,
// appendix C).
enum class TrackKind : std::int64_t {
  step,            // row: value
  linear,          // row: value
  slerp,           // row: unit quaternion, a², ±a/sin a; a: angle on the 3-sphere to the next key
                   // (≤ π/2, after its sign was chosen for the shorter arc), −: that key is negated
  cubic,           // row: in-tangent, value, out-tangent
  cubic_rotation,  // row: as cubic; the result is normalised
  bezier,          // row: value, then a curve x1, y1, x2, y2 for each number: it bends the time of
                   // the segment that leads to the key (MMD); x1 and x2 lie in [0, 1]
  bezier_slerp,    // row: as slerp, then one such curve
};
inline constexpr std::int64_t kTrackKinds = 7;

struct SampledTrack {
  std::int64_t timeline;  // which times its keys have
  std::int64_t kind;      // a TrackKind
  std::int64_t rows;      // where its rows start
  std::int64_t output;    // index into SamplingJob::outputs
  std::int64_t column;    // where its values start in a frame of that output
  std::int64_t width;     // numbers per value (4 for rotations)
};

constexpr std::int64_t row_length(TrackKind kind, std::int64_t width) {
  switch (kind) {
    case TrackKind::slerp: return width + 2;
    case TrackKind::cubic:
    case TrackKind::cubic_rotation: return 3 * width;
    case TrackKind::bezier: return 5 * width;
    case TrackKind::bezier_slerp: return width + 6;
    default: return width;
  }
}

// One array of (frames, width) numbers; each frame starts out as a copy of `rest`.
struct SamplingOutput {
  const double* rest;
  double* values;
  std::int64_t width;
};

// Translations, rotations, scales, and the weights of morphs and expressions with the switches.
inline constexpr int kSamplingOutputs = 4;

struct SamplingJob {
  const double* key_times;             // strictly increasing within each timeline
  const std::int64_t* timeline_starts; // timelines + 1 offsets into key_times
  const double* rows;
  const SampledTrack* tracks;          // tracks that share a timeline stand together
  std::int64_t track_count;
  const double* times;                 // one per frame, finite, in any order
  SamplingOutput outputs[kSamplingOutputs];
};

// A time that is this close to a key, in seconds, is that key: files keep times as float32.
inline constexpr double kSameTime = 1e-6;

struct SamplingKernels {
  // Computes the frames [begin, end).
  void (*sample)(const SamplingJob&, std::int64_t begin, std::int64_t end);
};

BUNRAKU_DECLARE_KERNELS(SamplingKernels, sampling_kernels)

}  // namespace bunraku
