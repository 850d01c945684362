#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace bunraku {

void bind_sampling(nb::module_&) {}

}  // namespace bunraku
