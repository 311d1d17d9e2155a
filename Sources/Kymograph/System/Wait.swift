import Glibc

/// Puts the calling thread to sleep.
enum Wait {
    static func milliseconds(_ count: Int) {
        usleep(UInt32(max(0, count)) * 1_000)
    }

    static func microseconds(_ count: Int) {
        usleep(UInt32(max(0, count)))
    }
}
