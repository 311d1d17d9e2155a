package import KymographCore

/// What a delivered entry is about: what a receipt says of it besides the server's answer.
package struct ReceiptSubject: Hashable, Sendable {
    /// The id that we give the resource; empty where it has none of ours.
    package var id: String
    /// System of the identifier that it is searched by; empty without one.
    package var system: IdentifierText
    /// Value of that, in full; empty for an event.
    package var value: IdentifierText
    /// The device; nil when it names none.
    package var device: IdentifierText?
    /// The patient that its readings name; nil when they name none.
    package var patient: IdentifierText?
    /// The type of an event's measurement; nil for resources, whose identifier has it.
    package var eventType: String?
    /// The time of an event's reading, as the event has it.
    package var eventTime: String?
    /// Whether the server was asked to make it unless it has it.
    package var isCreated: Bool
    /// Whether it is a later version of its window.
    package var isAmended: Bool

    /// What entry `number` of `block` is about.
    package init(_ number: Int, of block: EntryBlock) {
        let entry = block[number]
        (id, system) = (entry.id.string, IdentifierText(utf8: entry.system.array))
        isCreated = entry.isCreated(as: block.form)
        let isEvent = entry.kind == .event
        value = isEvent ? "" : entry.fullIdentifier
        device = isEvent ? IdentifierText(utf8: entry.value.array) : entry.device.map { block[$0].fullIdentifier }
        // The identity of a resource whose readings name no patient begins with a dot.
        let namesPatient = value.utf8.first != UInt8(ascii: ".")
        patient = namesPatient ? entry.patient.map { block[$0].fullIdentifier } : nil
        let body = String(decoding: entry.body.array, as: UTF8.self)
        isAmended = !isEvent && body.contains("\"status\":\"amended\"")
        guard isEvent else { return }
        eventType = entry.type.string
        eventTime = body.firstRange(of: "\"OccurrenceTimeUtc\":\"").map {
            String(body[$0.upperBound...].prefix { $0 != "\"" })
        }
    }

    /// What the last entry of a block is about, which a letter holds; nil when it cannot be read.
    init?(letter: [UInt8]) {
        var index = EntryIndex()
        let found = letter.withByteView { bytes -> ReceiptSubject? in
            guard let block = index.read(bytes) else { return nil }
            return (0..<block.count).last { !block[$0].isUnwritten }.map { ReceiptSubject($0, of: block) }
        }
        guard let found else { return nil }
        self = found
    }
}

extension Entry {
    /// The whole of the identifier that it is searched by.
    fileprivate var fullIdentifier: IdentifierText { IdentifierText(utf8: (whole.count > 0 ? whole : value).array) }
}
