import CKymographLinux
import Glibc

/// A numeric IPv4 or IPv6 host and a port.
package struct NetworkAddress: Hashable, Sendable {
    /// The host, without brackets.
    package var host: String
    /// The port; 0 lets the kernel choose.
    package var port: UInt16

    /// Makes an address.
    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// The host whose address is `bytes`, 4 or 16 of them.
    init(bytes: [UInt8], port: UInt16) { self.init(host: NetworkRange.text(of: bytes), port: port) }

    /// Reads `127.0.0.1:5757` or `[::1]:5757`.
    ///
    /// - Throws: ``SourceError`` of kind ``SourceError/Kind/invalidAddress``.
    package init(parsing text: String) throws(SourceError) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw .invalidAddress(text, "it has no port from 0 to 65535; write 127.0.0.1:5757 or [::1]:5757")
        }
        var host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        guard host.contains(":") == isBracketed, !host.isEmpty else {
            throw .invalidAddress(text, "write an IPv4 address as 127.0.0.1:5757 and an IPv6 address as [::1]:5757")
        }
        self.init(host: String(host), port: port)
    }

    /// Reads the value of a setting.
    static func setting(_ text: String) throws(SettingProblem) -> NetworkAddress {
        let address: NetworkAddress
        do throws(SourceError) {
            address = try NetworkAddress(parsing: text)
        } catch {
            throw SettingProblem(message: error.message)
        }
        guard address.isNumeric else {
            throw SettingProblem(
                message: "'\(text)' names its host",
                advice: "write a numeric address, such as 127.0.0.1:5757, [::1]:5757 or 0.0.0.0:5757")
        }
        return address
    }

    /// The address that the socket `raw` is bound to; `name` is for messages.
    static func bound(_ raw: Int32, name: String) throws(SourceError) -> NetworkAddress {
        var (host, port) = (hostBuffer, UInt16(0))
        // Safe: the shim is told the array's size, and ends the text with a zero.
        let code = unsafe kymo_inet_bound(raw, &host, host.count, &port)
        guard code >= 0 else { throw .system(-code, "ask for the address of", name) }
        return NetworkAddress(host: text(host), port: port)
    }

    /// The address at the other end of the connection `raw`; nil when it has gone.
    static func peer(of raw: Int32) -> NetworkAddress? {
        var (host, port) = (hostBuffer, UInt16(0))
        // Safe: as above.
        guard unsafe kymo_inet_peer(raw, &host, host.count, &port) >= 0 else { return nil }
        return NetworkAddress(host: text(host), port: port)
    }

    /// The address in `storage`, of which the kernel has written `length` bytes; nil when it is none of IP.
    @unsafe
    static func of(_ storage: UnsafePointer<sockaddr_storage>, _ length: UInt32) -> NetworkAddress? {
        var (host, port) = (hostBuffer, UInt16(0))
        // Safe: as above.
        guard unsafe kymo_inet_text(storage, length, &host, host.count, &port) >= 0 else { return nil }
        return NetworkAddress(host: text(host), port: port)
    }

    /// Room for the longest numeric host, with a scope.
    private static var hostBuffer: [CChar] { [CChar](repeating: 0, count: 64) }

    private static func text(_ host: [CChar]) -> String {
        String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// `127.0.0.1:5757` or `[::1]:5757`.
    package var text: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// Whether only this machine can reach it.
    package var isLoopback: Bool {
        // Safe: Swift lends the host as a C string for the call.
        unsafe kymo_inet_is_loopback(host) != 0
    }

    /// Whether the host looks like an IPv4 or IPv6 address; opening the socket checks the latter to the end.
    var isNumeric: Bool {
        if host.contains(":") {
            return host.prefix { $0 != "%" }.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }
}
