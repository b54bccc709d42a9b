// The twin of pollset_sentry.pml in which one who was called away is still taken for the sentry: nobody is called, and
// nobody will look.

#define IS_CALLED_AND_WATCHES
#include "pollset_sentry.pml"
