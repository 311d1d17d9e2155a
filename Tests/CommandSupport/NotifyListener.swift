import CKymographLinux
import Glibc

/// What a service manager hears: a Unix socket of datagrams, as sd_notify(3) of systemd has it.
package final class NotifyListener {
    /// Where the socket is.
    package enum Place: CaseIterable, Sendable {
        case file
        case abstractName
    }

    /// The value of `NOTIFY_SOCKET`.
    package let name: String
    private let descriptor: Int32
    private let folder = TemporaryFolder()
    /// What came, one element a datagram.
    private var heard: [String] = []

    package init(_ place: Place) throws {
        let path = folder.file("notify")
        name = place == .file ? path : "@kymo-test\(path)"
        descriptor = kymo_unix_open(Int32(SOCK_DGRAM.rawValue))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if place == .abstractName { bytes[0] = 0 }
        // Safe: a name of a test's folder is shorter than sun_path.
        let result = unsafe withUnsafeMutableBytes(of: &address) { storage in
            let start = storage.count - 108
            for (index, byte) in bytes.enumerated() { unsafe storage[start + index] = byte }
            let length = socklen_t(start + bytes.count)
            return unsafe storage.withMemoryRebound(to: sockaddr.self) {
                unsafe bind(descriptor, $0.baseAddress, length)
            }
        }
        guard result == 0 else { throw WaitError(description: "cannot bind \(name): errno \(errno)") }
    }

    deinit { close(descriptor) }

    /// All that came up to now, one element a datagram.
    package func datagrams() -> [String] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
            guard count >= 0 else { return heard }
            heard.append(String(decoding: buffer[..<count], as: UTF8.self))
        }
    }

    /// The assignments that came up to now, such as `READY=1`, in their order.
    package func assignments() -> [String] { datagrams().flatMap { $0.split(separator: "\n").map(String.init) } }

    /// How often `assignment` came up to now.
    package func count(_ assignment: String) -> Int { assignments().count { $0 == assignment } }

    /// Waits until `assignment` has come `times` times.
    package func wait(for assignment: String, times: Int = 1) throws {
        try Waiting.until("\(times) times \(assignment) in \(assignments())") { count(assignment) >= times }
    }
}
