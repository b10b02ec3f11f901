// What test programs share is the precompiled header that is made with this file.
#include "support/catch.h"
