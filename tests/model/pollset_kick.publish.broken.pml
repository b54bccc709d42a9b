// The twin of pollset_kick.pml whose worker is inside only after the lent lock is free: a kick under that lock
// finds nobody.

#define UNLOCKS_FIRST
#include "pollset_kick.pml"
