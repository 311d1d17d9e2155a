package import KymographCore

/// What the mapper made of one match.
package struct MatchOutcome: Sendable {
    /// "a reading" and its values, or the reason for the rejection and the field that caused it.
    package var text: String
    /// Why it was rejected; nil when it became a reading, or was not evaluated.
    package var rejection: Rejection?
    /// Which field of which template caused that.
    package var detail = ""
    /// The values as they were kept, after units and maps: digits as they are written; nil when there is no reading.
    package var values: [(name: String, text: String)]?

    init(text: String) { self.text = text }

    fileprivate init(rejection: Rejection, detail: String) {
        let place = detail.isEmpty ? "" : ", \(detail)"
        text = "rejected: \(rejection.name)\(place) — \(rejection.explanation)"
        (self.rejection, self.detail) = (rejection, detail)
    }

    fileprivate init(values: [(name: String, text: String)]) {
        let list = values.map { "\($0.name) = \($0.text)" }.joined(separator: ", ")
        text = "a reading" + (values.isEmpty ? "" : ": \(list)")
        self.values = values
    }
}

/// Keeps what a mapper says of each match.
struct MatchOutcomes: MeasurementOutput {
    let set: MappingSet
    private(set) var all: [MatchOutcome] = []

    init(set: MappingSet) { self.set = set }

    mutating func accept(
        _ measurement: Measurement, payload: ByteView, key: ByteView, template: Int32
    ) -> Rejection? {
        let type = set.types[SeriesKey.identity(key).type]
        all.append(MatchOutcome(values: type.valueNames.indices.compactMap { value($0, type, measurement, payload) }))
        return nil
    }

    mutating func retract(_ record: Measurement, payload: ByteView, key: ByteView, template: Int32) -> Rejection? {
        guard let id = ValueRecord.read(payload, at: 0) else {
            all.append(MatchOutcome(text: "a retraction by time"))
            return nil
        }
        all.append(MatchOutcome(text: "a retraction by id: \(payload[id.bytes].string)"))
        return nil
    }

    /// The value in `slot` as it was kept, after units and maps.
    private func value(
        _ slot: Int, _ type: MeasurementType, _ measurement: Measurement, _ payload: ByteView
    ) -> (name: String, text: String)? {
        guard !type.isHidden(slot) else { return nil }
        var writer = ByteWriter(capacity: 64)
        if slot < Measurement.inlineValues, let number = measurement.inline(slot) {
            writer.append(number)
        } else if let record = ValueRecord.find(slot, in: payload) {
            record.appendText(of: payload, to: &writer)
        } else {
            return nil
        }
        return (type.valueNames[slot], writer.view.string)
    }

    mutating func reject(_ reason: Rejection, bytes: ByteView, detail: RejectionDetail) {
        // Neither is about a match.
        guard reason != .noTemplate, detail.field != .match else { return }
        all.append(MatchOutcome(rejection: reason, detail: set.describe(detail)))
    }
}
