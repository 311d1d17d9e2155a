/// What a retraction calls a reading.
package enum RetractionForm: Sendable {
    /// The sender's id.
    case byID
    /// Its time.
    case byTime
}

/// What a retraction calls the reading that it takes back, within a device and type: the sender's id, or a time.
package struct RetractionName: Hashable, Sendable {
    /// As a store keeps it: `i` and the id, or `t` and the time in nanoseconds (8 bytes, big-endian).
    package let bytes: [UInt8]

    /// The reading called `id`.
    package init(id: ByteView) { bytes = [UInt8(ascii: "i")] + id.array }

    /// The reading at `instant`.
    package init(instant: Instant) {
        let bits = UInt64(bitPattern: instant.nanoseconds)
        bytes = [UInt8(ascii: "t")] + (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * $0)) }
    }

    /// What a store has kept; nil when it is neither.
    package init?(bytes: [UInt8]) {
        switch bytes.first {
        case UInt8(ascii: "i") where bytes.count > 1: break
        case UInt8(ascii: "t") where bytes.count == 9: break
        default: return nil
        }
        self.bytes = bytes
    }

    /// What it is.
    package var form: RetractionForm { bytes[0] == UInt8(ascii: "i") ? .byID : .byTime }

    /// The id; nil where a time names the reading.
    package var id: [UInt8]? { bytes[0] == UInt8(ascii: "i") ? Array(bytes.dropFirst()) : nil }

    /// The time; nil where an id names the reading.
    package var instant: Instant? {
        guard bytes[0] == UInt8(ascii: "t") else { return nil }
        let bits = bytes.dropFirst().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Instant(nanoseconds: Int64(bitPattern: bits))
    }
}

extension RetractionName {
    /// Whether it is a name of the reading.
    func fits(_ content: ReadingKey.Content, by key: ReadingKey) -> Bool {
        if let instant { return content.reading.instant == instant }
        guard let id = key.id(of: content) else { return false }
        return bytes.withByteView { $0[1..<$0.count].equals(id) }
    }

    /// All names of a reading.
    static func all(of content: ReadingKey.Content, by key: ReadingKey) -> [RetractionName] {
        let byInstant = RetractionName(instant: content.reading.instant)
        return key.id(of: content).map { [RetractionName(id: $0), byInstant] } ?? [byInstant]
    }
}

/// A reading that was taken back, and is kept out when it comes again.
package struct Retraction: Hashable, Sendable {
    /// The device.
    package var device: [UInt8]
    /// The name of the type.
    package var type: String
    /// What the sender has called it.
    package var name: RetractionName
    /// The patient that the sender has named; nil for none.
    package var patient: [UInt8]?
    /// Whether it has taken a reading out; otherwise none has come, or one was kept out.
    package var hasTaken: Bool
    /// The store's numbers of the series that it has taken readings out of, as far as they are known.
    package var series: Set<Int> = []
    /// When the document was received that has renewed the reading: then only what was received before stays out.
    package var renewed: Instant?
    /// When the last document was received that has said it; nil when that is not known.
    package var came: Instant?

    /// A retraction.
    package init(device: [UInt8], type: String, name: RetractionName, patient: [UInt8]?, hasTaken: Bool) {
        (self.device, self.type, self.name, self.patient) = (device, type, name, patient)
        self.hasTaken = hasTaken
    }
}

/// What has happened to a retraction that a store remembers.
package struct RetractionChange: Sendable {
    /// What has happened.
    package enum Event: Sendable {
        /// It came, and has taken a reading out, or found none.
        case came
        /// It has kept a reading out.
        case keptOut
        /// It came once more.
        case repeated
        /// The reading came again in a document that takes it back.
        case renewed
    }

    /// Which one, as it is since.
    package var retraction: Retraction
    /// What has happened to it.
    package var event: Event
    /// The store's number of the series that the reading was in, or belongs to; -1 when that is not known.
    package var series: Int
    /// Start of its window in the archive.
    package var start: Instant
    /// When it was received, or the reading that it has kept out, or that has renewed it.
    package var at: Instant

    /// What happened at `at` to `retraction`, whose reading belongs to the window at `start`.
    package init(
        retraction: Retraction, _ event: Event, series: Int = -1, start: Instant = .distantPast, at: Instant
    ) {
        (self.retraction, self.event, self.series, self.start, self.at) = (retraction, event, series, start, at)
    }
}

/// A retraction as it comes through a ring: the length of the ``SeriesKey`` (2 bytes, little-endian), that, and, where
/// it names an id, the ``ValueRecord`` of that; else the record's time names the reading.
package struct Tombstone {
    /// Device, type, and the patient that it names.
    var series: SeriesIdentity
    /// What it calls the reading.
    var name: RetractionName
    /// When it was received.
    var received: Instant

    /// What `record`, with `payload`, says.
    init(_ record: Measurement, _ payload: ByteView) {
        series = SeriesKey.identity(Tombstone.key(in: payload))
        let content = Tombstone.content(of: payload)
        if let id = ValueRecord.read(content, at: 0) {
            name = RetractionName(id: content[id.bytes])
        } else {
            name = RetractionName(instant: record.instant)
        }
        received = record.received
    }

    /// The series that it names.
    static func key(in payload: ByteView) -> ByteView { payload[2..<2 + keyLength(payload)] }

    /// What it has besides.
    static func content(of payload: ByteView) -> ByteView { payload[2 + keyLength(payload)..<payload.count] }

    private static func keyLength(_ payload: ByteView) -> Int { Int(payload[0]) | Int(payload[1]) << 8 }

    /// Writes one of `key`, without its patient and encounter if `isNameless`.
    static func write(_ key: ByteView, isNameless: Bool, content: ByteView, into writer: inout ByteWriter) {
        var rewritten = ByteWriter(capacity: 64)
        if isNameless { SeriesKey.rewrite(key, patient: nil, encounter: nil, into: &rewritten) }
        let count = isNameless ? rewritten.count : key.count
        writer.removeAll()
        writer.append(UInt8(truncatingIfNeeded: count))
        writer.append(UInt8(truncatingIfNeeded: count >> 8))
        writer.append(isNameless ? rewritten.view : key)
        writer.append(content)
    }
}
