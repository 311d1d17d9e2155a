import Glibc

/// Starts programs by `posix_spawn`: only the three standard descriptors are passed on, and no signal is blocked.
enum Spawn {
    /// Starts `words[0]` in `directory`, by way of a shell; returns its process id.
    static func start(
        _ words: [String], environment: [String], directory: String?, descriptors: [Int32]
    ) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in descriptors.enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
        }
        // Descriptors that other tests have open must not live on in here; one that is not open is no error.
        for descriptor in Int32(3)..<512 { unsafe posix_spawn_file_actions_addclose(&actions, descriptor) }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        resetSignals(&attributes)
        var pid: pid_t = 0
        let inDirectory = directory.map { ["/bin/sh", "-c", "cd -- \"$0\" && exec \"$@\"", $0] } ?? []
        let code = unsafe withCStrings(inDirectory + words) { words in
            unsafe withCStrings(environment) { environment in
                guard let program = unsafe words[0] else { return EINVAL }
                return unsafe posix_spawnp(&pid, program, &actions, &attributes, words, environment)
            }
        }
        guard code == 0 else { throw WaitError(description: "cannot start \(words[0]): errno \(code)") }
        return pid
    }

    /// Threads of the tests may block or ignore signals; programs must not inherit that.
    private static func resetSignals(_ attributes: inout posix_spawnattr_t) {
        var none = sigset_t()
        unsafe sigemptyset(&none)
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    }

    /// Lends `texts` as a C array that ends with null.
    private static func withCStrings(
        _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
    ) -> Int32 {
        var pointers = unsafe texts.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return EINVAL }
            return unsafe body(base)
        }
    }
}
