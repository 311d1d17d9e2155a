import KymographCore

/// Why an expression cannot be used, and where in it.
package struct ExpressionError: Error, Equatable, Sendable {
    /// What is wrong.
    package var message: String
    /// Bytes before the place in the expression.
    package var offset: Int
}

/// Compiles JSONPath in the dialect of the reference system (mapping dialect, section 3.1) into a ``PathProgram``.
///
/// Paths: optional `$`, then `.name`, `.*`, `..name`, `..*`, `['a']`, `['a','b']`, `[n]`, `[n,m]`, `[s:e:step]`, `[*]`,
/// `[?(filter)]` and `..[?(filter)]`; `(…)` may stand for `[…]`. This file holds the paths, the others the brackets and
/// the filters.
struct JSONPathParser {
    /// Most steps of a path, most conditions of an expression, and deepest nesting of filters and groups.
    static let mostSteps = 1_000
    static let mostConditions = 1_000
    static let deepestNesting = 200

    let text: [UInt8]
    var index = 0
    var program: PathProgram
    /// Filters and groups around the present place.
    var depth = 0
    /// Conditions that were read so far.
    var conditions = 0

    /// Compiles `expression`, adding to `program`; on an error `program` stays as it was.
    static func compile(_ expression: String, into program: inout PathProgram) throws(ExpressionError) -> PathReference
    {
        let extent = program.extent
        // Handed over, not lent: a catalogue's program would else be copied for each of its expressions.
        var parser = JSONPathParser(text: Array(expression.utf8), program: consume program)
        do throws(ExpressionError) {
            let path = try parser.wholePath()
            program = parser.program
            return path
        } catch {
            program = parser.program
            program.cut(to: extent)
            throw error
        }
    }

    private init(text: [UInt8], program: consuming PathProgram) {
        self.text = text
        self.program = program
    }

    // MARK: Characters

    var byte: UInt8? { index < text.count ? text[index] : nil }

    func at(_ expected: String) -> Bool { text[index...].starts(with: expected.utf8) }

    mutating func skip(_ expected: String) -> Bool {
        guard at(expected) else { return false }
        index += expected.utf8.count
        return true
    }

    mutating func skipSpaces() {
        while byte == UInt8(ascii: " ") { index += 1 }
    }

    /// Whether nothing but blanks is behind `place`.
    private func isBlank(from place: Int) -> Bool { text[place...].allSatisfy { $0 == UInt8(ascii: " ") } }

    func error(_ message: String, at place: Int? = nil) -> ExpressionError {
        ExpressionError(message: message, offset: place ?? index)
    }

    /// The character at the present place, for messages.
    var shown: String {
        String(decoding: text[index...], as: UTF8.self).first.map { String($0) } ?? "end of expression"
    }

    /// Runs `body` one level deeper.
    mutating func nested<Result>(
        _ body: (inout JSONPathParser) throws(ExpressionError) -> Result
    ) throws(ExpressionError) -> Result {
        guard depth < JSONPathParser.deepestNesting else { throw error("filters are nested too deep") }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    // MARK: Paths

    private mutating func wholePath() throws(ExpressionError) -> PathReference {
        var steps: [PathStep] = []
        skipSpaces()
        if byte == UInt8(ascii: "$"), isRoot {
            index += 1
        } else if let first = byte, !".[(".utf8.contains(first) {
            steps.append(try nameStep(stops: JSONPathParser.pathStops, descending: false))
        }
        try readSteps(into: &steps, stops: JSONPathParser.pathStops)
        // A blank ends the path, as in the reference.
        skipSpaces()
        guard index == text.count else { throw error("unexpected '\(shown)'") }
        return store(steps, fromRoot: true)
    }

    /// Whether the `$` here is the root and not the start of a name.
    private var isRoot: Bool {
        let next = index + 1
        return isBlank(from: next) || text[next] == UInt8(ascii: ".") || text[next] == UInt8(ascii: "[")
    }

    /// Where a name ends, outside filters and in them.
    static let pathStops = ".[( ])"
    static let filterStops = ".[( ])=<>!|&"

    mutating func readSteps(into steps: inout [PathStep], stops: String) throws(ExpressionError) {
        while let next = byte {
            if next == UInt8(ascii: ".") {
                steps.append(try dotStep(stops: stops))
            } else if next == UInt8(ascii: "[") || next == UInt8(ascii: "(") {
                steps.append(try bracketStep(descending: false))
            } else {
                return
            }
            guard steps.count <= JSONPathParser.mostSteps else { throw error("more than 1,000 steps") }
        }
    }

    private mutating func dotStep(stops: String) throws(ExpressionError) -> PathStep {
        let descending = skip("..")
        if !descending { index += 1 }
        if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "(") { return try bracketStep(descending: descending) }
        return try nameStep(stops: stops, descending: descending)
    }

    /// A name as it is written, or `*`.
    mutating func nameStep(stops: String, descending: Bool) throws(ExpressionError) -> PathStep {
        let start = index
        while let next = byte, !stops.utf8.contains(next) { index += 1 }
        guard index > start else { throw error("expected a member name, found '\(shown)'") }
        if index == start + 1, text[start] == UInt8(ascii: "*") {
            return PathStep(operation: descending ? .descendants : .members)
        }
        return memberStep(String(decoding: text[start..<index], as: UTF8.self), descending: descending)
    }

    mutating func memberStep(_ name: String, descending: Bool) -> PathStep {
        PathStep(operation: descending ? .descendantMembers : .member, name: program.number(of: name))
    }

    mutating func store(_ steps: [PathStep], fromRoot: Bool) -> PathReference {
        let start = program.steps.count
        program.steps += steps
        return PathReference(
            start: Int32(start), count: Int32(steps.count),
            isMemberChain: steps.allSatisfy { $0.operation == .member }, fromRoot: fromRoot,
            requiredNames: steps.reduce(0) { $0 | program.requiredNames(of: $1) })
    }
}
