import FoundationEssentials
import KymographCore

/// A line of the files of receipts: what became of one entry, or that a bundle is done with.
package struct ReceiptLine: Codable, Hashable, Sendable {
    /// Identifier of a resource.
    package struct Identifier: Codable, Hashable, Sendable {
        /// System; nil without one.
        package var system: String?
        /// Value, in full.
        package var value: String
    }

    /// The same of a line that comes again after a crash; nil while it waits.
    package var id: String?
    /// When the sink's answer was committed, RFC 3339 in UTC.
    package var at: String
    /// The name of the sink.
    package var sink: String
    /// `created`, `updated`, `amended`, `unchanged`, `kept` (the server kept other content), `deleted`, `sent` (to an
    /// event hub, a topic or a database), `refused`, or `finished`: all entries through a row of the outbox are done.
    package var outcome: String
    /// Type and id, or search, of the resource; `Event` and digest of an event.
    package var resource: String?
    /// What the resource is searched by.
    package var identifier: Identifier?
    /// The device.
    package var device: IdentifierText?
    /// The patient that readings name.
    package var patient: IdentifierText?
    /// The type of the readings.
    package var type: String?
    /// Start of the window, or the time of the single reading.
    package var start: String?
    /// End of the window.
    package var end: String?
    /// How many readings it holds; nil when a later version of the window has others by now.
    package var readings: Int?
    /// Time of the first of them.
    package var first: String?
    /// Time of the last of them.
    package var last: String?
    /// Status of the answer.
    package var status: Int?
    /// `Location` of the answer.
    package var location: String?
    /// `ETag` of the answer.
    package var version: String?
    /// How often the entry was sent.
    package var attempts: Int?
    /// Why it was refused.
    package var reason: String?
    /// What the server said then: status and OperationOutcome.
    package var detail: String?
    /// Of `finished`: the row of the outbox through which all is done.
    package var through: Int64?

    init(at: String, sink: String, outcome: String) { (self.at, self.sink, self.outcome) = (at, sink, outcome) }

    /// What became of an entry.
    init(_ receipt: DeliveryReceipt, sink: String, at: String) {
        self.init(at: at, sink: sink, outcome: ReceiptLine.outcome(receipt))
        resource = receipt.resource
        status = receipt.status == 0 ? nil : receipt.status
        location = receipt.location.isEmpty ? nil : receipt.location
        version = receipt.version.isEmpty ? nil : receipt.version
        attempts = receipt.attempts
        note(receipt.subject)
    }

    /// That an entry was refused.
    init(_ entry: UndeliverableEntry, sink: String, at: String) {
        self.init(at: at, sink: sink, outcome: "refused")
        (resource, attempts) = (entry.resource, entry.attempts)
        (reason, detail) = (entry.reason.name, entry.detail)
        note(ReceiptSubject(letter: entry.bytes))
    }

    private static func outcome(_ receipt: DeliveryReceipt) -> String {
        if receipt.isLacking { return "kept" }
        if receipt.isDeleted { return "deleted" }
        if receipt.isSent { return "sent" }
        if receipt.status == 201 { return "created" }
        if receipt.subject?.isCreated ?? true { return "unchanged" }
        return receipt.subject?.isAmended == true ? "amended" : "updated"
    }

    private mutating func note(_ subject: ReceiptSubject?) {
        guard let subject else { return }
        if !subject.value.isEmpty {
            let system = subject.system.isEmpty ? nil : subject.system.text
            identifier = Identifier(system: system, value: subject.value.text)
        }
        (device, patient) = (subject.device, subject.patient)
        guard let type = subject.eventType, let time = subject.eventTime else { return }
        (self.type, start, end, readings, first, last) = (type, time, time, 1, time, time)
    }

    /// When the sink's answer was committed.
    package var time: Instant? { Instant(rfc3339: at) }

    /// Writes lines.
    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// The line as JSON by ``encoder``, with its line feed.
    func json(_ encoder: JSONEncoder) -> [UInt8] {
        ((try? encoder.encode(self)).map(Array.init) ?? []) + [0x0A]
    }
}

extension Instant {
    /// The instant that `text` names; nil when it names none.
    init?(rfc3339 text: String) {
        let storage = PaddedBytes(copying: Array(text.utf8))
        guard let time = TimestampParser.iso8601(storage.view) else { return nil }
        self = time.instant
    }
}
