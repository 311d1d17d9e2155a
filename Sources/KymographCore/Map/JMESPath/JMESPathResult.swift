/// What an expression gave.
struct JMESPathResult: BitwiseCopyable {
    enum Kind: UInt8 {
        /// Null.
        case none
        /// One value.
        case one
        /// The array of a projection, which can stand for its elements.
        case projection
    }

    var kind: Kind
    /// The value, or the projection's array.
    var handle = -1
    /// Whether the value is `false`.
    var isFalse = false

    static let none = JMESPathResult(kind: .none)
}

extension JMESPathEvaluator {
    /// The one value of a result as a handle, ``PathEvaluator/none`` or ``PathEvaluator/several``.
    ///
    /// A projection of one element is that element, and of none is nothing; with `compatible` it stays an array, as in
    /// the reference system (quirk 11).
    func single(_ result: JMESPathResult, compatible: Bool) -> Int {
        guard result.kind == .projection else { return result.kind == .none ? PathEvaluator.none : result.handle }
        let elements = elements(of: result.handle)
        if elements.count > 1 { return PathEvaluator.several }
        if compatible { return result.handle }
        return elements.isEmpty ? PathEvaluator.none : handle(at: elements.lowerBound)
    }

    /// The matches of a type match expression, to be read with ``handle(at:)``.
    ///
    /// Each element of a projection is one; any other value is one, arrays too, but not null and not `false`; with
    /// `compatible` false is a match as well (quirk 12).
    mutating func matches(_ result: JMESPathResult, compatible: Bool) -> Range<Int> {
        switch result.kind {
        case .none: return 0..<0
        case .projection: return elements(of: result.handle)
        case .one:
            if result.isFalse && !compatible { return 0..<0 }
            own.append(reference(to: result.handle))
            return own.count - 1..<own.count
        }
    }

    /// The value at a place of ``matches(_:compatible:)``.
    func handle(at place: Int) -> Int { resolved(JMESPathEvaluator.ownBase + place) }

    /// The token of a value; its `range` is valid in ``bytes(of:document:)``.
    func token(_ handle: Int, scanner: borrowing JSONScanner) -> Token {
        handle < JMESPathEvaluator.ownBase ? scanner.tape[handle] : own[handle - JMESPathEvaluator.ownBase]
    }

    /// The bytes in which a value's range is valid, padded; valid until the next evaluation.
    func bytes(of handle: Int, document: ByteView) -> ByteView {
        handle < JMESPathEvaluator.ownBase ? document : text.view
    }

    /// Appends a value as compact JSON, numbers with the digits they have.
    mutating func appendJSON(
        of handle: Int, scanner: borrowing JSONScanner, bytes: ByteView, to writer: inout ByteWriter
    ) throws(EvaluationError) {
        open(scanner, bytes)
        defer { close() }
        let start = text.count
        try writeJSON(handle)
        writer.append(text.view(start..<text.count))
        text.truncate(to: start)
    }

    /// What the elements or members of a made container stand for; of a scalar, nothing.
    func parts(of made: Int) -> [Int] {
        let index = made - JMESPathEvaluator.ownBase
        guard own[index].isContainer else { return [] }
        return (index + 1..<Int(own[index].next)).map { resolved(JMESPathEvaluator.ownBase + $0) }
    }

    private func elements(of array: Int) -> Range<Int> {
        let index = array - JMESPathEvaluator.ownBase
        return index + 1..<Int(own[index].next)
    }
}
