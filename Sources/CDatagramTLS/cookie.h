#ifndef KYMO_COOKIE_H
#define KYMO_COOKIE_H

#include "CDatagramTLS.h"

enum { cookie_bytes = 16 };

/// What a client at `sender` has to send back, to show that it receives what is sent there: 1 when there is one.
int kymo_cookie_make(struct kymo_endpoint sender, uint8_t cookie[cookie_bytes]);
/// Whether `cookie` is one that was sent to `sender` within the last minute, or the one before.
int kymo_cookie_is_good(struct kymo_endpoint sender, const uint8_t *cookie, size_t count);

#endif
