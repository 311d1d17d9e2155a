import KymographCore
import KymographTemplates

/// A JSON value as the bytes that it has in a larger text, read only as far as it is asked.
///
/// For bundles that earlier versions wrote: anything that cannot be followed gives nil, but not everything is checked.
struct FormerJSON {
    /// A member of an object.
    struct Member {
        /// The name, with its quotes, in the text.
        var nameRange: Range<Int>
        /// The name, unescaped.
        var name: String
        /// The value.
        var value: FormerJSON
    }

    /// The text.
    let text: [UInt8]
    /// Where the value is in it.
    let range: Range<Int>

    /// The one value that `text` is made of.
    init?(_ text: [UInt8]) {
        let start = FormerJSON.skipSpace(text, 0)
        guard let end = FormerJSON.end(text, start), FormerJSON.skipSpace(text, end) == text.count else { return nil }
        self.init(text: text, range: start..<end)
    }

    private init(text: [UInt8], range: Range<Int>) {
        self.text = text
        self.range = range
    }

    /// The value's bytes.
    var bytes: ArraySlice<UInt8> { text[range] }

    /// Whether it is an object or an array.
    var isNested: Bool { [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(text[range.lowerBound]) }

    /// The members of an object, in order; nil when it is none.
    var members: [Member]? {
        guard text[range.lowerBound] == UInt8(ascii: "{") else { return nil }
        var members: [Member] = []
        let isWhole = forEachItem { start in
            guard text[start] == UInt8(ascii: "\""), let nameEnd = FormerJSON.end(text, start) else { return nil }
            let colon = FormerJSON.skipSpace(text, nameEnd)
            guard colon < range.upperBound, text[colon] == UInt8(ascii: ":") else { return nil }
            let first = FormerJSON.skipSpace(text, colon + 1)
            guard let end = FormerJSON.end(text, first),
                let name = FormerJSON(text: text, range: start..<nameEnd).string
            else { return nil }
            let value = FormerJSON(text: text, range: first..<end)
            members.append(Member(nameRange: start..<nameEnd, name: name, value: value))
            return end
        }
        return isWhole ? members : nil
    }

    /// The elements of an array; nil when it is none.
    var elements: [FormerJSON]? {
        guard text[range.lowerBound] == UInt8(ascii: "[") else { return nil }
        var elements: [FormerJSON] = []
        let isWhole = forEachItem { start in
            guard let end = FormerJSON.end(text, start) else { return nil }
            elements.append(FormerJSON(text: text, range: start..<end))
            return end
        }
        return isWhole ? elements : nil
    }

    /// The unescaped text of a string; nil when it is none.
    var string: String? {
        guard range.count >= 2, text[range.lowerBound] == UInt8(ascii: "\"") else { return nil }
        let content = text[range.lowerBound + 1..<range.upperBound - 1]
        if !content.contains(UInt8(ascii: "\\")) { return String(decoding: content, as: UTF8.self) }
        var log = DiagnosticLog(file: "")
        return JSONNode.parse(Array(bytes), log: &log)?.string
    }

    /// The first member called `name`.
    subscript(_ name: String) -> FormerJSON? { members?.first { $0.name == name }?.value }

    /// Calls `item` with the start of each item between the brackets; it gives the item's end.
    private func forEachItem(_ item: (Int) -> Int?) -> Bool {
        let last = range.upperBound - 1
        var place = FormerJSON.skipSpace(text, range.lowerBound + 1)
        if place == last { return true }
        while place < last {
            guard let end = item(place) else { return false }
            place = FormerJSON.skipSpace(text, end)
            if place == last { return true }
            guard text[place] == UInt8(ascii: ",") else { return false }
            place = FormerJSON.skipSpace(text, place + 1)
        }
        return false
    }

    // MARK: Scanning

    private static func skipSpace(_ text: [UInt8], _ start: Int) -> Int {
        var place = start
        while place < text.count, text[place] == 0x20 || (0x09...0x0D).contains(text[place]) { place += 1 }
        return place
    }

    /// The end of the value that begins at `start`; nil when the text ends before.
    private static func end(_ text: [UInt8], _ start: Int) -> Int? {
        guard start < text.count else { return nil }
        switch text[start] {
        case UInt8(ascii: "\""): return endOfString(text, start)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return endOfNested(text, start)
        default:
            var place = start
            while place < text.count, isScalar(text[place]) { place += 1 }
            return place > start ? place : nil
        }
    }

    private static func isScalar(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "E"): true
        default: false
        }
    }

    private static func endOfString(_ text: [UInt8], _ start: Int) -> Int? {
        var place = start + 1
        while place < text.count {
            if text[place] == UInt8(ascii: "\"") { return place + 1 }
            place += text[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    private static func endOfNested(_ text: [UInt8], _ start: Int) -> Int? {
        var depth = 0
        var place = start
        while place < text.count {
            switch text[place] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""):
                guard let end = endOfString(text, place) else { return nil }
                place = end - 1
            default: break
            }
            place += 1
            if depth == 0 { return place }
        }
        return nil
    }
}
