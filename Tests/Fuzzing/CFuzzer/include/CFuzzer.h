#pragma once

#include <stddef.h>
#include <stdint.h>

/// libFuzzer, without a `main` of its own: runs what `argv` asks for, and gives `callback` each input.
int LLVMFuzzerRunDriver(int *_Nonnull argc, char *_Nullable *_Nonnull *_Nonnull argv,
                        int (*_Nonnull callback)(const uint8_t *_Nullable data, size_t size));
