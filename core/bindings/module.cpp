#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "gate.hpp"
#include "level.hpp"
#include "threads.hpp"

namespace nb = nanobind;

namespace bunraku {
void bind_kinematics(nb::module_& m);
void bind_meshopt(nb::module_& m);
void bind_pmx(nb::module_& m);
void bind_posed(nb::module_& m);
void bind_query(nb::module_& m);
void bind_rig(nb::module_& m);
void bind_rotation(nb::module_& m);
void bind_sampling(nb::module_& m);
void bind_sdef(nb::module_& m);
void bind_skinning(nb::module_& m);
void bind_springs(nb::module_& m);
}  // namespace bunraku

NB_MODULE(_core, m) {
  using namespace bunraku;
  // Trees and rigs that caches still hold when the interpreter ends are no leaks to report.
  nb::set_leak_warnings(false);
  numpy::array_type();  // while an import may still fail
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    const auto raise = [](const char* message) {
      PyErr_SetString(nb::object(nb::module_::import_("bunraku.errors").attr("RigError")).ptr(), message);
    };
    try {
      std::rethrow_exception(thrown);
    } catch (const RigError& error) {
      raise(error.what());
    } catch (const Torn&) {
      raise("tree: was being refitted when this process was forked; refit it before asking");
    }
  });
  const std::string active{name(active_level())};  // a bad BUNRAKU_ISA fails the import, loudly

  m.def("level", [active] { return active; }, "Instruction set the kernels run at.");
  m.def("available_levels", [] {
    std::vector<std::string> names;
    for (const Level level : available_levels()) names.emplace_back(name(level));
    return names;
  }, "Instruction sets this processor can run, lowest first.");
  m.def("thread_count", &thread_count, "Threads a large job is spread over.");
  m.def("set_thread_count", &set_thread_count, nb::arg("count"),
        "Spread large jobs over this many threads; 0 returns to the default.");

  nb::module_ kinematics = m.def_submodule("kinematics");
  bind_kinematics(kinematics);
  nb::module_ meshopt = m.def_submodule("meshopt");
  bind_meshopt(meshopt);
  nb::module_ pmx = m.def_submodule("pmx");
  bind_pmx(pmx);
  nb::module_ query = m.def_submodule("query");
  bind_query(query);
  nb::module_ rig = m.def_submodule("rig");
  bind_rig(rig);
  nb::module_ rotation = m.def_submodule("rotation");
  bind_rotation(rotation);
  nb::module_ sampling = m.def_submodule("sampling");
  bind_sampling(sampling);
  nb::module_ sdef = m.def_submodule("sdef");
  bind_sdef(sdef);
  nb::module_ skinning = m.def_submodule("skinning");
  bind_skinning(skinning);
  nb::module_ springs = m.def_submodule("springs");
  bind_springs(springs);
  nb::module_ posed = m.def_submodule("posed");  // takes the rigs of skinning
  bind_posed(posed);
}
