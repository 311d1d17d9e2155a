import Glibc
import KymographCore

/// Who runs this process.
enum ProcessAgent {
    /// `process 4711 (user 0, login 1000)`: the user whose rights it has, and the one who logged in, where the kernel
    /// knows that one (proc_pid_loginuid(5)).
    static var text: String {
        let login = loginUser.map { ", login \($0)" } ?? ""
        return "process \(getpid()) (user \(geteuid())\(login))"
    }

    private static var loginUser: UInt32? {
        let raw = FileSystem.open("/proc/self/loginuid", O_RDONLY)
        guard raw >= 0 else { return nil }
        let file = Descriptor(raw)
        guard let bytes = FileSystem.read(file.raw, limit: 32) else { return nil }
        let digits = String(decoding: bytes, as: UTF8.self).filter(\.isNumber)
        // What the kernel says of processes that no login has started.
        return UInt32(digits).flatMap { $0 == .max ? nil : $0 }
    }
}
