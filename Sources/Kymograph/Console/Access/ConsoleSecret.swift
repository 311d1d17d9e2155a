/// Cryptographically secure random texts.
enum ConsoleSecret {
    /// Letters and digits that are not mistaken for others: five bits each.
    private static let letters = Array("ABCDEFGHJKMNPQRSTUVWXYZ123456789".utf8)

    /// 60 bits: a thousand guesses a second for the two minutes that it is good are 17 of them.
    static func code() -> String { text(12) }

    /// 260 bits.
    static func session() -> String { text(52) }

    /// What the log calls a session.
    static func name() -> String { text(6).lowercased() }

    private static func text(_ count: Int) -> String {
        String(decoding: RandomBytes.take(count).map { letters[Int($0 & 31)] }, as: UTF8.self)
    }

    /// `code` in groups of four.
    static func grouped(_ code: String) -> String {
        var text = ""
        for (place, letter) in code.enumerated() { text += (place > 0 && place % 4 == 0 ? "-" : "") + String(letter) }
        return text
    }

    /// A code as it was typed, without what stands between its groups.
    static func plain(_ text: String) -> String {
        String(text.uppercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.prefix(64))
    }
}
