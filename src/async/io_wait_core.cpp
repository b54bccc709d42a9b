#include <eddy/async/detail/io_wait_core_body.hpp>
