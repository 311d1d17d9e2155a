import KymographCore

/// Payloads as they came in one batch of a lane, with the readings that each has given: what `store.keepRaw` keeps.
///
/// The content begins with the series, each with the name of its type and its identifiers; each part is a number, its
/// length and one, and its bytes, or 0 where there is none. Then there is one record for each payload: the number of
/// the source, the receive time, length and bytes, and how many readings, each with the place of its series and how
/// much later than the payload it is. All numbers are of variable length (``Varint``), those with a sign zigzagged, and
/// times in nanoseconds.
struct PayloadSection: Sendable {
    /// Payloads in it.
    var count = 0
    /// The hours that readings of each device are of (``hour(of:)``).
    var devices: [[UInt8]: Set<Int64>] = [:]
    var content: [UInt8] = []

    /// Bytes that it takes while it waits, nearly.
    var weight: Int { 200 + content.count + devices.values.reduce(0) { $0 + 50 + 30 * $1.count } }

    /// Hours since 1970, by which payloads are looked for.
    static func hour(of instant: Instant) -> Int64 {
        let hour: Int64 = 3_600_000_000_000
        return instant.nanoseconds / hour - (instant.nanoseconds % hour < 0 ? 1 : 0)
    }
}

/// Collects the payloads of a section.
struct PayloadSectionWriter: ~Copyable {
    /// Bytes from which on a section should not wait for the end of its batch.
    static let much = 256 << 10
    /// Series that most sections have at most.
    private static let fewSeries = 64

    /// The readings of the payload that is being mapped, each with the place of its series.
    private var readings: [(series: Int, instant: Instant)] = []
    /// The places of series by their keys.
    private var places = SeriesTable(capacity: PayloadSectionWriter.fewSeries)
    /// By the places of series: its device, and the hours that it has readings of.
    private var devices: [(device: [UInt8], hours: [Int64])] = []
    private var series = ByteWriter(capacity: 1_024)
    private var records = ByteWriter(capacity: 1_024)
    private var section = PayloadSection()

    /// Whether it should be taken though more may come.
    var isFull: Bool { series.count + records.count >= Self.much }

    /// Whether the payload that is being mapped has given one.
    var hasReadings: Bool { !readings.isEmpty }

    /// A payload is about to be mapped.
    mutating func begin() { readings.removeAll(keepingCapacity: true) }

    /// It has given a reading; `key` is its ``SeriesKey``, `type` the name of its type.
    mutating func note(_ key: ByteView, type: String, at instant: Instant) {
        readings.append((places.find(key) ?? introduce(key, type), instant))
    }

    private mutating func introduce(_ key: ByteView, _ type: String) -> Int {
        let identity = SeriesKey.identity(key)
        devices.append((identity.device, []))
        for part in [
            Array(type.utf8), identity.device, identity.patient, identity.encounter, identity.correlation,
        ] {
            Self.append(part, to: &series)
        }
        return places.insert(key)
    }

    private static func append(_ part: [UInt8]?, to writer: inout ByteWriter) {
        Varint.append(part.map { UInt64($0.count) + 1 } ?? 0, to: &writer)
        part.map { writer.append($0) }
    }

    /// The payload is mapped; one that has given no reading is not kept. `source` is the source's number in the store.
    mutating func end(_ bytes: ByteView, source: Int, received: Instant) {
        guard !readings.isEmpty else { return }
        section.count += 1
        Varint.append(UInt64(source), to: &records)
        Varint.append(Varint.zigzag(received.nanoseconds), to: &records)
        Varint.append(UInt64(bytes.count), to: &records)
        records.append(bytes)
        Varint.append(UInt64(readings.count), to: &records)
        for (series, instant) in readings {
            Varint.append(UInt64(series), to: &records)
            Varint.append(Varint.zigzag(instant.nanoseconds &- received.nanoseconds), to: &records)
            note(PayloadSection.hour(of: instant), of: series)
        }
    }

    /// Nearly always it is the hour of the reading before.
    private mutating func note(_ hour: Int64, of series: Int) {
        if devices[series].hours.last == hour || devices[series].hours.contains(hour) { return }
        devices[series].hours.append(hour)
    }

    /// What was collected; nil when that is nothing.
    mutating func take() -> PayloadSection? {
        defer { reset() }
        guard section.count > 0 else { return nil }
        var content = ByteWriter(capacity: series.count + records.count + 16)
        Varint.append(UInt64(places.count), to: &content)
        content.append(series.view)
        content.append(records.view)
        section.content = content.view.array
        for (device, hours) in devices where !hours.isEmpty { section.devices[device, default: []].formUnion(hours) }
        return section
    }

    private mutating func reset() {
        section = PayloadSection()
        if places.count > 0 { places = SeriesTable(capacity: Self.fewSeries) }
        devices.removeAll(keepingCapacity: true)
        series.removeAll()
        records.removeAll()
    }
}
