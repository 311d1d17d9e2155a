#include <zlib.h>

/// deflateInit2 is a macro, which Swift cannot call. A window of 15 bits, and 16 more to ask for a gzip header.
static inline int kymo_gzip_begin(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
