import CKymographLinux

/// Addresses that begin alike: `10.1.2.0/24`, `fd00::/8`, or one address (RFC 4632; RFC 4291, section 2.3).
package struct NetworkRange: Hashable, Sendable {
    private let bytes: [UInt8]
    /// Bits that are alike.
    let bits: Int

    /// Reads a numeric address, and how many bits of it count; nil for another text, or for bits behind them.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let bytes = NetworkRange.bytes(of: parts[0]), parts.count <= 2 else { return nil }
        guard let bits = parts.count == 2 ? Int(parts[1]) : bytes.count * 8, 0...(bytes.count * 8) ~= bits else {
            return nil
        }
        (self.bytes, self.bits) = (bytes, bits)
        guard self == NetworkRange(bytes: NetworkRange.begin(bytes, bits), bits: bits) else { return nil }
    }

    private init(bytes: [UInt8], bits: Int) { (self.bytes, self.bits) = (bytes, bits) }

    /// Reads an element of a setting.
    ///
    /// - Throws: ``SettingProblem`` for a text that is none.
    package static func setting(_ text: String) throws(SettingProblem) -> NetworkRange {
        guard let range = NetworkRange(text) else {
            throw SettingProblem(
                message: "'\(text)' is no range of addresses",
                advice: "write a numeric address, or as many bits of one as count, such as 10.1.2.0/24 or fd00::/8")
        }
        return range
    }

    /// As it is written.
    package var text: String {
        let host = NetworkRange.text(of: bytes)
        return bits == bytes.count * 8 ? host : "\(host)/\(bits)"
    }

    /// Whether `address`, 4 or 16 bytes, is one of them.
    func contains(_ address: [UInt8]) -> Bool {
        address.count == bytes.count && NetworkRange.begin(address, bits) == bytes
    }

    /// The 4 or 16 bytes of a numeric address; those of IPv4 for one that IPv6 has mapped (RFC 4291, section 2.5.5.2).
    static func bytes(of host: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        // Safe: the shim writes at most 16 bytes.
        let count = unsafe kymo_inet_bytes(host, &bytes)
        guard count > 0 else { return nil }
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        return count == 16 && Array(bytes[..<12]) == mapped ? Array(bytes[12...]) : Array(bytes[..<Int(count)])
    }

    /// The numeric address of 4 or 16 bytes.
    static func text(of bytes: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: 64)
        // Safe: the shim is told both sizes, and ends the text with a zero.
        guard unsafe kymo_inet_host(bytes, Int32(bytes.count), &text, text.count) == 1 else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// `bytes` with zeros behind the first `bits`.
    private static func begin(_ bytes: [UInt8], _ bits: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let left = min(max(bits - index * 8, 0), 8)
            return byte & UInt8(truncatingIfNeeded: 0xFF00 >> left)
        }
    }
}
