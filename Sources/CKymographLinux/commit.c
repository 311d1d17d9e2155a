#include "CKymographLinux.h"

#include <gnu/libc-version.h>

#define TEXT(tokens) #tokens
#define TEXT_OF(macro) TEXT(macro)

#ifndef KYMO_COMMIT
#define KYMO_COMMIT
#endif

const char *kymo_commit(void) { return TEXT_OF(KYMO_COMMIT); }

const char *kymo_libc_version(void) { return gnu_get_libc_version(); }
