#include "bind.hpp"

namespace neardup {

void bind_segments(nb::module_&) {}

}  // namespace neardup
