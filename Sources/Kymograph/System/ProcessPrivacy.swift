import CKymographLinux
import Glibc

/// What others on this machine get to see of a process that holds readings of patients.
package enum ProcessPrivacy {
    /// From here on a crash leaves no core file, nor tells a handler such as systemd-coredump what the memory held, and
    /// other processes of this user can neither trace this one nor read its memory (prctl(2), PR_SET_DUMPABLE).
    package static func forbidCoreDumps() {
        limitCoreFiles { _ in 0 }
        kymo_set_dumpable(0)
    }

    /// Core files as large as the system allows, and tracing: for finding the cause of a crash.
    package static func allowCoreDumps() {
        limitCoreFiles { $0.rlim_max }
        kymo_set_dumpable(1)
    }

    /// From here on files are the owner's alone, unless they are given permissions of their own.
    package static func keepFilesPrivate() { umask(0o077) }

    /// From here on SQLite, when it needs room to sort, has it in `directory`, and not in one that all users have.
    package static func keepTemporaryFiles(in directory: String) {
        // Safe: Swift lends both texts for the call, which copies them.
        unsafe setenv("SQLITE_TMPDIR", directory, 1)
    }

    /// The limit is the second obstacle: handlers of core files are asked whatever it is.
    private static func limitCoreFiles(_ size: (rlimit) -> rlim_t) {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_CORE.rawValue)
        // Safe: the struct is ours.
        guard unsafe getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = size(limit)
        _ = unsafe setrlimit(resource, &limit)
    }
}
