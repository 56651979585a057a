#include "bind/module.hpp"

#include <cstdlib>

#include "cpu.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace neardup {

NB_MODULE(_core, module) {
    module.doc() = "The compiled core: columns of numbers in, columns of numbers out.";

    nb::enum_<Cpu>(module, "Cpu")
        .value("baseline", Cpu::baseline)
        .value("avx2", Cpu::avx2)
        .value("avx512", Cpu::avx512);
    module.def("best_cpu", &best_cpu, "The best level this machine has.");
    module.def(
        "force_cpu",
        [](Cpu level) {
            if (level > best_cpu()) throw nb::value_error("this machine does not have that instruction set");
            current_cpu().store(level);
        },
        "level"_a, "For tests: run every kernel at this level from now on.");
    module.def(
        "release_unused_memory",
        [] {
#if defined(__GLIBC__)
            const nb::gil_scoped_release release;
            malloc_trim(0);
#endif
        },
        "Give freed memory back to the system, where the C library keeps it for later.");

    bind_text(module);
    bind_prints(module);
    bind_search(module);
    bind_join(module);
    bind_segments(module);
    bind_sorted(module);
    bind_stages(module);
    bind_repeats(module);
    bind_shared(module);
    bind_changes(module);
}

}  // namespace neardup
