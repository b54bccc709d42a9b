// The twin of stop_source.pml whose deregister() waits for the callback inside the callback too, and
// so for ever.

#define DEREGISTER_WAITS_INSIDE
#include "stop_source.pml"
