/// What the sender calls a reading.
extension Mapper {
    /// Keeps the reading's id, if it has one.
    mutating func readId(
        _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView
    ) throws(Failure) {
        guard template.idSlot >= 0, !template.readingId.isAbsent else { return }
        let found = select(template.readingId, template, match, bytes)
        if found == ExpressionEvaluator.none { return }
        if found < 0 { throw failure(unusable(found), template.index, .readingId) }
        text.removeAll()
        if evaluator.appendText(of: found, bytes, compatible: template.isCompatible, to: &text) {
            throw failure(.invalidValue, template.index, .readingId)
        }
        if text.view.isWhiteSpace { return }
        guard text.count <= SeriesKey.longestPart else { throw failure(.valueTooLong, template.index, .readingId) }
        guard isIdentifier(text.view, of: found, bytes) else {
            throw failure(.invalidIdentifier, template.index, .readingId)
        }
        let start = payload.count
        ValueRecord.append(slot: Int(template.idSlot), text: text.view, to: &payload)
        moveRecord(from: start)
    }

    /// Puts the record that was written last, from `start` on, in its place: a type that has got further values since
    /// has its hidden ones among them, and records are in the order of their slots.
    mutating func moveRecord(from start: Int) {
        guard start < payload.count else { return }
        let slot = payload[start]
        var offset = 0
        while offset < start, payload[offset] < slot {
            guard let record = ValueRecord.read(payload.view, at: offset) else { return }
            offset = record.bytes.upperBound
        }
        guard offset < start else { return }
        ruled.removeAll()
        ruled.append(payload.view(offset..<start))
        let last = payload.view(start..<payload.count).array
        payload.truncate(to: offset)
        payload.append(last)
        payload.append(ruled.view)
    }
}
