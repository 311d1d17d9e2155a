#ifndef KYMO_SECRET_H
#define KYMO_SECRET_H

#include "CSeal.h"

enum { key_bytes = 32 };

struct kymo_secret {
    /// The key, and room for its digits while they are read.
    uint8_t bytes[2 * key_bytes + 2];
};

#endif
