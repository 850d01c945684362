#pragma once
// The rotation, or the rigid motion, that fits many best: one result for each row of slots.
//
// Sums are taken in double and in a fixed order, whatever the inputs' type and the threads. The last
// axis of the grid is that of the slots, the others are the results'. Each function returns the
// first result without an answer, or -1.

#include "rotation/elements.hpp"

namespace bunraku {

// Of unit quaternions and weights >= 0: the dominant eigenvector of the sum of w q qᵀ (Markley 2007).
std::int64_t fit_mean(bool is_double, const Grid& grid, const void* const inputs[2], void* out);

// Of vectors, their targets and weights >= 0, the rotation (Davenport 1968); with a translation also
// that, about the centroids. Points that all coincide are then only translated.
std::int64_t fit_alignment(bool is_double, const Grid& grid, const void* const inputs[3], void* rotation,
                           void* translation);

// Of dual quaternions and weights, each on the side of the heaviest one's real part.
std::int64_t fit_blend(bool is_double, const Grid& grid, const void* const inputs[2], void* out);

}  // namespace bunraku
