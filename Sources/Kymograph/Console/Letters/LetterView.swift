import KymographCore

/// The dead letters of one reason and kind.
struct LetterReasonView: Encodable {
    var reason: String
    var kind: String
    var count: Int
    var replayed: Int
    /// When the newest came.
    var newest: String
    var meaning: String?

    init(_ row: LetterReason) {
        (reason, kind, count, replayed) = (row.reason, row.kind, row.count, row.replayed)
        (newest, meaning) = (row.newest.text, Rejection.meaning(of: row.reason))
    }
}

/// A dead letter in a list.
struct LetterRowView: Encodable {
    var number: Int64
    var at: String
    var kind: String
    var reason: String
    var source: String
    /// What mappings say of it; nil when all that is known may identify somebody.
    var detail: String?
    var replayed: String?

    init(_ row: LetterPage.Row) {
        (number, at, kind, reason, source) = (row.number, row.at.text, row.kind, row.reason, row.source)
        detail = LetterMask.detail(row.detail, kind: row.kind)
        replayed = row.replayed?.text
    }
}

/// A part of a list.
struct LetterListView: Encodable {
    var letters: [LetterRowView]
    var total: Int
    /// Where the next part begins; nil when there is none.
    var before: Int64?
}

/// One dead letter.
struct LetterDetailView: Encodable {
    /// Bytes that are shown at most, and of which a shape is made.
    static let mostBytes = 64 << 10

    var number: Int64
    var at: String
    var kind: String
    var reason: String
    var meaning: String?
    var source: String
    var detail: String?
    var replayed: String?
    /// Of its bytes; nil when they are damaged.
    var size: Int?
    /// Whether only a part of what came is there.
    var isPart: Bool
    var isRevealed: Bool
    /// What its bytes look like without their content; nil when it is revealed, or too long.
    var shape: String?
    /// Whether it has more bytes than a shape is made of.
    var isTooLong = false
    /// Its bytes as text; nil when they are none, or it is not revealed.
    var text: String?
    /// Its bytes, two digits each; nil when it is not revealed.
    var hex: String?
    /// Whether ``text`` and ``hex`` end before the bytes do.
    var isCut: Bool

    init(_ letter: StoredLetter, revealed: Bool) {
        (number, at, kind, reason) = (letter.number, letter.at.text, letter.kind, letter.reason)
        (source, isPart, isRevealed) = (letter.source, letter.isPart, revealed)
        meaning = Rejection.meaning(of: letter.reason)
        replayed = letter.replayed?.text
        detail = revealed ? letter.detail : LetterMask.detail(letter.detail, kind: letter.kind)
        size = letter.bytes?.count
        isCut = revealed && (size ?? 0) > Self.mostBytes
        guard let bytes = letter.bytes else { return }
        guard revealed else {
            // A node for each value takes many times the memory of the bytes.
            isTooLong = letter.kind == "payload" && bytes.count > Self.mostBytes
            shape = letter.kind == "payload" && !isTooLong ? LetterMask.shape(bytes) : nil
            return
        }
        let shown = bytes.prefix(Self.mostBytes)
        text = String(validating: bytes, as: UTF8.self) == nil ? nil : String(decoding: shown, as: UTF8.self)
        hex = shown.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension Rejection {
    /// What the reason called `name` means; nil for one of a server.
    static func meaning(of name: String) -> String? { allCases.first { $0.name == name }?.explanation }
}
