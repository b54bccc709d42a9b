// SPDX-License-Identifier: Apache-2.0

// Returns the version with which the library was built.
#include <eddy/base/version.hpp>

namespace eddy {

std::string_view version() noexcept { return EDDY_VERSION; }

}  // namespace eddy
