/// What readings of one correlation say differently of one time.
extension FieldFacts {
    /// Whether a reading of the same time as the latest one with the value of `field` has another one. Which of the two
    /// belongs to the correlation's other values is then unknown.
    func isContradicted(
        _ field: ProgramField, _ content: borrowing WindowContent, _ tables: borrowing ProgramTables
    ) -> Bool {
        guard count > 0, last > 0, field.extras.countsAsValue else { return false }
        let instant = content.readings[last].instant
        var index = last - 1
        while index >= 0, content.readings[index].instant == instant {
            if contradicts(index, field, content, tables) { return true }
            index -= 1
        }
        return false
    }

    /// Whether reading `index` has another value than the latest one; one without a value says nothing.
    private func contradicts(
        _ index: Int, _ field: ProgramField, _ content: borrowing WindowContent, _ tables: borrowing ProgramTables
    ) -> Bool {
        let slot = Int(field.slot)
        switch field.kind {
        // The concept is the template's, whatever the reading has; and all readings count in summaries and series.
        case .presence, .statistics, .series: return false
        case .number:
            guard let number = content.number(index, slot: slot) else { return false }
            return !number.isEqualInValue(to: result)
        case .text:
            let isThere = content.text(index, slot: slot) != nil || content.number(index, slot: slot) != nil
            return isThere && !content.agree(index, last, slot: slot)
        case .checked:
            guard case .value(let number, let comparator) = Sighting.of(field, content, index, tables) else {
                return false
            }
            return !saysSame(number, comparator, field.extras, of: index, slot: slot, content)
        }
    }

    /// Whether the checked value of reading `index` is that of the latest one.
    private func saysSame(
        _ number: Decimal64, _ comparator: Comparator, _ extras: FieldExtras, of index: Int, slot: Int,
        _ content: borrowing WindowContent
    ) -> Bool {
        switch extras.form {
        case .presence: true
        case .number, .integer, .boolean: number.isEqualInValue(to: result) && comparator == self.comparator
        case .text, .dateTime, .time, .period, .range, .ratio:
            content.agree(index, last, slot: slot) && content.agree(index, last, slot: Int(extras.second))
        }
    }
}

extension WindowContent {
    /// Whether two readings have the same number in `slot`, the same text, or neither; of no slot they do.
    fileprivate func agree(_ one: Int, _ other: Int, slot: Int) -> Bool {
        guard slot >= 0 else { return true }
        let (mine, theirs) = (number(one, slot: slot), number(other, slot: slot))
        if let mine, let theirs { return mine.isEqualInValue(to: theirs) }
        let (text, others) = (self.text(one, slot: slot), self.text(other, slot: slot))
        if let text, let others { return text.equals(others) }
        return mine == nil && theirs == nil && text == nil && others == nil
    }
}
