// SPDX-License-Identifier: Apache-2.0
#include <eddy/base/version.hpp>

namespace eddy {

std::string_view version() noexcept { return EDDY_VERSION; }

}  // namespace eddy
