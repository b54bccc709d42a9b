// pollset_handover.three.pml with a worker that looks at the kernel between closures, once at most; each thread
// calls work() once.
// cc: -O2

#define LOOKS(w) ((w) == 0)
#define ROUNDS(w) 1
#include "pollset_handover.three.pml"
