/// Texts without secrets. Secrets are in files, which settings name; a URL might hold one all the same.
enum MaskedText {
    /// In place of what is not shown.
    static let mask = "***"

    /// `text` with asterisks in place of what stands before the host of each URL (RFC 3986, section 3.2.1).
    static func masking(_ text: String) -> String {
        var shown = ""
        var rest = text[...]
        while let scheme = rest.firstRange(of: "://") {
            shown += rest[..<scheme.upperBound]
            rest = rest[scheme.upperBound...]
            // A password may have an @ itself, which should have been escaped.
            let authority = rest.prefix { !"/?#\"'".contains($0) && !$0.isWhitespace }
            guard let end = authority.lastIndex(of: "@") else { continue }
            shown += mask
            rest = rest[end...]
        }
        return shown + rest
    }
}
