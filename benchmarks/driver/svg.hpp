// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <string>

namespace bench {

/// The few shapes that the plot needs.
class svg {
public:
    enum class anchor { start, middle, end };

    void rectangle(double x, double y, double width, double height, const std::string& fill,
                   const std::string& more = "");
    void line(double x1, double y1, double x2, double y2, const std::string& stroke,
              double width = 1);
    void text(double x, double y, const std::string& what, int size, const std::string& fill,
              anchor at = anchor::start, bool bold = false);

    std::string document(double width, double height) const;

private:
    std::ostringstream shapes_;
};

}  // namespace bench
