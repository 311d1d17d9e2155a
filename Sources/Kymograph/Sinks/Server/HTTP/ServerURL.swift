/// The absolute URL of a server, or of a place on it: `http` or `https`, percent-encoded, without credentials.
package struct ServerURL: Hashable, Sendable {
    /// Why a text is no such URL; never with the text, which may hold a password.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is wrong and what to do.
        package var description: String
    }

    /// The URL as it was given.
    package let text: String
    /// Whether the scheme is `https`.
    package let isEncrypted: Bool
    /// Host name or address in lower case, without the brackets of IPv6.
    package let host: String
    /// Scheme, host and port: all of the URL that messages show.
    package let origin: String

    /// What stands in the place of the scheme; nothing of the rest is shown.
    private static func scheme(of text: String) -> String {
        guard let end = text.firstRange(of: "://"), text[..<end.lowerBound].allSatisfy({ $0.isLetter }) else {
            return "it has no scheme"
        }
        return "its scheme is '\(text[..<end.lowerBound])'"
    }

    /// Reads `text`.
    ///
    /// - Throws: ``Fault`` with what is wrong with it, and what to write.
    package init(_ text: String) throws(Fault) {
        let lower = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lower.hasPrefix) else {
            throw Fault(
                description: "is no URL of a server: \(Self.scheme(of: lower)); begin with https:// (or http://)")
        }
        guard text.utf8.allSatisfy(Self.isAllowed) else {
            throw Fault(description: "has a character that must be percent-encoded, or a fragment (#)")
        }
        let authority = lower.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@") else {
            throw Fault(description: "has a user name or password in it; remove them and use a file")
        }
        guard let host = Self.host(authority) else {
            throw Fault(description: "has no valid host and port after \(scheme)")
        }
        self.text = text
        self.host = host
        isEncrypted = scheme == "https://"
        origin = scheme + authority
    }

    /// Whether what is sent there stays on this machine.
    package var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// This URL with `path` (which begins with a slash) after it, whether this one ends with a slash or not.
    package func appending(_ path: String) -> String {
        var base = text[...]
        while base.hasSuffix("/") { base = base.dropLast() }
        return base + path
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !"\"#<>\\^`{|}".utf8.contains(byte)
    }

    /// The host of `host`, `host:port`, `[address]` or `[address]:port`; nil when it is none of these.
    private static func host(_ authority: Substring) -> String? {
        let isBracketed = authority.hasPrefix("[")
        let end = isBracketed ? authority.firstIndex(of: "]") : authority.firstIndex(of: ":") ?? authority.endIndex
        guard let end else { return nil }
        let host = isBracketed ? authority[..<end].dropFirst() : authority[..<end]
        let rest = isBracketed ? authority[end...].dropFirst() : authority[end...]
        let extra = isBracketed ? ":." : "-._"
        guard !host.isEmpty, host.allSatisfy({ $0.isLetter || $0.isNumber || extra.contains($0) }) else { return nil }
        guard rest.isEmpty || rest.hasPrefix(":") && (UInt16(rest.dropFirst()) ?? 0) > 0 else { return nil }
        return String(host)
    }
}
