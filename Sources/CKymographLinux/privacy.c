#include "CKymographLinux.h"

#include <sys/prctl.h>

void kymo_set_dumpable(int dumpable) { prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0); }
