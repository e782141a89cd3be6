// A C target needs a source file; the declarations are in the header.
#include "CFuzzer.h"
