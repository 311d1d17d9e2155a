/// The keys that say where a source receives; a source has exactly one of them.
enum SourceAddress {
    /// The keys, in the order of the reference.
    static let keys = ["udp", "unix", "seqpacket", "unixgram", "serial", "stdin"]
    /// Bytes of a Unix socket's path, without the final zero (unix(7): `sun_path` has 108).
    private static let longestPath = 107

    /// Whether commas are part of what stands under `key`, and not between several.
    static func hasCommas(_ key: String) -> Bool { key == "serial" }

    /// The setting of `key`.
    static func setting(_ key: String) -> Setting<PipelineSettings.Source> {
        .single(key, form(of: key), about(key)) { (text, source) throws(SettingProblem) in
            source.configuration.kind = try kind(key, text)
        } shown: { _ in
            ""
        }
    }

    /// A source of nothing but an address, as flags and variables give it; nil after an error.
    static func source(_ key: String, _ text: SettingText, log: inout ConfigurationLog) -> PipelineSettings.Source? {
        var source = PipelineSettings.Source(.standardInput(descriptor: 0))
        let setting = setting(key)
        guard setting.apply([text], to: &source, log: &log) else { return nil }
        setting.remember([text], in: &source.origins)
        return source
    }

    private static func form(of key: String) -> String {
        switch key {
        case "udp": "numeric address and port"
        case "serial": "path and speed"
        case "stdin": "`true`"
        default: "path"
        }
    }

    private static func about(_ key: String) -> String {
        switch key {
        case "udp": "UDP: one reading, an array or NDJSON per datagram"
        case "unix": "Unix stream socket"
        case "seqpacket": "Unix socket of messages (`SOCK_SEQPACKET`), each as a datagram"
        case "unixgram": "Unix datagram socket: one reading, an array or NDJSON per datagram"
        case "serial": "Serial line, such as `/dev/ttyUSB0:115200,8N1`"
        default: "Standard input"
        }
    }

    /// The kind of source that `text` says under `key`.
    static func kind(_ key: String, _ text: String) throws(SettingProblem) -> SourceKind {
        switch key {
        case "udp": try udp(text)
        case "unix": .unixStream(path: try path(text))
        case "seqpacket": .unixSeqpacket(path: try path(text))
        case "unixgram": .unixDatagram(path: try path(text))
        case "serial": try serial(text)
        default: try standardInput(text)
        }
    }

    private static func udp(_ text: String) throws(SettingProblem) -> SourceKind {
        let kind: SourceKind
        do throws(SourceError) {
            kind = try .udp(parsing: text)
        } catch {
            throw SettingProblem(message: error.message)
        }
        guard case .udp(let host, _) = kind, isNumeric(host) else {
            throw SettingProblem(
                message: "'\(text)' names its host",
                advice: "write a numeric address, such as 127.0.0.1:5757, [::1]:5757 or 0.0.0.0:5757")
        }
        return kind
    }

    private static func serial(_ text: String) throws(SettingProblem) -> SourceKind {
        do throws(SourceError) {
            return .serial(try SerialLine(parsing: text))
        } catch {
            throw SettingProblem(message: error.message)
        }
    }

    /// Whether `host` looks like an IPv4 or IPv6 address; opening the socket checks the latter to the end.
    private static func isNumeric(_ host: String) -> Bool {
        if host.contains(":") {
            return host.prefix { $0 != "%" }.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func path(_ text: String) throws(SettingProblem) -> String {
        let path = try Setting<PipelineSettings.Source>.notEmpty(text, "path, such as ./kymo.sock")
        guard path.utf8.count <= longestPath else {
            throw SettingProblem(
                message: "the path has \(path.utf8.count) bytes, and a Unix socket's may have \(longestPath)",
                advice: "choose a shorter one, for instance in /run")
        }
        return path
    }

    private static func standardInput(_ text: String) throws(SettingProblem) -> SourceKind {
        guard text == "true" else {
            throw SettingProblem(message: "'\(text)' is not true", advice: "write true, or remove the source")
        }
        return .standardInput(descriptor: 0)
    }
}
