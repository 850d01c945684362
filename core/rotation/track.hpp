#pragma once
// Keyed rotations, (count, batch, 4) at increasing times, and what lies between the keys.

#include "rotation/elements.hpp"

namespace bunraku {

struct Track {
  const double* times;
  const void* keys;
  std::int64_t count, batch;
  bool is_double;
};

bool is_finite_and_increasing(const double* times, std::int64_t count);

// Each function fills `out`; a result is the first element without an answer, or -1.

// (count, batch, 4): signs such that neighbours lie on the same side. Times are not read.
void make_continuous(const Track& track, void* out);

// (queries, batch, 4): by slerp, or along a spline whose keys are refused without a direction. No
// query is NaN.
void sample_slerp(const Track& track, const double* at, std::int64_t queries, void* out);
std::int64_t sample_spline(const Track& track, const double* at, std::int64_t queries, void* out);

// (count, batch, 3): the spline's velocities at its keys.
std::int64_t key_velocities(const Track& track, void* out);

// An operation on each key and the one before it, in that order, of every input, then the time
// between them. `grid` is that of the keys, its first axis their number; it becomes the result's.
void to_neighbours(Grid& grid);
std::int64_t run_on_neighbours(const ElementwiseOperation& operation, bool is_double, const Grid& grid,
                               const double* times, const void* const* keys, int tracks, void* out);

}  // namespace bunraku
