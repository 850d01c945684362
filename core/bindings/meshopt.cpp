#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace bunraku {

void bind_meshopt(nb::module_&) {}

}  // namespace bunraku
