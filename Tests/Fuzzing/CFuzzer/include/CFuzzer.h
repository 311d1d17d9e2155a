#pragma once

#include <stddef.h>
#include <stdint.h>

/// libFuzzer, without a `main` of its own: runs what `argv` asks for, and gives `callback` each input.
int LLVMFuzzerRunDriver(int *_Nonnull argc, char *_Nullable *_Nonnull *_Nonnull argv,
                        int (*_Nonnull callback)(const uint8_t *_Nullable data, size_t size));

/// How far a handshake by DTLS has come when a stranger's datagrams come in between.
enum fuzz_dtls_stage { fuzz_dtls_listening, fuzz_dtls_shaking, fuzz_dtls_established };
/// Begins with a new client at `stage`, that of the input before having ended: null, or why there is none.
const char *_Nullable fuzz_dtls_begin(enum fuzz_dtls_stage stage);
/// Gives the server a datagram, which is a copy that nothing else uses: null, or what must not happen and has.
const char *_Nullable fuzz_dtls_give(const uint8_t *_Nullable bytes, size_t count);
/// The same of what the client sends behind all that, at the last stage.
const char *_Nullable fuzz_dtls_end(void);
