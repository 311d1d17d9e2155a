import KymographTestKit

/// A payload that was written part by part, so that it is known where each value stands.
struct ExplainedPayload {
    /// The name of a member, and where its value stands: each element of the array of readings has its own.
    private(set) var places: [String: [Range<Int>]] = [:]
    private(set) var bytes: [UInt8] = []
    private(set) var readings = 0
    private var random: SeededGenerator

    /// A document with members that no template mentions around an array of readings; with `isLenient`, of a form that
    /// only the reference's reader takes. It stands behind `before` other bytes.
    init(_ random: SeededGenerator, isLenient: Bool = false, before: Int = 0) {
        self.random = random
        bytes = Array(repeating: 0x20, count: before)
        writeDocument(isLenient)
    }

    private mutating func writeDocument(_ isLenient: Bool) {
        append("{")
        other()
        member("source", quoted(text(isLenient), isLenient), isLenient)
        append(",")
        append(isLenient ? "list: [" : "\"list\":[")
        readings = Int.random(in: 1...4, using: &random)
        for index in 0..<readings {
            if index > 0 { append(",") }
            writeReading(isLenient)
        }
        append(isLenient ? ",]" : "]")
        blank()
        append("}")
    }

    private mutating func writeReading(_ isLenient: Bool) {
        blank()
        let start = bytes.count
        append("{")
        if Bool.random(using: &random) { other() }
        let second = Int.random(in: 10...59, using: &random)
        member("t", quoted("2026-03-01T08:00:\(second)Z", isLenient), isLenient)
        append(",")
        member("v", "\(Int.random(in: 0...9_999, using: &random)).\(Int.random(in: 0...9, using: &random))", isLenient)
        append("}")
        places["reading", default: []].append(start..<bytes.count)
    }

    /// A member whose value is noted.
    private mutating func member(_ name: String, _ value: String, _ isLenient: Bool) {
        blank()
        append(isLenient ? name : "\"\(name)\"")
        append(":")
        blank()
        let start = bytes.count
        append(value)
        places[name, default: []].append(start..<bytes.count)
        blank()
    }

    /// A member that nobody asks for.
    private mutating func other() {
        append("\"x\(Int.random(in: 0...99, using: &random))\":{\"y\":[1,\"\\\"}\",null]},")
    }

    private mutating func text(_ isLenient: Bool) -> String {
        let parts = isLenient ? ["a", "é", "\\'", "\\n"] : ["a", "é", "\\\"", "\\n", "\\u00e9", "}"]
        return "d"
            + (0..<Int.random(in: 0...4, using: &random)).map { _ in
                parts.randomElement(using: &random) ?? ""
            }.joined().replacing("\\n", with: "n")
    }

    private func quoted(_ text: String, _ isLenient: Bool) -> String { isLenient ? "'\(text)'" : "\"\(text)\"" }

    private mutating func blank() {
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            append([" ", "\n", "\t"].randomElement(using: &random) ?? " ")
        }
    }

    private mutating func append(_ text: String) { bytes += Array(text.utf8) }
}
