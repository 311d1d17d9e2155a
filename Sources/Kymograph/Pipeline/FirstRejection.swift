import KymographCore
import Synchronization

/// Keeps the first reading of a run that was rejected, to show it to who sees nothing come out.
package final class FirstRejection: Sendable {
    private let kept = Mutex<(reason: Rejection, letter: StoredDeadLetter)?>(nil)

    /// Whether the first rows of tables name their columns.
    private let namesColumns: Bool

    /// None yet. With `namesColumns`, input is a table (``TableFraming``) whose first row has the names of its columns.
    package init(namesColumns: Bool = false) { self.namesColumns = namesColumns }

    /// Why the first was rejected; nil when nothing was.
    package var reason: Rejection? { kept.withLock { $0?.reason } }

    /// What was rejected first, why, and what to do, in lines; nil when nothing was rejected.
    package var text: String? {
        guard let (reason, letter) = kept.withLock({ $0 }) else { return nil }
        let bytes = letter.bytes
        // Frames and JSON that is whole are of no other form.
        let isNoJSON = [.invalidJSON, .invalidUTF8, .lineTooLong].contains(reason)
        let explanation = (isNoJSON ? FirstRejection.form(of: bytes) : nil) ?? reason.explanation
        let names =
            reason == .noTemplate && namesColumns
            ? "; the first row names the columns: is there one, and does the mapping read these names?" : ""
        let nearest = reason == .noTemplate && !letter.detail.isEmpty ? "\n    \(letter.detail)" : ""
        return "the first was rejected as \(reason.name): \(explanation)\(names)\(nearest)\n    "
            + FirstRejection.preview(bytes)
    }

    /// What input that is no JSON line looks like, and how to make lines of it; nil for others.
    private static func form(of bytes: [UInt8]) -> String? {
        // The names of a table's columns stand in the first row of the file, and as {"name": in each payload.
        let beginning = bytes.starts(with: Array("{\"".utf8)) ? bytes.dropFirst(2) : bytes[...]
        func begins(_ mark: [UInt8]) -> Bool { beginning.starts(with: mark) }
        if begins([0xFF, 0xFE]) || begins([0xFE, 0xFF]) || bytes.prefix(64).contains(0) {
            return "it is UTF-16, or no text: iconv -f UTF-16 -t UTF-8 FILE | kymo run --stdin"
        }
        let text = bytes.filter { $0 > 0x20 }
        let isObject = text.first == UInt8(ascii: "{") || text.first == UInt8(ascii: "[")
        if !isObject, text.contains(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }) {
            return "it looks like CSV: add --framing csv, and name the columns in the first row (docs/framings.md)"
        }
        return nil
    }

    /// The beginning of `bytes` in one line, what cannot be printed as dots.
    private static func preview(_ bytes: [UInt8]) -> String {
        let shown = bytes.prefix(160).map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: ".") : $0 }
        return String(decoding: shown, as: UTF8.self) + (bytes.count > 160 ? "…" : "")
    }
}

extension FirstRejection: ReadingObserver {
    func received(_ count: Int, source: Int) {}

    func rejected(_ reason: Rejection, _ letter: StoredDeadLetter, source: Int?) {
        kept.withLock { kept in
            if kept == nil { kept = (reason, letter) }
        }
    }

    func settled(_ settlements: [Settlement]) {}
}
