// The twin of pollset_kick.pml whose worker says that it polls when it has let go of the lock: a kick that
// comes before that rings nothing.

#define POLLING_IS_SAID_LATE
#include "pollset_kick.pml"
