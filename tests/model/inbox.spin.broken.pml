// The twin of inbox.pml that goes from spinning to sleeping without saying so: what is pushed then
// wakes nobody.

#define SLEEP_AFTER_SPIN
#include "inbox.pml"
