#include "bind.hpp"

namespace neardup {

void bind_join(nb::module_&) {}

}  // namespace neardup
