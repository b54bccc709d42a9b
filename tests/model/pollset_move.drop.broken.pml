// The twin of pollset_move.pml that drops a station while a worker is in it.
// cc: -O2

#define DROPS_WHAT_IS_IN_USE
#include "pollset_move.pml"
