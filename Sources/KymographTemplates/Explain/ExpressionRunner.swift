package import KymographCore

/// Evaluates one expression over documents, for people who write mappings. Not for the path of readings.
package struct ExpressionRunner: ~Copyable {
    /// Why there is no result.
    package enum Failure: Error, Equatable {
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

        init(_ expression: String, _ language: ExpressionLanguage) throws(ExpressionError) {
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
    private let isLenient: Bool

    /// Compiles `expression`. With `compatibility`, documents that only the reference's reader takes are read, too.
    ///
    /// - Throws: ``ExpressionError`` with the byte where it goes wrong.
    package init(
        _ expression: String, language: ExpressionLanguage, compatibility: Compatibility = .none,
        limits: ScanLimits = ScanLimits()
    ) throws(ExpressionError) {
        let compiled = try Compiled(expression, language)
        self.init(compiled, limits, isLenient: compatibility == .iomtFHIR)
    }

    private init(_ compiled: Compiled, _ limits: ScanLimits, isLenient: Bool) {
        self.isLenient = isLenient
        let program = compiled.program
        path = compiled.path
        reference = compiled.reference
        paths = PathEvaluator(program: program, limits: limits, payloadIsRoot: true, isCompatible: isLenient)
        evaluator = JMESPathEvaluator(program: compiled.queries, limits: limits, names: program.names)
        scanner = JSONScanner(
            names: NameTable(program.names), limits: limits, marksUnnamed: true, payloadIsRoot: true)
    }

    /// The result as JSON, with a line feed: of JSONPath one line for each token that is selected; of JMESPath one
    /// line, `null` when there is nothing.
    ///
    /// - Throws: ``Failure``.
    package mutating func run(_ document: [UInt8]) throws(Failure) -> [UInt8] {
        let storage = PaddedBytes(copying: document)
        do throws(Failure) {
            try scan(storage.view)
        } catch {
            return try runLeniently(storage.view, otherwise: error)
        }
        return try result(storage.view)
    }

    private mutating func runLeniently(_ bytes: ByteView, otherwise strict: Failure) throws(Failure) -> [UInt8] {
        var reader = LenientJSON()
        var text = ByteWriter(capacity: bytes.count + 64)
        let start = bytes.startBehindByteOrderMark
        guard isLenient, (try? reader.rewrite(bytes, from: start, into: &text)) != nil else { throw strict }
        try scan(text.view)
        return try result(text.view)
    }

    private mutating func result(_ bytes: ByteView) throws(Failure) -> [UInt8] {
        evaluator.reset()
        paths.clearFailures()
        var output = ByteWriter()
        do throws(EvaluationError) {
            try path.isAbsent ? evaluate(bytes, &output) : select(bytes, &output)
        } catch {
            throw .evaluation(message: error.message, offset: Int(error.offset))
        }
        if paths.comparisonFailed {
            throw .evaluation(message: "a comparison has sides that cannot be converted", offset: 0)
        }
        if paths.selectionOverflowed {
            throw .evaluation(message: "the expression selects more tokens than one document may", offset: 0)
        }
        return output.view.array
    }

    private mutating func scan(_ bytes: ByteView) throws(Failure) {
        do throws(ScanFailure) {
            let start = bytes.startBehindByteOrderMark
            let end = JSONScanner.skipSpace(bytes, try scanner.scan(bytes, from: start))
            guard end == bytes.count else { throw ScanFailure(reason: .invalidJSON, offset: end) }
            // The same tokens lie at the same places of both tapes.
            if !path.isAbsent { _ = try paths.scanner.scan(bytes, from: start) }
        } catch {
            throw .document(error.reason, ExpressionRunner.position(error.offset, in: bytes))
        }
    }

    private mutating func evaluate(_ bytes: ByteView, _ output: inout ByteWriter) throws(EvaluationError) {
        let result = try evaluator.evaluate(
            reference, scanner: scanner, root: JSONScanner.payload, matched: -1, bytes: bytes)
        let handle = result.kind == .none ? JMESPathValues.null : result.handle
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
