/// Evaluates one expression over documents, for people who write mappings. Not for the path of readings.
public struct ExpressionRunner: ~Copyable {
    /// The languages of mappings.
    public enum Language: String, CaseIterable, Sendable {
        /// JSONPath in the dialect of mappings.
        case jsonPath = "jsonpath"
        /// JMESPath with the functions of mappings.
        case jmesPath = "jmespath"
    }

    /// Why there is no result.
    public enum Failure: Error, Equatable {
        /// The document is refused: the reason, and the place.
        case document(Rejection, SourcePosition)
        /// The expression fails on this document: the message, and the byte of the expression.
        case evaluation(message: String, offset: Int)
    }

    /// The expression in its language, and nothing in the other one.
    private struct Compiled {
        var program = PathProgram()
        var queries = JMESPathProgram()
        var path = PathReference.absent
        var reference = JMESPathReference.absent

        init(_ expression: String, _ language: Language) throws(ExpressionError) {
            switch language {
            case .jsonPath: path = try JSONPathParser.compile(expression, into: &program)
            case .jmesPath:
                reference = try JMESPathParser.compile(expression, into: &queries)
                for name in queries.names { _ = program.number(of: name) }
            }
        }
    }

    private let path: PathReference
    private let reference: JMESPathReference
    private var paths: PathEvaluator
    private var evaluator: JMESPathEvaluator
    private var scanner: JSONScanner

    /// Compiles `expression`.
    ///
    /// - Throws: ``ExpressionError`` with the byte where it goes wrong.
    public init(_ expression: String, language: Language, limits: ScanLimits = ScanLimits()) throws(ExpressionError) {
        let compiled = try Compiled(expression, language)
        self.init(compiled, limits)
    }

    private init(_ compiled: Compiled, _ limits: ScanLimits) {
        let program = compiled.program
        path = compiled.path
        reference = compiled.reference
        paths = PathEvaluator(program: program, limits: limits, payloadIsRoot: true)
        evaluator = JMESPathEvaluator(program: compiled.queries, limits: limits, names: program.names)
        scanner = JSONScanner(
            names: NameTable(program.names), limits: limits, marksUnnamed: true, payloadIsRoot: true)
    }

    /// The result as JSON, with a line feed: of JSONPath one line for each token that is selected; of JMESPath one
    /// line, `null` when there is nothing.
    ///
    /// - Throws: ``Failure``.
    public mutating func run(_ document: [UInt8]) throws(Failure) -> [UInt8] {
        let storage = PaddedBytes(copying: document)
        try scan(storage.view)
        evaluator.reset()
        var output = ByteWriter()
        do throws(EvaluationError) {
            if path.isAbsent {
                try evaluate(storage.view, &output)
            } else {
                try select(storage.view, &output)
            }
        } catch {
            throw .evaluation(message: error.message, offset: Int(error.offset))
        }
        return output.view.array
    }

    private mutating func scan(_ bytes: ByteView) throws(Failure) {
        do throws(ScanFailure) {
            let end = JSONScanner.skipSpace(bytes, try scanner.scan(bytes, from: 0))
            guard end == bytes.count else { throw ScanFailure(reason: .invalidJSON, offset: end) }
            // The same tokens lie at the same places of both tapes.
            if !path.isAbsent { _ = try paths.scanner.scan(bytes, from: 0) }
        } catch {
            throw .document(error.reason, ExpressionRunner.position(error.offset, in: bytes))
        }
    }

    private mutating func evaluate(_ bytes: ByteView, _ output: inout ByteWriter) throws(EvaluationError) {
        let result = try evaluator.evaluate(
            reference, scanner: scanner, root: JSONScanner.payload, matched: -1, bytes: bytes)
        let handle = result.kind == .none ? JMESPathEvaluator.null : result.handle
        try evaluator.appendJSON(of: handle, scanner: scanner, bytes: bytes, to: &output)
        output.append(UInt8(ascii: "\n"))
    }

    private mutating func select(_ bytes: ByteView, _ output: inout ByteWriter) throws(EvaluationError) {
        let root = paths.scanner.root
        let mark = paths.mark
        defer { paths.release(to: mark) }
        for place in paths.select(path, root: root, current: root, bytes: bytes) {
            try evaluator.appendJSON(of: paths.node(place), scanner: scanner, bytes: bytes, to: &output)
            output.append(UInt8(ascii: "\n"))
        }
    }

    private static func position(_ offset: Int, in bytes: ByteView) -> SourcePosition {
        var position = SourcePosition.start
        position.offset = offset
        for index in 0..<min(offset, bytes.count) {
            position.column += 1
            if bytes[index] == UInt8(ascii: "\n") {
                position.line += 1
                position.column = 1
            }
        }
        return position
    }
}
