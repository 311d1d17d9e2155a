/// Evaluates expressions of rules, all of which look at the same document. Of one thread.
///
/// Expressions come from an operator, and documents are small: an expression that makes more than some thousands of
/// values has failed.
struct RuleEvaluator: ~Copyable {
    /// What an expression gave.
    enum Outcome {
        /// JSON; valid until the next evaluation.
        case json(ByteView)
        /// Why it has no result.
        case failed(String)
    }

    private var scanner: JSONScanner
    private var evaluators: OwnedList<JMESPathEvaluator>
    private let expressions: [RuleExpression]
    private var result = ByteWriter(capacity: 256)
    private var document: ByteView?

    private static let limits = ScanLimits(depth: 64, values: 20_000)

    /// Evaluates `expressions`, by their places.
    init(_ expressions: [RuleExpression]) {
        var names = PathProgram().names
        var known = Set(names)
        for name in expressions.flatMap(\.program.names) where known.insert(name).inserted { names.append(name) }
        scanner = JSONScanner(
            names: NameTable(names), limits: RuleEvaluator.limits, marksUnnamed: true, payloadIsRoot: true)
        evaluators = OwnedList(count: expressions.count) {
            JMESPathEvaluator(program: expressions[$0].program, limits: RuleEvaluator.limits, names: names)
        }
        self.expressions = expressions
    }

    /// Looks at `document` from here on: JSON, padded, which must stay until ``end()``. False when it is none.
    mutating func begin(_ document: ByteView) -> Bool {
        self.document = nil
        do throws(ScanFailure) {
            _ = try scanner.scan(document, from: 0)
        } catch {
            return false
        }
        self.document = document
        return true
    }

    /// Looks at nothing any more.
    mutating func end() { document = nil }

    /// Whether a document is looked at.
    var hasDocument: Bool { document != nil }

    /// The result of expression `place`.
    mutating func evaluate(_ place: Int) -> Outcome {
        guard let document else { return .failed("there is nothing to look at") }
        result.removeAll()
        evaluators[place].reset()
        do throws(EvaluationError) {
            let found = try evaluators[place].evaluate(
                expressions[place].reference, scanner: scanner, root: JSONScanner.payload, matched: -1, bytes: document)
            guard found.kind != .none else { return null() }
            try evaluators[place].appendJSON(of: found.handle, scanner: scanner, bytes: document, to: &result)
        } catch {
            return .failed(error.message)
        }
        // Numbers are read eight bytes at a time.
        result.reserve(ByteView.padding)
        return .json(result.view)
    }

    private mutating func null() -> Outcome {
        result.append("null")
        return .json(result.view)
    }

    /// Whether `json` counts as true, as JMESPath has it: all but null, false, and what is empty.
    static func isTrue(_ json: ByteView) -> Bool {
        switch json[0] {
        case UInt8(ascii: "n"), UInt8(ascii: "f"): false
        case UInt8(ascii: "\""), UInt8(ascii: "["), UInt8(ascii: "{"): json.count > 2
        default: true
        }
    }

    /// The text or number that `json` is; nil for anything else, and for a number that cannot be kept exactly.
    static func value(_ json: ByteView) -> RuleValue? {
        guard json[0] == UInt8(ascii: "\"") else {
            guard case .number(let number) = DecimalParser.parse(json) else { return nil }
            return .number(number)
        }
        var text = ByteWriter(capacity: json.count)
        JSONUnescape.append(json[1..<json.count - 1], into: &text)
        return .text(text.view.array)
    }
}
