import CKymographLinux
import Glibc

/// What sources on Unix sockets have in common: a path, and a file there.
enum UnixSocket {
    /// What the kernel gives of a socket.
    enum Content {
        case bytes
        case messages
        case datagrams

        fileprivate var type: Int32 {
            switch self {
            case .bytes: Int32(SOCK_STREAM.rawValue)
            case .messages: Int32(SOCK_SEQPACKET.rawValue)
            case .datagrams: Int32(SOCK_DGRAM.rawValue)
            }
        }
    }

    /// Bytes of a Unix socket's path, without the final zero (unix(7): `sun_path` has 108).
    private static let longestPath = 107

    /// Reads a path.
    static func path(_ text: String) throws(SettingProblem) -> String {
        guard !text.isEmpty else {
            throw SettingProblem(message: "the value is empty", advice: "write a path, such as ./kymo.sock")
        }
        guard text.utf8.count <= longestPath else {
            throw SettingProblem(
                message: "the path has \(text.utf8.count) bytes, and a Unix socket's may have \(longestPath)",
                advice: "choose a shorter one, for instance in /run")
        }
        return text
    }

    /// What no two sources can have: all kinds of socket are files, and a path names one file.
    static func claim(_ path: String) -> String { "the path \(path)" }

    /// Where files change: the socket's is made in its folder, and removed at the end.
    static func writePlace(_ path: String) -> WritePlace { .folder(FileSystem.folder(of: path)) }

    /// Binds a socket of `content` to `path`.
    static func open(
        _ path: String, _ content: Content, _ configuration: SourceConfiguration, _ form: OpenedSource.Form
    ) throws(SourceError) -> OpenedSource {
        let (descriptor, file) = try SocketFile.bind(path, type: content.type, mode: configuration.socketMode)
        var opened = OpenedSource(configuration.address, descriptor, form)
        opened.file = file
        return opened
    }

    /// Looks whether a socket of `content` could be bound to `path`.
    static func probe(_ path: String, _ content: Content) throws(SourceError) {
        try SocketFile.probe(path, type: content.type)
    }

    /// Who has connected `raw`.
    static func peer(_ raw: Int32) -> Peer? { PeerCredentials(raw).map { .process($0) } }
}
