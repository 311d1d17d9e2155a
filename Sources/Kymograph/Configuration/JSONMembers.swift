import KymographCore

/// Writes a JSON object member by member, in the order of the calls, without layout.
struct JSONMembers: ~Copyable {
    private var writer = ByteWriter(capacity: 256)
    private var isEmpty = true

    init() { writer.append("{") }

    /// The object.
    consuming func finished() -> [UInt8] {
        writer.append("}")
        return writer.view.array
    }

    /// A text.
    mutating func add(_ name: StaticString, _ text: String) {
        begin(name)
        writer.append("\"")
        writer.appendJSON(text)
        writer.append("\"")
    }

    /// A text, unless it is nil.
    mutating func add(_ name: StaticString, _ text: String?) {
        if let text { add(name, text) }
    }

    /// A whole number.
    mutating func add(_ name: StaticString, _ number: Int) {
        begin(name)
        writer.append(Array(String(number).utf8))
    }

    /// `true`; nothing when it is not.
    mutating func add(_ name: StaticString, if flag: Bool) {
        guard flag else { return }
        begin(name)
        writer.append("true")
    }

    /// `"start": …, "end": …`, unless there is no range.
    mutating func add(_ range: Range<Int>?) {
        guard let range else { return }
        add("start", range.lowerBound)
        add("end", range.upperBound)
    }

    /// JSON.
    mutating func add(_ name: StaticString, json: [UInt8]) {
        begin(name)
        writer.append(json)
    }

    /// A list of JSON texts.
    mutating func add(_ name: StaticString, list: [[UInt8]]) {
        begin(name)
        writer.append("[")
        for (index, item) in list.enumerated() {
            if index > 0 { writer.append(",") }
            writer.append(item)
        }
        writer.append("]")
    }

    /// A list of whole numbers.
    mutating func add(_ name: StaticString, numbers: [Int]) {
        begin(name)
        writer.append("[")
        for (index, number) in numbers.enumerated() {
            if index > 0 { writer.append(",") }
            writer.append(Array(String(number).utf8))
        }
        writer.append("]")
    }

    /// A list of texts.
    mutating func add(_ name: StaticString, texts: [String]) {
        begin(name)
        writer.append("[")
        for (index, text) in texts.enumerated() {
            writer.append(index > 0 ? ",\"" : "\"")
            writer.appendJSON(text)
            writer.append("\"")
        }
        writer.append("]")
    }

    private mutating func begin(_ name: StaticString) {
        writer.append(isEmpty ? "\"" : ",\"")
        isEmpty = false
        writer.append(name)
        writer.append("\":")
    }
}
