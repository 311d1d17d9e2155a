import KymographCore

/// The JSON document that a record, blood pressure, meal or workout of an export becomes; see
/// docs/tutorials/apple-health.md.
struct AppleHealthDocument: ~Copyable {
    /// Lists of a document, in the order in which they are written.
    private enum Part: Int, CaseIterable {
        case metadata
        case records
        case contents
        case statistics
        case events

        var opening: ByteView {
            switch self {
            case .metadata: ByteView(",\"metadata\":{")
            case .records: ByteView(",\"records\":[")
            case .contents: ByteView(",\"contents\":[")
            case .statistics: ByteView(",\"statistics\":[")
            case .events: ByteView(",\"events\":[")
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
    private var contents = ByteWriter(capacity: 256)
    private var statistics = ByteWriter(capacity: 256)
    private var events = ByteWriter(capacity: 256)
    private var isMeal = false
    /// Keys of the metadata so far.
    private var keys: Set<[UInt8]> = []
    private var device = AppleHealthDevice()
    /// A value with its references decoded.
    private var decoded = ByteWriter(capacity: 256)

    /// Documents of `patient`.
    init(patient: IdentifierText) { self.patient = patient }

    /// The document, once it is finished.
    var view: ByteView { text.view }

    /// Bytes of it so far.
    var count: Int {
        text.count + metadata.count + records.count + contents.count + statistics.count + events.count
    }

    /// Begins the document of the element whose first tag is `tag` in `bytes`; false when it has no readable values.
    mutating func begin(_ tag: XMLTag, _ bytes: ByteView) -> Bool {
        text.removeAll()
        metadata.removeAll()
        if !keys.isEmpty { keys.removeAll() }
        records.removeAll()
        contents.removeAll()
        statistics.removeAll()
        events.removeAll()
        isMeal = Self.isMeal(tag, bytes)
        text.append("{\"element\":\"")
        text.append(bytes[tag.name])
        text.append("\",\"patientId\":\"")
        patient.utf8.withByteView { text.appendJSON($0) }
        text.append("\"")
        guard appendDevice(tag, bytes), Self.append(attributes: tag, bytes, &decoded, to: &text) else { return false }
        if let described = tag.value(of: ByteView("device"), in: bytes) { device.append(bytes[described], to: &text) }
        appendTimes(tag, bytes)
        return true
    }

    /// Whether it is a meal: food and drink of one moment.
    private static func isMeal(_ tag: XMLTag, _ bytes: ByteView) -> Bool {
        guard bytes[tag.name].equals(ByteView("Correlation")), let type = tag.value(of: ByteView("type"), in: bytes)
        else { return false }
        return bytes[type].equals(ByteView("HKCorrelationTypeIdentifierFood"))
    }

    /// Attributes that would take the place of members that are not of the file, in whatever object.
    private static let reserved: [StaticString] = [
        "element", "part", "patientId", "deviceId", "metadata", "records", "contents", "statistics", "events",
        "deviceParts", "creationUtc", "startUtc", "endUtc", "dateUtc",
    ]

    /// Keys of metadata, which any program chooses, that would make them look like an element, or another person's.
    private static let reservedKeys: [StaticString] = ["element", "part", "patientId", "deviceId"]

    /// The times in UTC. Apple writes all of an export in the zone where the phone is at that moment: the same record
    /// has other texts in the next export, and only these are the same.
    private mutating func appendTimes(_ tag: XMLTag, _ bytes: ByteView) {
        Self.append(time: "creationDate", of: tag, bytes, ",\"creationUtc\":\"", to: &text)
        Self.append(time: "startDate", of: tag, bytes, ",\"startUtc\":\"", to: &text)
        Self.append(time: "endDate", of: tag, bytes, ",\"endUtc\":\"", to: &text)
    }

    /// Leaves out what is no time, and what names no zone.
    private static func append(
        time name: StaticString, of tag: XMLTag, _ bytes: ByteView, _ member: StaticString,
        to writer: inout ByteWriter
    ) {
        guard let value = tag.value(of: ByteView(name), in: bytes), let time = TimestampParser.iso8601(bytes[value]),
            !time.isLocal
        else { return }
        writer.append(member)
        writer.append(time.instant)
        writer.append("\"")
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
        if name.equals(ByteView("Record")) {
            // Those of a meal stand alone, too, and are readings there: here they are no elements.
            return isMeal
                ? Self.append(object: tag, isElement: false, bytes, &decoded, to: &contents)
                : Self.append(object: tag, bytes, &decoded, to: &records)
        }
        if name.equals(ByteView("WorkoutEvent")) { return Self.append(object: tag, bytes, &decoded, to: &events) }
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
        guard !Self.isOne(decoded.view, of: Self.reservedKeys) else { return false }
        // No key twice: a reader would have to choose.
        guard keys.insert(decoded.view.array).inserted else { return false }
        metadata.append(":")
        return Self.append(string: bytes[value], &decoded, to: &metadata)
    }

    /// Closes the document.
    mutating func finish() {
        for part in Part.allCases {
            switch part {
            case .metadata: Self.append(part, metadata, to: &text)
            case .records: Self.append(part, records, to: &text)
            case .contents: Self.append(part, contents, to: &text)
            case .statistics: Self.append(part, statistics, to: &text)
            case .events: Self.append(part, events, to: &text)
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
        object tag: XMLTag, isElement: Bool = true, _ bytes: ByteView, _ decoded: inout ByteWriter,
        to writer: inout ByteWriter
    ) -> Bool {
        if writer.count > 0 { writer.append(",") }
        writer.append("{\"")
        writer.append(isElement ? ByteView("element") : ByteView("part"))
        writer.append("\":\"")
        writer.append(bytes[tag.name])
        writer.append("\"")
        guard append(attributes: tag, bytes, &decoded, to: &writer) else { return false }
        // Of an event.
        append(time: "date", of: tag, bytes, ",\"dateUtc\":\"", to: &writer)
        writer.append("}")
        return true
    }

    private static func append(
        attributes tag: XMLTag, _ bytes: ByteView, _ decoded: inout ByteWriter, to writer: inout ByteWriter
    ) -> Bool {
        for attribute in tag.attributes {
            // The file may not say whose they are.
            guard !isOne(bytes[attribute.name], of: reserved) else { return false }
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
        isOne(name, of: measured) && PlainText.isNumber(value)
    }

    private static func isOne(_ name: ByteView, of names: [StaticString]) -> Bool {
        names.contains { name.equals(ByteView($0)) }
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
