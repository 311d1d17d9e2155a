#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CFuzzer.h"

// Records that strangers make up, for a test that compiles no libFuzzer: strangers SEED INPUTS. Says "right", or what
// must not happen and has, with the datagram.

enum { head = 13, message_head = 12, longest = 120 };

static unsigned below(unsigned count) { return (unsigned)random() % count; }

/// Makes the head of a record of `length` bytes, of a handshake message if it is one.
static void make_record(uint8_t *record, unsigned length) {
    const uint8_t start[] = {(uint8_t)(20 + below(4)), 0xFE, below(4) ? 0xFD : 0xFF, 0, (uint8_t)below(2)};
    memset(record, 0, head);
    memcpy(record, start, sizeof start);
    record[10] = (uint8_t)below(40);
    record[12] = (uint8_t)length;
    if (record[0] != 22 || length <= message_head) return;
    uint8_t *message = record + head;
    memset(message, 0, message_head);
    message[0] = (uint8_t)(below(3) ? 1 : below(21));
    message[3] = message[11] = (uint8_t)(length - message_head);
    message[5] = (uint8_t)below(3);
}

static const char *give_one(void) {
    unsigned length = below(longest), place = 0;
    // Of its own, so that who reads beyond it is found.
    uint8_t *bytes = malloc(length + (length == 0));
    for (unsigned index = 0; index < length; index++) bytes[index] = (uint8_t)random();
    while (place + head < length && below(8)) {
        unsigned rest = below(length - place - head + 1);
        make_record(bytes + place, rest);
        place += head + rest;
    }
    const char *fault = fuzz_dtls_give(bytes, length);
    for (unsigned index = 0; fault && index < length; index++) printf("%02x", bytes[index]);
    free(bytes);
    return fault;
}

int main(int count, char **arguments) {
    if (count != 3) return 64;
    srandom((unsigned)strtoul(arguments[1], NULL, 10));
    int inputs = atoi(arguments[2]);
    for (int input = 0; input < inputs; input++) {
        enum fuzz_dtls_stage stage = (enum fuzz_dtls_stage)(input % 3);
        const char *fault = fuzz_dtls_begin(stage);
        for (unsigned left = 1 + below(4); left > 0 && !fault; left--) fault = give_one();
        if (!fault) fault = fuzz_dtls_end();
        if (fault) return printf("\ninput %d at stage %d: %s\n", input, (int)stage, fault), 1;
    }
    puts("right");
    return 0;
}
