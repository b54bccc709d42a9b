#include <eddy/async/detail/spawn_body.hpp>
