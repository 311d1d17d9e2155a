/// What a proxy says of its client before the bytes of the client: the PROXY protocol, versions 1 and 2
/// (haproxy, doc/proxy-protocol.txt). It is read no further than it goes, because what follows may be TLS.
struct ProxyHeader {
    /// What is known.
    enum Step: Equatable {
        /// As many more bytes, and no fewer, belong to it.
        case needs(Int)
        /// All up to the next line feed belongs to it, at most as many bytes.
        case needsLine(Int)
        /// It is complete, and this is the client.
        case client(NetworkAddress)
        /// It is complete, and the proxy speaks for itself.
        case proxy
        /// It is complete, and says no address of the client.
        case unknown
        /// It is none.
        case malformed
    }

    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]
    private static let word = Array("PROXY ".utf8)
    /// Bytes of version 2 before the addresses, which are fewer than the shortest line of version 1 has.
    private static let fixed = 16
    /// Longest line of version 1, and most bytes behind the fixed ones of version 2 (the protocol has no limit).
    private static let (longestLine, most) = (107, 4_096)

    /// What has come of it.
    private var bytes: [UInt8] = []

    /// Adds what was asked for, or a part.
    mutating func append(_ bytes: some Sequence<UInt8>) { self.bytes += bytes }

    /// What is known by now.
    var step: Step {
        guard bytes.starts(with: Self.word.prefix(bytes.count)) else { return second }
        // The shortest line is longer than the word, and may end before the fixed bytes of the other version.
        guard bytes.count >= Self.word.count else { return .needs(Self.word.count - bytes.count) }
        guard bytes.last == 0x0A else {
            return bytes.count < Self.longestLine ? .needsLine(Self.longestLine - bytes.count) : .malformed
        }
        return Self.line(bytes.dropLast())
    }

    // MARK: Version 2

    private var second: Step {
        guard bytes.starts(with: Self.signature.prefix(bytes.count)) else { return .malformed }
        guard bytes.count >= Self.fixed else { return .needs(Self.fixed - bytes.count) }
        let length = Int(bytes[14]) << 8 | Int(bytes[15])
        guard length <= Self.most else { return .malformed }
        let total = Self.fixed + length
        guard bytes.count >= total else { return .needs(total - bytes.count) }
        switch (bytes[12], bytes[13]) {
        case (0x20, _): return .proxy
        case (0x21, 0x00), (0x21, 0x31), (0x21, 0x32): return .unknown
        case (0x21, 0x11): return client(addressBytes: 4)
        case (0x21, 0x21): return client(addressBytes: 16)
        default: return .malformed
        }
    }

    /// The client of two addresses of `count` bytes and two ports.
    private func client(addressBytes count: Int) -> Step {
        guard bytes.count >= Self.fixed + 2 * count + 4 else { return .malformed }
        let source = Array(bytes[Self.fixed..<(Self.fixed + count)])
        let port = Self.fixed + 2 * count
        return .client(NetworkAddress(bytes: source, port: UInt16(bytes[port]) << 8 | UInt16(bytes[port + 1])))
    }

    // MARK: Version 1

    private static func line(_ bytes: ArraySlice<UInt8>) -> Step {
        guard bytes.last == 0x0D, let text = String(validating: bytes.dropLast(), as: UTF8.self) else {
            return .malformed
        }
        let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        if parts.count >= 2, parts[1] == "UNKNOWN" { return .unknown }
        guard parts.count == 6, ["TCP4", "TCP6"].contains(parts[1]), let from = port(parts[4]), port(parts[5]) != nil,
            let source = address(parts[2], parts[1]), address(parts[3], parts[1]) != nil
        else { return .malformed }
        return .client(NetworkAddress(bytes: source, port: from))
    }

    /// The bytes of an address of `family`.
    private static func address(_ text: String, _ family: String) -> [UInt8]? {
        guard text.contains(":") == (family == "TCP6"), !text.contains("%") else { return nil }
        return NetworkRange.bytes(of: text)
    }

    private static func port(_ text: String) -> UInt16? {
        text.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? UInt16(text) : nil
    }
}
