#include "bind/module.hpp"

#include "cpu.hpp"

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
