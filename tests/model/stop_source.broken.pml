// The twin of stop_source.pml whose deregister() does not wait for a callback that another thread is
// running: the callback goes on in an object that its owner has destroyed.

#define DEREGISTER_DOES_NOT_WAIT
#include "stop_source.pml"
