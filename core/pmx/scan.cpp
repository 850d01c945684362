#include "pmx/cursor.hpp"

namespace bunraku::pmx {
namespace {

// Bits of a bone's flags that say which fields follow.
constexpr std::int64_t tail_is_bone = 0x0001, ik = 0x0020, appends = 0x0300, fixed_axis = 0x0400,
                       local_axes = 0x0800, external_parent = 0x2000;
constexpr std::int64_t vec3 = 12, vec4 = 16, single = 4;

class Walk {
 public:
  Walk(Bytes data, std::int64_t start, const Sizes& sizes) : cursor_(data, start), sizes_(sizes) {}

  Scan all(std::int64_t additional_uvs, bool soft_bodies) {
    starts(0);
    vertices(additional_uvs);
    starts(1);
    faces();
    starts(2);
    list("texture", 4, out_.textures, [this](const Place& here) { texture(here); });
    starts(3);
    list("material", 80, out_.materials, [this](const Place& here) { material(here); });
    starts(4);
    list("bone", 27, out_.bones, [this](const Place& here) { bone(here); });
    starts(5);
    list("morph", 14, out_.morphs, [this](const Place& here) { morph(here); });
    starts(6);
    list("display frame", 13, out_.frames, [this](const Place& here) { frame(here); });
    starts(7);
    list("rigid body", 69, out_.bodies, [this](const Place& here) { body(here); });
    starts(8);
    list("joint", 107, out_.joints, [this](const Place& here) { joint(here); });
    starts(9);
    if (soft_bodies) list("soft body", 142, out_.soft_bodies, [this](const Place& here) { soft_body(here); });
    starts(10);
    return std::move(out_);
  }

 private:
  void starts(std::size_t list) { out_.starts[list] = cursor_.at(); }

  std::int64_t counted(std::int64_t minimum, const Place& count, const Place& list) {
    const std::int64_t declared = cursor_.i32(count);
    return cursor_.fits(declared, minimum, list);
  }

  template <class Record>
  void list(const char* kind, std::int64_t minimum, Marks& marks, Record record) {
    const std::int64_t count = counted(minimum, {kind, -1, "count"}, {kind, -1, "list"});
    marks.at.reserve(static_cast<std::size_t>(count) * marks.width);
    for (std::int64_t i = 0; i < count; ++i) record(Place{kind, i});
  }

  // The two names every record begins with, and its fields.
  void named(Marks& marks, std::int64_t fields, const Place& here) {
    marks.at.push_back(cursor_.text(here));
    marks.at.push_back(cursor_.text(here));
    marks.at.push_back(cursor_.take(fields, here));
  }

  void part(Marks& marks, bool there, std::int64_t length, const Place& here) {
    marks.at.push_back(there ? cursor_.take(length, here) : -1);
  }

  void vertices(std::int64_t additional_uvs) {
    const std::int64_t before = 2 * vec3 + 8 + vec4 * additional_uvs;  // of the deform type
    const std::int64_t bone = sizes_.bone;
    const std::int64_t payloads[] = {bone, 2 * bone + single, 4 * bone + vec4, 2 * bone + single + 3 * vec3,
                                     4 * bone + vec4};
    const std::int64_t count = counted(before + 1 + bone + single, {"vertex count"}, {"vertices"});
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t start = cursor_.at();
      if (cursor_.left() <= before) cursor_.fail(start, {"vertex", i}, "the file ends within it");
      cursor_.take(before, {"vertex", i});
      const std::int64_t deform = cursor_.u8({"vertex", i});
      if (deform > 4) {
        cursor_.fail(cursor_.at() - 1, {"vertex", i, "deform type"}, "expected 0..4, found " + std::to_string(deform));
      }
      const std::int64_t rest = payloads[deform] + single;
      if (cursor_.left() < rest) cursor_.fail(start, {"vertex", i}, "the file ends within it");
      cursor_.take(rest, {"vertex", i});
      out_.sdef_count += deform == 3;
    }
    out_.vertex_count = count;
  }

  void faces() {
    const std::int64_t start = cursor_.at(), count = cursor_.i32({"index count"});
    if (count % 3) cursor_.fail(start, {"index count"}, "expected a multiple of 3, found " + std::to_string(count));
    cursor_.take(count * sizes_.vertex, {"faces"});
  }

  void texture(const Place& here) {
    out_.textures.at.push_back(cursor_.text(here));
    out_.textures.at.push_back(cursor_.at());
  }

  void material(const Place& here) {
    named(out_.materials, 16 * single + 1 + 2 * sizes_.texture + 1, here);
    const bool shared = cursor_.flag({"material", here.record, "shared toon"});
    part(out_.materials, true, shared ? 1 : sizes_.texture, here);
    out_.materials.at.push_back(cursor_.text(here));
    part(out_.materials, true, 4, here);
  }

  void bone(const Place& here) {
    named(out_.bones, vec3 + sizes_.bone + 4, here);
    const std::int64_t flags = cursor_.integer(2, false, here);
    const bool to_bone = flags & tail_is_bone;
    part(out_.bones, to_bone, sizes_.bone, here);
    part(out_.bones, !to_bone, vec3, here);
    part(out_.bones, flags & appends, sizes_.bone + single, here);
    part(out_.bones, flags & fixed_axis, vec3, here);
    part(out_.bones, flags & local_axes, 2 * vec3, here);
    part(out_.bones, flags & external_parent, 4, here);
    part(out_.bones, flags & ik, sizes_.bone + 4 + single, here);
    if (!(flags & ik)) return;
    const Place count{"bone", here.record, "IK link", -1, "count"}, list{"bone", here.record, "IK link", -1, "list"};
    const std::int64_t links = counted(1 + sizes_.bone, count, list);
    for (std::int64_t i = 0; i < links; ++i) {
      const Place link{"bone", here.record, "IK link", i};
      part(out_.links, true, sizes_.bone, link);
      part(out_.links, cursor_.flag({"bone", here.record, "IK link", i, "limit flag"}), 2 * vec3, link);
    }
  }

  void morph(const Place& here) {
    named(out_.morphs, 1, here);
    const std::int64_t kind = cursor_.u8(here);
    const std::int64_t sizes[] = {
        sizes_.morph + single,     // group
        sizes_.vertex + vec3,      // vertex
        sizes_.bone + vec3 + vec4, // bone
        sizes_.vertex + vec4,      // UV, and four additional ones
        sizes_.vertex + vec4, sizes_.vertex + vec4, sizes_.vertex + vec4, sizes_.vertex + vec4,
        sizes_.material + 1 + 28 * single,
        sizes_.morph + single,     // flip
        sizes_.body + 1 + 2 * vec3 // impulse
    };
    if (kind > 10) {
      cursor_.fail(cursor_.at() - 1, {"morph", here.record, "kind"}, "expected 0..10, found " + std::to_string(kind));
    }
    const std::int64_t count = cursor_.i32(here);
    cursor_.take(count * sizes[kind], {"morph", here.record, "offsets"});
  }

  void frame(const Place& here) {
    named(out_.frames, 1, here);
    const std::int64_t count = counted(2, here, {"display frame", here.record, "elements"});
    for (std::int64_t i = 0; i < count; ++i) {
      const bool is_morph = cursor_.flag({"display frame", here.record, "element kind"});
      out_.elements.at.push_back(is_morph);
      out_.elements.at.push_back(cursor_.integer(is_morph ? sizes_.morph : sizes_.bone, true, here));
    }
  }

  void body(const Place& here) { named(out_.bodies, sizes_.bone + 4 + 3 * vec3 + 5 * single + 1, here); }

  void joint(const Place& here) { named(out_.joints, 1 + 2 * sizes_.body + 8 * vec3, here); }

  void soft_body(const Place& here) {
    named(out_.soft_bodies, 1 + sizes_.material + 4 + 2 * 4 + 2 * single + 4 + 18 * single + 4 * 4 + vec3, here);
    out_.soft_bodies.at.push_back(cursor_.at());
    const std::int64_t anchors = cursor_.i32(here);
    cursor_.take(anchors * (sizes_.body + sizes_.vertex + 1), {"soft body", here.record, "anchors"});
    out_.soft_bodies.at.push_back(cursor_.at());
    const std::int64_t pins = cursor_.i32(here);
    cursor_.take(pins * sizes_.vertex, {"soft body", here.record, "pins"});
  }

  Cursor cursor_;
  Sizes sizes_;
  Scan out_;
};

}  // namespace

Scan scan(Bytes data, std::int64_t start, std::int64_t additional_uvs, const Sizes& sizes, bool soft_bodies) {
  for (const std::int64_t size : {sizes.vertex, sizes.texture, sizes.material, sizes.bone, sizes.morph, sizes.body}) {
    if (size != 1 && size != 2 && size != 4) {
      throw std::invalid_argument("an index of " + std::to_string(size) + " bytes, expected 1, 2 or 4");
    }
  }
  if (additional_uvs < 0 || additional_uvs > 4) {
    throw std::invalid_argument(std::to_string(additional_uvs) + " additional UVs, expected 0 to 4");
  }
  return Walk(data, start, sizes).all(additional_uvs, soft_bodies);
}

}  // namespace bunraku::pmx
