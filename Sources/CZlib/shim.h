#include <zlib.h>

/// deflateInit2 is a macro, which Swift cannot call. A window of 15 bits, and 16 more to ask for a gzip header.
static inline int kymo_gzip_begin(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

/// inflateInit2 is a macro, too. A window of 15 bits, and 16 more for nothing but gzip.
static inline int kymo_gunzip_begin(z_stream *stream) {
    return inflateInit2(stream, 15 + 16);
}

/// A window of 15 bits, and neither header nor trailer.
static inline int kymo_inflate_begin(z_stream *stream) {
    return inflateInit2(stream, -15);
}
