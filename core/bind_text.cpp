#include "bind.hpp"

namespace neardup {

void bind_text(nb::module_&) {}

}  // namespace neardup
