/// Reads arrays of numbers: the samples of a waveform (an extension of the mapping dialect).
struct SampleCollector: ~Copyable {
    private var samples = RawArray<Decimal64>(capacity: 16)
    /// Their record.
    private var text = ByteWriter(capacity: 256)

    /// Stores the array `found` as one value of the reading, or says why the reading must be rejected. An array without
    /// elements is a value that is not there.
    @inline(never)
    mutating func read(
        _ value: ValueCode, _ found: Int, _ bytes: ByteView, _ evaluator: inout ExpressionEvaluator,
        _ payload: inout ReadingPayload, _ stored: inout Int
    ) -> Rejection? {
        samples.removeAll()
        let refused =
            ExpressionEvaluator.isProduced(found)
            ? collectMade(found, bytes, &evaluator) : collect(found, bytes, &evaluator)
        if let refused { return refused }
        guard samples.count > 0 else { return value.isRequired ? .missingValue : nil }
        text.removeAll()
        guard SampleRecord.append(samples, to: &text) else { return .inexactNumber }
        // What comes after it needs some room too.
        guard text.count <= ValueRecord.longestContent, payload.count + text.count <= ReadingPayload.longest - 64
        else { return .tooManySamples }
        payload.append(slot: Int(value.slot), samples: text.view)
        stored += 1
        return nil
    }

    /// Takes the elements of an array of the document, which lie behind each other on the tape.
    private mutating func collect(
        _ array: Int, _ bytes: ByteView, _ evaluator: inout ExpressionEvaluator
    ) -> Rejection? {
        let end = Int(evaluator.paths.scanner.tape[array].next)
        guard end - array - 1 <= SampleRecord.mostSamples else { return .tooManySamples }
        for index in (array + 1)..<end {
            let token = evaluator.paths.scanner.tape[index]
            if token.kind == TokenKind.number, let whole = SampleCollector.whole(bytes[token.range]) {
                samples.append(Decimal64(mantissa: whole))
            } else if let refused = collect(token, bytes) {
                return refused
            }
        }
        return nil
    }

    /// Takes the elements of an array that JMESPath made. Allocates, as making the array did.
    private mutating func collectMade(
        _ array: Int, _ bytes: ByteView, _ evaluator: inout ExpressionEvaluator
    ) -> Rejection? {
        let parts = evaluator.parts(of: array)
        guard parts.count <= SampleRecord.mostSamples else { return .tooManySamples }
        for part in parts {
            if let refused = collect(evaluator.token(part), evaluator.source(of: part, bytes)) { return refused }
        }
        return nil
    }

    /// Takes one element: a number, null for none, or a text that stands for none.
    private mutating func collect(_ token: Token, _ bytes: ByteView) -> Rejection? {
        switch token.kind {
        case TokenKind.null: samples.append(SampleRecord.placeholder(.missing))
        case TokenKind.number:
            switch DecimalParser.parse(bytes[token.range]) {
            case .number(let number): samples.append(number)
            case .malformed: return .invalidValue
            case .inexact: return .inexactNumber
            }
        case TokenKind.string:
            guard let mark = Sample.Mark(bytes[token.range]) else { return .invalidValue }
            samples.append(SampleRecord.placeholder(mark))
        default: return .invalidValue
        }
        return nil
    }

    /// The value of at most 18 digits, a minus before them perhaps: nearly all samples of a converter.
    @inline(__always)
    private static func whole(_ text: ByteView) -> Int64? {
        guard text.count <= 18, text.count > 1, text[0] == UInt8(ascii: "-") else {
            return text.count <= 18 ? DecimalParser.plainInteger(text) : nil
        }
        return DecimalParser.plainInteger(text[1..<text.count]).map { -$0 }
    }
}

extension Sample.Mark {
    /// The tokens of SampledData, and the special values of IEEE 11073 as texts (spec/gatt-and-framings.md); nil for
    /// any other text.
    fileprivate init?(_ text: ByteView) {
        if text.isOneOf("E", "NaN", "NRes") {
            self = .missing
        } else if text.isOneOf("L", "-INF", "-Infinity") {
            self = .below
        } else if text.isOneOf("U", "INF", "+INF") || text.equals(ByteView("Infinity")) {
            self = .above
        } else {
            return nil
        }
    }
}

extension ByteView {
    fileprivate func isOneOf(_ first: StaticString, _ second: StaticString, _ third: StaticString) -> Bool {
        equals(ByteView(first)) || equals(ByteView(second)) || equals(ByteView(third))
    }
}
