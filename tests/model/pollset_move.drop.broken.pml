// The twin of pollset_move.pml that drops a station while a worker is in it.

#define DROPS_WHAT_IS_IN_USE
#include "pollset_move.pml"
