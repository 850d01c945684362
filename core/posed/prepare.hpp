#pragma once
// A palette, prepared for the rays of one pose, and batches of rays over threads.

#include <cstdint>
#include <memory>
#include <new>

#include "bvh/batch.hpp"
#include "posed/rest.hpp"

namespace bunraku::posed {

// A palette for one tree, which must outlive it, as must what it is made of.
class Posed {
 public:
  // `palette` is (joints of the tree, or more, 3, 4), finite; `morph_weights` one per target, or null.
  Posed(const RestTree& tree, const float* palette, Method method, const float* morph_weights);

  void closest(const bvh::ClosestJob& job, std::int64_t count) const;
  void any(const bvh::AnyJob& job, std::int64_t count) const;
  bvh::AllHits all(const bvh::Rays& rays, std::int64_t count) const;
  bvh::Single one(const float* origin, const float* direction, float t_min, float t_max) const;
  Survey survey() const;

 private:
  struct Free {
    void operator()(float* data) const { ::operator delete(data, std::align_val_t{64}); }
  };
  std::unique_ptr<float, Free> floats_;
  const RestTree& tree_;
  Pose pose_{};
};

}  // namespace bunraku::posed
