#include <eddy/async/detail/nursery_body.hpp>
#include <eddy/async/detail/nursery_waits_body.hpp>
