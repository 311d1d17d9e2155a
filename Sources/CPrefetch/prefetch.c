// A target needs a source file; the function is in the header, so that it is inlined.
#include "CPrefetch.h"
