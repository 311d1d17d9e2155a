#include "CKymographLinux.h"
