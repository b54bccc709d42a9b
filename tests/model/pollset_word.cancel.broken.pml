// The twin of pollset_word.pml whose cancellation also drops a closure that is due: it says that it will be
// called, and nobody calls it.

#define CANCEL_DROPS_WHAT_IS_DUE
#include "pollset_word.pml"
