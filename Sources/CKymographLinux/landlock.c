// O_PATH.
#define _GNU_SOURCE
#include "CKymographLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// As linux/landlock.h has it; that of Debian 12 lacks what later kernels can do. The numbers of the calls are the same on
// all processors.
enum { CREATE = 444, ADD_RULE = 445, RESTRICT_SELF = 446, VERSION_FLAG = 1, PATH_BENEATH = 1 };
enum {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    REMOVE_DIR = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_CHAR = 1 << 6,
    MAKE_DIR = 1 << 7,
    MAKE_REG = 1 << 8,
    MAKE_SOCK = 1 << 9,
    MAKE_FIFO = 1 << 10,
    MAKE_BLOCK = 1 << 11,
    MAKE_SYM = 1 << 12,
    REFER = 1 << 13,
    TRUNCATE = 1 << 14,
};

struct path_beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

/// What the kernel can forbid, of `rights`.
static uint64_t known(uint64_t rights) {
    return kymo_landlock_version() < 3 ? rights & ~(uint64_t)TRUNCATE : rights;
}

int kymo_landlock_version(void) {
    long version = syscall(CREATE, NULL, 0, VERSION_FLAG);
    // The first one forbids to move files from one folder to another, wherever they are.
    return version < 2 ? 0 : (int)version;
}

int kymo_landlock_new(void) {
    uint64_t handled = known(
        EXECUTE | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_CHAR | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO |
            MAKE_BLOCK | MAKE_SYM | REFER | TRUNCATE);
    long rules = syscall(CREATE, &handled, sizeof handled, 0);
    return rules < 0 ? -errno : (int)rules;
}

int kymo_landlock_allow(int rules, const char *path, int everything) {
    uint64_t rights = WRITE_FILE | TRUNCATE;
    if (everything) rights |= REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | REFER;
    struct path_beneath rule = {.allowed = known(rights)};
    rule.parent = open(path, O_PATH | O_CLOEXEC);
    if (rule.parent < 0) return -errno;
    int code = syscall(ADD_RULE, rules, PATH_BENEATH, &rule, 0) ? -errno : 0;
    close(rule.parent);
    return code;
}

int kymo_landlock_enter(int rules) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -errno;
    return syscall(RESTRICT_SELF, rules, 0) ? -errno : 0;
}
