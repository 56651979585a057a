#include "bind.hpp"

namespace neardup {

void bind_prints(nb::module_&) {}

}  // namespace neardup
