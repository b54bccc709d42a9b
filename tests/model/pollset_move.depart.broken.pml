// The twin of pollset_move.pml whose workers go elsewhere without a word: one that was called to poll
// finds that its pollset has moved out, and others sleep on. It takes four workers.
// cc: -O2

#define DEPARTS_SILENTLY
#define WORKERS 4
#define SET_OF(w) ((w) / 2)
#include "pollset_move.pml"
