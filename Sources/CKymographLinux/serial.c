#define _GNU_SOURCE
#include "CKymographLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

// Serial lines. (Speeds are macros.)

static const struct {
    int speed;
    speed_t code;
} speeds[] = {
    {300, B300},         {600, B600},         {1200, B1200},       {2400, B2400},       {4800, B4800},
    {9600, B9600},       {19200, B19200},     {38400, B38400},     {57600, B57600},     {115200, B115200},
    {230400, B230400},   {460800, B460800},   {500000, B500000},   {576000, B576000},   {921600, B921600},
    {1000000, B1000000}, {1152000, B1152000}, {1500000, B1500000}, {2000000, B2000000}, {3000000, B3000000},
};

/// The place of `speed` in the table, or -1.
static int place_of(int speed) {
    for (int i = 0; i < (int)(sizeof speeds / sizeof *speeds); i++)
        if (speeds[i].speed == speed) return i;
    return -1;
}

int kymo_serial_has_speed(int speed) {
    return place_of(speed) >= 0;
}

static int set_line(int fd, int speed, int data_bits, int parity, int stop_bits) {
    static const tcflag_t sizes[] = {CS5, CS6, CS7, CS8};
    struct termios line;
    int place = place_of(speed);
    if (place < 0 || data_bits < 5 || data_bits > 8) return -EINVAL;
    if (tcgetattr(fd, &line) < 0) return -errno;
    cfmakeraw(&line);
    line.c_cflag &= ~(tcflag_t)(CSIZE | PARENB | PARODD | CSTOPB | CRTSCTS);
    line.c_cflag |= CLOCAL | CREAD | sizes[data_bits - 5];
    if (parity != 'N') line.c_cflag |= PARENB;
    if (parity == 'O') line.c_cflag |= PARODD;
    if (stop_bits == 2) line.c_cflag |= CSTOPB;
    // A read that gives nothing then means that the line has gone, and not that nothing waits.
    line.c_cc[VMIN] = 1;
    line.c_cc[VTIME] = 0;
    if (cfsetispeed(&line, speeds[place].code) < 0 || cfsetospeed(&line, speeds[place].code) < 0) return -errno;
    if (tcsetattr(fd, TCSANOW, &line) < 0) return -errno;
    return tcflush(fd, TCIFLUSH) < 0 ? -errno : 0;
}

int kymo_serial_open(const char *path, int speed, int data_bits, int parity, int stop_bits) {
    int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return -errno;
    int error = isatty(fd) ? 0 : -ENOTTY;
    // The lock is for programs that lock as well, the exclusive mode for all others.
    if (!error && (flock(fd, LOCK_EX | LOCK_NB) < 0 || ioctl(fd, TIOCEXCL) < 0)) error = -errno;
    if (!error) error = set_line(fd, speed, data_bits, parity, stop_bits);
    if (!error) return fd;
    close(fd);
    return error;
}
