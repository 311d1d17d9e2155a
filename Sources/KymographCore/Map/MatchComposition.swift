/// A document made for one match: the envelope, and the match as its member `matchedToken` (mapping dialect, section
/// 2.3), replacing a member of the same name.
package struct MatchComposition: ~Copyable {
    /// Evaluates expressions over the composed document.
    package var evaluator: ExpressionEvaluator
    private var text = ByteWriter(capacity: 1024)
    private var payloadCopy = Copy()
    private var matchCopy = Copy()

    /// What was copied from the document: where it begins in the composed one, how long it is, and where it came from.
    private struct Copy {
        var start = 0
        var count = 0
        var origin = 0

        /// Where the bytes `range` of the composed document came from; nil when they are not all of the copy.
        func origin(of range: Range<Int>) -> Range<Int>? {
            guard range.lowerBound >= start, range.upperBound <= start + count else { return nil }
            return range.lowerBound - start + origin..<range.upperBound - start + origin
        }
    }

    package init(_ set: MappingSet, limits: ScanLimits) {
        // The envelope and the match's member come on top of what the payload may have.
        let limits = ScanLimits(depth: limits.depth + 2, values: limits.values * 2 + 4)
        evaluator = ExpressionEvaluator(set, limits: limits, payloadIsRoot: true)
    }

    /// The composed document.
    package var bytes: ByteView { text.view }

    /// Composes the document for `match` of the document in `source`; the match's token in it, or nil when the caps on
    /// documents refuse it.
    package mutating func compose(_ match: Int, _ source: inout ExpressionEvaluator, _ bytes: ByteView) -> Int? {
        text.removeAll()
        (payloadCopy, matchCopy) = (Copy(), Copy())
        appendEnvelope(source, bytes)
        text.append(",\"matchedToken\":")
        if let range = source.range(of: match) {
            matchCopy = Copy(start: text.count, count: range.count, origin: range.lowerBound)
        }
        guard source.appendJSON(match, bytes, to: &text) else { return nil }
        text.append("}")
        text.reserve(ByteView.padding)
        guard (try? evaluator.paths.scanner.scan(text.view, from: 0)) != nil else { return nil }
        evaluator.begin()
        let members = evaluator.paths.scanner.children(of: JSONScanner.payload)
        return members.last
    }

    /// Where the bytes `range` of the composed document stand in the one that it was composed from; nil when they were
    /// made.
    package func origin(of range: Range<Int>) -> Range<Int>? {
        matchCopy.origin(of: range) ?? payloadCopy.origin(of: range)
    }

    /// Writes the envelope's members without the closing brace.
    private mutating func appendEnvelope(_ source: borrowing ExpressionEvaluator, _ bytes: ByteView) {
        let range = source.paths.scanner.tape[JSONScanner.payload].outerRange
        let payload = bytes[range]
        if source.paths.scanner.root == JSONScanner.payload {
            let isObject = source.paths.scanner.tape[JSONScanner.payload].kind == TokenKind.object
            let isEmpty = Int(source.paths.scanner.tape[JSONScanner.payload].next) == JSONScanner.payload + 1
            if isObject, !isEmpty { return copy(payload[0..<(payload.count - 1)], from: range.lowerBound) }
            // Templates demand an object as root; there is nothing else to show beside the match.
            return text.append("{\"Body\":null")
        }
        text.append("{\"Body\":")
        copy(payload, from: range.lowerBound)
        text.append(",\"Properties\":{},\"SystemProperties\":{}")
    }

    private mutating func copy(_ bytes: ByteView, from origin: Int) {
        payloadCopy = Copy(start: text.count, count: bytes.count, origin: origin)
        text.append(bytes)
    }
}
