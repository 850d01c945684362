#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace bunraku {

void bind_skinning(nb::module_&) {}

}  // namespace bunraku
