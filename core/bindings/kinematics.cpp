#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace bunraku {

void bind_kinematics(nb::module_&) {}

}  // namespace bunraku
