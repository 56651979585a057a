#include "bind.hpp"

namespace neardup {

void bind_search(nb::module_&) {}

}  // namespace neardup
