/// A document made for one match: the envelope, and the match as its member `matchedToken` (mapping dialect, section
/// 2.3), replacing a member of the same name.
package struct MatchComposition: ~Copyable {
    /// Evaluates expressions over the composed document.
    package var evaluator: ExpressionEvaluator
    private var text = ByteWriter(capacity: 1024)

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
        appendEnvelope(source, bytes)
        text.append(",\"matchedToken\":")
        guard source.appendJSON(match, bytes, to: &text) else { return nil }
        text.append("}")
        text.reserve(ByteView.padding)
        guard (try? evaluator.paths.scanner.scan(text.view, from: 0)) != nil else { return nil }
        evaluator.begin()
        let members = evaluator.paths.scanner.children(of: JSONScanner.payload)
        return members.last
    }

    /// Writes the envelope's members without the closing brace.
    private mutating func appendEnvelope(_ source: borrowing ExpressionEvaluator, _ bytes: ByteView) {
        let payload = bytes[source.paths.scanner.tape[JSONScanner.payload].outerRange]
        if source.paths.scanner.root == JSONScanner.payload {
            let isObject = source.paths.scanner.tape[JSONScanner.payload].kind == TokenKind.object
            let isEmpty = Int(source.paths.scanner.tape[JSONScanner.payload].next) == JSONScanner.payload + 1
            if isObject, !isEmpty { return text.append(payload[0..<(payload.count - 1)]) }
            // Templates demand an object as root; there is nothing else to show beside the match.
            return text.append("{\"Body\":null")
        }
        text.append("{\"Body\":")
        text.append(payload)
        text.append(",\"Properties\":{},\"SystemProperties\":{}")
    }
}
