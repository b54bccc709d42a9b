// pollset_handover.pml with a pollset for each worker; that of worker 2 holds no handle.
// cc: -O2

#define SET_OF(w) (w)
#include "pollset_handover.pml"
