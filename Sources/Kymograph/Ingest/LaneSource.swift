import CKymographLinux
import Glibc

/// One opened source of a lane.
struct LaneSource: Sendable {
    let configuration: SourceConfiguration
    /// What was opened, with the port that the kernel chose.
    let boundKind: SourceKind
    /// The socket, or a copy of the stream's descriptor.
    let descriptor: Descriptor
    /// Bytes of receive buffer that the kernel granted, 0 for streams.
    let grantedBufferBytes: Int
    /// The socket's file, removed on close.
    let file: SocketFile?
    let counters = SourceCounters()

    /// Opens what `configuration` says.
    static func open(_ configuration: SourceConfiguration) throws(SourceError) -> LaneSource {
        switch configuration.kind {
        case .udp(let host, let port): try openUDP(configuration, host: host, port: port)
        case .unixStream(let path): try openUnix(configuration, path: path, type: Int32(SOCK_STREAM.rawValue))
        case .unixSeqpacket(let path): try openUnix(configuration, path: path, type: Int32(SOCK_SEQPACKET.rawValue))
        case .unixDatagram(let path): try openUnix(configuration, path: path, type: Int32(SOCK_DGRAM.rawValue))
        case .standardInput(let descriptor): try openStream(configuration, descriptor)
        case .serial(let line): try openSerial(configuration, line)
        }
    }

    /// Closes the socket and removes its file. Once: a later file at the path may have got the same inode number.
    func close() {
        guard descriptor.raw >= 0 else { return }
        file?.remove()
        descriptor.close()
    }

    private static func openUDP(
        _ configuration: SourceConfiguration, host: String, port: UInt16
    ) throws(SourceError) -> LaneSource {
        let name = configuration.kind.name
        // Safe: Swift lends the host as a C string for the call.
        let raw = unsafe kymo_udp_open(host, port, configuration.sharesPort ? 1 : 0)
        guard raw >= 0 else { throw .system(-raw, "listen to", name) }
        let descriptor = Descriptor(raw)
        if configuration.coalesces { kymo_udp_coalesce(raw) }
        let granted = kymo_receive_buffer(raw, Int32(clamping: configuration.receiveBufferBytes))
        guard granted >= 0 else { throw .system(-granted, "set the receive buffer of", name) }
        return LaneSource(
            configuration: configuration, boundKind: try boundAddress(raw, name: name), descriptor: descriptor,
            grantedBufferBytes: Int(granted), file: nil)
    }

    /// The address the kernel bound a UDP socket to.
    private static func boundAddress(_ raw: Int32, name: String) throws(SourceError) -> SourceKind {
        var port: UInt16 = 0
        var host = [CChar](repeating: 0, count: 64)
        // Safe: the shim is told the array's size, and ends the text with a zero.
        let code = unsafe kymo_udp_bound(raw, &host, host.count, &port)
        guard code >= 0 else { throw .system(-code, "ask for the address of", name) }
        let text = String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return .udp(host: text, port: port)
    }

    private static func openUnix(
        _ configuration: SourceConfiguration, path: String, type: Int32
    ) throws(SourceError) -> LaneSource {
        let (descriptor, file) = try SocketFile.bind(path, type: type, mode: configuration.socketMode)
        var granted: Int32 = 0
        if type == Int32(SOCK_DGRAM.rawValue) {
            granted = kymo_receive_buffer(descriptor.raw, Int32(clamping: configuration.receiveBufferBytes))
        }
        guard granted >= 0 else { throw .system(-granted, "set the receive buffer of", configuration.kind.name) }
        return LaneSource(
            configuration: configuration, boundKind: configuration.kind, descriptor: descriptor,
            grantedBufferBytes: Int(granted), file: file)
    }

    /// Opens a serial line. One that is not there is waited for; everything else that is wrong shows at the start.
    private static func openSerial(
        _ configuration: SourceConfiguration, _ line: SerialLine
    ) throws(SourceError) -> LaneSource {
        var descriptor = Descriptor(-1)
        do throws(SourceError) {
            descriptor = try line.open()
        } catch {
            guard error.kind == .missing else { throw error }
        }
        return LaneSource(
            configuration: configuration, boundKind: configuration.kind, descriptor: descriptor,
            grantedBufferBytes: 0, file: nil)
    }

    /// Copies the descriptor, so that the lane may close its own and leaves the process's standard input alone.
    private static func openStream(
        _ configuration: SourceConfiguration, _ raw: Int32
    ) throws(SourceError) -> LaneSource {
        let copy = fcntl(raw, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw .system(errno, "read", configuration.kind.name) }
        return LaneSource(
            configuration: configuration, boundKind: configuration.kind, descriptor: Descriptor(copy),
            grantedBufferBytes: 0, file: nil)
    }
}
