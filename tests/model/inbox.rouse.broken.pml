// The twin of inbox.pml that looks whether it is still parked and then says that it is awake, in two
// steps: what is pushed in between is lost.

#define ROUSE_WITHOUT_COMPARE
#include "inbox.pml"
