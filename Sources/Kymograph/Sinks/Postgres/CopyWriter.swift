import KymographCore

/// Rows in the text form of COPY: columns end with tabs, rows with line feeds, and null is `\N` (PostgreSQL, "COPY",
/// File Formats).
struct CopyWriter: ~Copyable {
    private var bytes = ByteWriter(capacity: 1 << 14)
    private var isBegun = false
    /// Whether a text has had U+0000, which the database has no text with.
    private(set) var hasNUL = false

    /// The rows.
    var view: ByteView { bytes.view }
    /// Their bytes.
    var count: Int { bytes.count }

    private mutating func begin() {
        if isBegun { bytes.append(UInt8(ascii: "\t")) }
        isBegun = true
    }

    /// Adds a column with `text`.
    mutating func add(_ text: ByteView) {
        begin()
        var clean = 0
        for place in 0..<text.count {
            let escaped: UInt8
            switch text[place] {
            case UInt8(ascii: "\\"): escaped = UInt8(ascii: "\\")
            case UInt8(ascii: "\n"): escaped = UInt8(ascii: "n")
            case UInt8(ascii: "\r"): escaped = UInt8(ascii: "r")
            case UInt8(ascii: "\t"): escaped = UInt8(ascii: "t")
            case 0:
                hasNUL = true
                continue
            default: continue
            }
            bytes.append(text[clean..<place])
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(escaped)
            clean = place + 1
        }
        bytes.append(text[clean..<text.count])
    }

    /// Adds a column with `text`, or null.
    mutating func add(_ text: String?) {
        guard let text else { return addNull() }
        Array(text.utf8).withByteView { add($0) }
    }

    /// Adds a column with `text`, or null.
    mutating func add(_ text: IdentifierText?) {
        guard let text else { return addNull() }
        text.utf8.withByteView { add($0) }
    }

    /// Adds a column with `number`, or null.
    mutating func add(_ number: Int64?) { add(number.map { String($0) }) }

    /// Adds a column with `instant` in whole microseconds, and one with its nanoseconds since 1970 where these are more
    /// exact; or null twice.
    mutating func add(_ instant: Instant?) {
        guard let instant else {
            addNull()
            return addNull()
        }
        let rest = (instant.nanoseconds % 1_000 + 1_000) % 1_000
        begin()
        bytes.append(instant.advanced(by: -rest))
        add(rest == 0 ? nil : instant.nanoseconds)
    }

    private mutating func addNull() {
        begin()
        bytes.append("\\N")
    }

    /// Appends the rows of `other`.
    mutating func append(_ other: borrowing CopyWriter) { bytes.append(other.view) }

    /// Ends the row.
    mutating func endRow() {
        bytes.append(UInt8(ascii: "\n"))
        isBegun = false
    }
}
