// The twin of pollset_sentry.pml whose sentry sleeps until it is called: what is left waits for a closure that blocks.
// cc: -O2

#define SLEEPS_ON_WATCH
#include "pollset_sentry.pml"
