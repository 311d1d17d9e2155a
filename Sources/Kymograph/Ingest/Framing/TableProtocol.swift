import KymographCore

/// A table whose rows become JSON objects: each is a payload. Fields without content are left out.
final class TableProtocol: StreamProtocol {
    private let framing: TableFraming
    private var row: TableRow
    private var object = ByteWriter(capacity: 256)
    /// The beginnings of the members, `"name":`; empty before the header row.
    private var members: [[UInt8]]
    private var mark = LeadingMark()
    /// Whether the first row may be the rest of one.
    private var mayBeRest = true

    /// Rows of at most `cap` bytes.
    init(_ framing: TableFraming, cap: Int) {
        self.framing = framing
        row = TableRow(framing, cap: cap)
        members = (framing.columns ?? []).map { TableProtocol.member(Array($0.utf8)) }
    }

    /// Tools that write tables ask for nothing.
    var acknowledging: Acknowledging { .never }

    func take(
        _ piece: StreamPiece, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        let bytes = piece.bytes
        for index in 0..<bytes.count where !mark.takes(bytes[index]) {
            guard case .end = row.step(bytes[index]) else { continue }
            guard endRow(&intake, &consumer) else { return false }
        }
        return true
    }

    func end(
        _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        guard !row.isEmpty else { return }
        // A lane that stops may end a stream twice.
        defer { row.removeAll() }
        switch ending {
        case .cut(let reason): reject(reason, &intake, &consumer)
        case .ended where intake.mayEndWithin: reject(.frameIncomplete, &intake, &consumer)
        case .ended:
            row.finish()
            _ = endRow(&intake, &consumer)
        }
    }

    /// Takes the row that is complete; false when it is no header, and nothing can be made of what follows.
    private func endRow(
        _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        defer {
            row.removeAll()
            mayBeRest = false
        }
        if mayBeRest, intake.hasOpenEnds {
            reject(.beginningMissed, &intake, &consumer)
        } else if row.isTooLong {
            reject(.lineTooLong, &intake, &consumer)
        } else if row.isBlank {
            return true
        } else if members.isEmpty {
            guard takeHeader() else {
                reject(.tableHeader, &intake, &consumer)
                return false
            }
        } else if row.isBroken || row.fields.count != members.count {
            reject(.tableRow, &intake, &consumer)
        } else {
            writeObject()
            object.view.withPadding { intake.payload($0, to: &consumer) }
        }
        return true
    }

    private func reject(
        _ reason: Rejection, _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        row.raw.view.withPadding { intake.reject(reason, $0, to: &consumer) }
    }

    /// Whether the row names each column, and none twice.
    private func takeHeader() -> Bool {
        let names = row.fields.map { row.text.view($0.range).array }
        let isPlain = !row.isBroken && !names.contains([]) && Set(names).count == names.count
        guard isPlain, names.count > 1 || !TableProtocol.hasOtherDelimiter(names[0]) else { return false }
        members = names.map(TableProtocol.member)
        return true
    }

    /// Whether a table of one column seems to have more.
    private static func hasOtherDelimiter(_ name: [UInt8]) -> Bool {
        name.contains { [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09, UInt8(ascii: "|")].contains($0) }
    }

    private static func member(_ name: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: 64)
        writer.append("\"")
        writer.appendJSON(name)
        writer.append("\":")
        return writer.view.array
    }

    private func writeObject() {
        object.removeAll()
        object.append("{")
        for (field, member) in zip(row.fields, members) where field.isQuoted || !field.range.isEmpty {
            if object.count > 1 { object.append(",") }
            object.append(member)
            row.text.view(field.range).withPadding { write($0, isQuoted: field.isQuoted) }
        }
        object.append("}")
    }

    private func write(_ value: ByteView, isQuoted: Bool) {
        if !isQuoted, PlainText.isNumber(value) || PlainText.isBoolean(value) { return object.append(value) }
        object.append("\"")
        object.appendJSON(value)
        object.append("\"")
    }
}
