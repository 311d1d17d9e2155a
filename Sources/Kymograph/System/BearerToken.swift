/// Tokens as they stand in a header field.
enum BearerToken {
    /// Whether `text` is visible ASCII without spaces: what is more would end the field or begin another.
    static func isValid(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}
