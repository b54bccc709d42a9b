// The twin of pollset_kick.pml whose kick_any takes a worker that was kicked already: the second one stays.

#define KICKS_THE_KICKED
#include "pollset_kick.pml"
