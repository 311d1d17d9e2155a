import Glibc

/// The descriptors 0, 1 and 2, which a parent process may have closed.
enum StandardDescriptors {
    /// Puts something that can be neither read nor written, as each needs, in place of the closed ones. Otherwise the
    /// next socket or file that is opened would take the number, and be read as input or written over with output.
    static func reserve() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is this one. Safe: the path is a C string for the call.
            _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
