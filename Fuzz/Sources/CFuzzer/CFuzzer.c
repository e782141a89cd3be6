// A target of C needs a source; all that there is to say stands in the header.
#include "CFuzzer.h"
