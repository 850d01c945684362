#pragma once
// Bending the vertices of a leaf, by the very functions that bend a geometry, and making a packet
// of triangles of them, by the very function that fills a tree: so answers have the same bits.

#include "bvh/packet.hpp"
#include "posed/bounds.hpp"

namespace bunraku::BUNRAKU_LEVEL::posed {

// A job that bends one leaf after another in one pose.
class Leaves {
 public:
  Leaves(const RestView& view, const Pose& pose, Scratch scratch) : view_(view), pose_(pose), scratch_(scratch) {
    job_.method = pose.method;
    job_.frames = 1;
    job_.joints = view.joints;
    job_.palette = pose.palette;
    job_.influences = view.influences;
    job_.panels = view.panels;
    job_.packed = pose.packed;
    job_.out_positions = {bent_, 0};
    batch_ = skinning::batch(job_, 0);
    tree_.kind = bvh::Kind::triangles;
    tree_.packets = &packet_;
    tree_.packet_count = 1;
  }
  Leaves(const Leaves&) = delete;

  // The leaf's triangles, as packet 0 of tree().
  template <Method kMethod>
  void bend(std::int32_t index) {
    const Leaf& leaf = view_.leaves[index];
    job_.vertices = leaf.count;
    job_.positions = view_.positions + 3 * static_cast<std::int64_t>(leaf.first);
    job_.influences.sums = view_.influences.sums + leaf.first;
    if (pose_.morph_weights != nullptr) find_morphs(leaf);
    skinning::bend_narrow<kMethod, false>(job_, batch_, {0, leaf.count, index});
    bvh::Corners corners;
    for (int c = 0; c < 3; ++c) {
      for (int i = 0; i < kWidth; ++i) corners.vertex[c][i] = leaf.corner[c][i];
    }
    __builtin_memcpy(packet_.primitive, leaf.primitive, sizeof packet_.primitive);
    bvh::Source source{};
    source.points = bent_;
    bvh::fill_triangles(packet_, corners, source);
  }

  const bvh::TreeView& tree() const { return tree_; }

 private:
  // The displacements by active targets only, in the order in which the skinning kernels add them.
  void find_morphs(const Leaf& leaf) {
    std::int32_t count = 0;
    auto* const target = reinterpret_cast<std::int32_t*>(scratch_.morphs + 3 * view_.most_morphs);
    for (int v = 0; v < leaf.count; ++v) {
      morph_first_[v] = count;
      const std::int32_t* first = view_.morph_first + leaf.first + v;
      for (std::int32_t e = first[0]; e < first[1]; ++e) {
        if (pose_.morph_weights[view_.morph_target[e]] == 0) continue;
        target[count] = view_.morph_target[e];
        __builtin_memcpy(scratch_.morphs + 3 * count, view_.morph_deltas + 3 * static_cast<std::int64_t>(e), 12);
        ++count;
      }
    }
    morph_first_[leaf.count] = count;
    job_.morphs = {morph_first_, target, scratch_.morphs, nullptr, nullptr, 0};
    job_.morph_weights = pose_.morph_weights;
  }

  const RestView& view_;
  const Pose& pose_;
  Scratch scratch_;
  DeformJob job_{};
  skinning::Batch batch_{};
  bvh::TreeView tree_{};
  bvh::Packet packet_;
  alignas(64) float bent_[3 * kBlockVertices];
  std::int32_t morph_first_[kCorners + 1];
};

}  // namespace bunraku::BUNRAKU_LEVEL::posed
