import KymographCore

/// The JSON document that a record, blood pressure or workout of an export becomes; see docs/tutorials/apple-health.md.
struct AppleHealthDocument: ~Copyable {
    /// Lists of a document, in the order in which they are written.
    private enum Part: Int, CaseIterable {
        case metadata
        case records
        case statistics

        var opening: ByteView {
            switch self {
            case .metadata: ByteView(",\"metadata\":{")
            case .records: ByteView(",\"records\":[")
            case .statistics: ByteView(",\"statistics\":[")
            }
        }

        var closing: ByteView { self == .metadata ? ByteView("}") : ByteView("]") }
    }

    /// Whose readings the export has.
    private let patient: IdentifierText
    private var text = ByteWriter(capacity: 1_024)
    /// What the lists have so far.
    private var metadata = ByteWriter(capacity: 256)
    private var records = ByteWriter(capacity: 256)
    private var statistics = ByteWriter(capacity: 256)
    /// A value with its references decoded.
    private var decoded = ByteWriter(capacity: 256)

    /// Documents of `patient`.
    init(patient: IdentifierText) { self.patient = patient }

    /// The document, once it is finished.
    var view: ByteView { text.view }

    /// Bytes of it so far.
    var count: Int { text.count + metadata.count + records.count + statistics.count }

    /// Begins the document of the element whose first tag is `tag` in `bytes`; false when it has no readable values.
    mutating func begin(_ tag: XMLTag, _ bytes: ByteView) -> Bool {
        text.removeAll()
        metadata.removeAll()
        records.removeAll()
        statistics.removeAll()
        text.append("{\"element\":\"")
        text.append(bytes[tag.name])
        text.append("\",\"patientId\":\"")
        patient.utf8.withByteView { text.appendJSON($0) }
        text.append("\"")
        // The file may not say whose they are.
        guard !tag.attributes.contains(where: { Self.isReserved(bytes[$0.name]) }) else { return false }
        guard appendDevice(tag, bytes), Self.append(attributes: tag, bytes, &decoded, to: &text) else { return false }
        appendTimes(tag, bytes)
        return true
    }

    /// Whether an attribute would take the place of a member that is not of the file.
    private static func isReserved(_ name: ByteView) -> Bool { reserved.contains { name.equals(ByteView($0)) } }

    private static let reserved: [StaticString] = [
        "element", "patientId", "deviceId", "metadata", "records", "statistics", "creationUtc", "startUtc", "endUtc",
    ]

    /// The times in UTC. Apple writes all of an export in the zone where the phone is at that moment: the same record
    /// has other texts in the next export, and only these are the same.
    private mutating func appendTimes(_ tag: XMLTag, _ bytes: ByteView) {
        appendTime(tag.value(of: ByteView("creationDate"), in: bytes), bytes, ",\"creationUtc\":\"")
        appendTime(tag.value(of: ByteView("startDate"), in: bytes), bytes, ",\"startUtc\":\"")
        appendTime(tag.value(of: ByteView("endDate"), in: bytes), bytes, ",\"endUtc\":\"")
    }

    /// Leaves out what is no time, and what names no zone.
    private mutating func appendTime(_ value: Range<Int>?, _ bytes: ByteView, _ member: StaticString) {
        guard let value, let time = TimestampParser.iso8601(bytes[value]), !time.isLocal else { return }
        text.append(member)
        text.append(time.instant)
        text.append("\"")
    }

    /// The program or apparatus that has recorded it is known by a name that other people's have, too.
    private mutating func appendDevice(_ tag: XMLTag, _ bytes: ByteView) -> Bool {
        guard let source = tag.value(of: ByteView("sourceName"), in: bytes), !source.isEmpty else { return true }
        decoded.removeAll()
        guard XMLText.append(bytes[source], to: &decoded) else { return false }
        text.append(",\"deviceId\":\"")
        text.appendJSON(decoded.view)
        text.append(".")
        patient.utf8.withByteView { text.appendJSON($0) }
        text.append("\"")
        return true
    }

    /// Adds what `tag`, which is within the element, says; false when it is not readable. Of most nothing is kept.
    mutating func add(_ tag: XMLTag, _ bytes: ByteView) -> Bool {
        let name = bytes[tag.name]
        if name.equals(ByteView("MetadataEntry")) { return addMetadata(tag, bytes) }
        if name.equals(ByteView("Record")) { return Self.append(object: tag, bytes, &decoded, to: &records) }
        if name.equals(ByteView("WorkoutStatistics")) {
            return Self.append(object: tag, bytes, &decoded, to: &statistics)
        }
        return true
    }

    private mutating func addMetadata(_ tag: XMLTag, _ bytes: ByteView) -> Bool {
        guard let key = tag.value(of: ByteView("key"), in: bytes),
            let value = tag.value(of: ByteView("value"), in: bytes)
        else { return false }
        if metadata.count > 0 { metadata.append(",") }
        guard Self.append(string: bytes[key], &decoded, to: &metadata) else { return false }
        metadata.append(":")
        return Self.append(string: bytes[value], &decoded, to: &metadata)
    }

    /// Closes the document.
    mutating func finish() {
        for part in Part.allCases {
            switch part {
            case .metadata: Self.append(part, metadata, to: &text)
            case .records: Self.append(part, records, to: &text)
            case .statistics: Self.append(part, statistics, to: &text)
            }
        }
        text.append("}")
    }

    private static func append(_ part: Part, _ content: borrowing ByteWriter, to text: inout ByteWriter) {
        guard content.count > 0 else { return }
        text.append(part.opening)
        text.append(content.view)
        text.append(part.closing)
    }

    // MARK: Values

    private static func append(
        object tag: XMLTag, _ bytes: ByteView, _ decoded: inout ByteWriter, to writer: inout ByteWriter
    ) -> Bool {
        if writer.count > 0 { writer.append(",") }
        writer.append("{\"element\":\"")
        writer.append(bytes[tag.name])
        writer.append("\"")
        guard append(attributes: tag, bytes, &decoded, to: &writer) else { return false }
        writer.append("}")
        return true
    }

    private static func append(
        attributes tag: XMLTag, _ bytes: ByteView, _ decoded: inout ByteWriter, to writer: inout ByteWriter
    ) -> Bool {
        for attribute in tag.attributes {
            writer.append(",\"")
            writer.appendJSON(bytes[attribute.name])
            writer.append("\":")
            let value = bytes[attribute.value]
            if isNumber(bytes[attribute.name], value) {
                writer.append(value)
            } else {
                guard append(string: value, &decoded, to: &writer) else { return false }
            }
        }
        return true
    }

    /// What is measured, where it is a number; all else is text, whatever it looks like.
    private static func isNumber(_ name: ByteView, _ value: ByteView) -> Bool {
        measured.contains { name.equals(ByteView($0)) } && PlainText.isNumber(value)
    }

    private static let measured: [StaticString] = ["value", "sum", "average", "minimum", "maximum", "duration"]

    private static func append(
        string value: ByteView, _ decoded: inout ByteWriter, to writer: inout ByteWriter
    ) -> Bool {
        decoded.removeAll()
        guard XMLText.append(value, to: &decoded) else { return false }
        writer.append("\"")
        writer.appendJSON(decoded.view)
        writer.append("\"")
        return true
    }
}
