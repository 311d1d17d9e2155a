import CKymographLinux
import Glibc
import KymographCore

/// Two connected sockets within the process: a lane reads the one, and threads of the program have the other.
struct SocketPair: Sendable {
    /// For the lane, non-blocking.
    let lane: Descriptor
    /// For the program, blocking.
    let program: Descriptor

    /// Connects two sockets; `name` is who needs them, for messages.
    ///
    /// - Throws: ``SourceError`` when the process has no descriptor left.
    init(for name: String) throws(SourceError) {
        var ends: [Int32] = [-1, -1]
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
        // Safe: the array has two places, as the call wants.
        guard unsafe socketpair(AF_UNIX, Int32(type), 0, &ends) == 0 else { throw .system(errno, "open", name) }
        lane = Descriptor(ends[0])
        program = Descriptor(ends[1])
        guard fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 else { throw .system(errno, "open", name) }
    }

    /// Wakes the lane.
    func wakeLane() {
        // A lane that has gone hears nothing, and a full socket wakes it already.
        _ = FileSystem.send(program.raw, ByteView("\n"))
    }

    /// Waits for bytes from the lane; how many came, and 0 when it has gone.
    func receive() -> Int {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            // Safe: the array has as many bytes as the call is told.
            let size = unsafe read(program.raw, &bytes, bytes.count)
            if size < 0 && errno == EINTR { continue }
            return max(size, 0)
        }
    }

    /// Adds what has come from the lane to `bytes`, without waiting; false when the lane has gone.
    func take(into bytes: inout [UInt8]) -> Bool {
        var room = [UInt8](repeating: 0, count: 4_096)
        while true {
            // Safe: the array has as many bytes as the call is told.
            let size = unsafe recv(program.raw, &room, room.count, Int32(MSG_DONTWAIT))
            if size < 0 { return errno == EAGAIN || errno == EINTR }
            guard size > 0 else { return false }
            bytes += room[..<size]
        }
    }

    /// Makes ``receive()`` give what has come, and then 0.
    func hangUp() { _ = shutdown(program.raw, Int32(SHUT_RDWR)) }
}
