/// What a mapper needs for documents that are not quite JSON.
struct Leniency: ~Copyable {
    var reader = LenientJSON()
    /// The document as JSON.
    var text = ByteWriter(capacity: 1_024)

    /// Rewrites the value at `start` and scans it; the offset behind it, or nil when even this reader refuses it.
    mutating func rewrite(_ bytes: ByteView, from start: Int, into scanner: inout JSONScanner) -> Int? {
        guard let end = try? reader.rewrite(bytes, from: start, into: &text),
            (try? scanner.scan(text.view, from: 0)) == text.count
        else { return nil }
        return end
    }

    /// Whether there are only blanks and comments from `start` on.
    mutating func isBlank(_ bytes: ByteView, from start: Int) -> Bool {
        (try? reader.valueStart(bytes, from: start)) == bytes.count
    }
}

extension Mapper {
    /// Maps the value at `start` as the reference's reader takes it (mapping dialect, section 1.1), and returns the
    /// offset behind it; nil when it is not taken, or when nobody asked for quirks. Behind a value, comments alone are
    /// passed over.
    @inline(never)
    mutating func mapLeniently(
        _ bytes: ByteView, from start: Int, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) -> Int? {
        guard var leniency = leniency.take() else { return nil }
        var end = leniency.rewrite(bytes, from: start, into: &evaluator.paths.scanner)
        if let end {
            original = bytes[start..<end]
            mapDocument(leniency.text.view, context: context, received: received, output: &output)
            original = nil
        } else if JSONScanner.skipSpace(bytes, 0) < start, leniency.isBlank(bytes, from: start) {
            end = bytes.count
        }
        self.leniency = consume leniency
        return end
    }
}
