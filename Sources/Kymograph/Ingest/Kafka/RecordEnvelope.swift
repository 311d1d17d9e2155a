import KymographCore

/// Makes of records what templates for Event Hubs and IoT Hubs read: `{Body, Properties, SystemProperties}`, with the
/// value as the body, and headers as properties (mapping dialect, section 1.1).
///
/// Nobody but who writes headers may say what these say: a value that would write into them is none.
struct RecordEnvelope: ~Copyable {
    private let encoding: HeaderEncoding
    /// Longest value of which one is made.
    private let longest: Int
    private var check = EventBodyCheck()

    /// Envelopes of records whose headers are written as `encoding` says. Values over `longest` bytes stay as they are.
    init(_ encoding: HeaderEncoding, longest: Int) {
        (self.encoding, self.longest) = (encoding, longest)
    }

    /// What goes to the lane of `record`.
    mutating func content(of record: TopicRecord) -> RecordContent {
        guard let value = record.value else { return .nothing }
        // The lane tells that it is too long.
        guard value.count <= longest else { return .payload(value) }
        guard let headers = record.headers, headers.count <= Self.mostHeaders, isBody(value) else {
            return .unfit(value)
        }
        return .payload(envelope(value, properties(headers, of: record)))
    }

    private mutating func isBody(_ value: [UInt8]) -> Bool {
        value.withByteView { view in view.withPadding { check.allows($0) } }
    }

    // MARK: Properties

    /// Headers of a record at most: an event of a hub has far fewer, and each is compared with those before it.
    static let mostHeaders = 256

    /// A property: what was sent under its name.
    private struct Property {
        var name: PropertyName
        /// What it says, each thing once.
        var meanings: [HeaderValue]
        /// The same as it was sent.
        var sent: [[UInt8]]
    }

    private func properties(_ headers: [RecordHeader], of record: TopicRecord) -> [Property] {
        var all: [Property] = []
        // No mapping can name others.
        for header in headers where header.name.withByteView({ $0.isUTF8 }) {
            let name = PropertyName(bytes: header.name)
            Self.add(HeaderValue(header.value, of: name, encoding: encoding), header.value, of: name, to: &all)
        }
        if let key = record.key {
            Self.add(HeaderValue(key, of: .partitionKey, encoding: .text), key, of: .partitionKey, to: &all)
        }
        // A hub tells it itself.
        if let time = record.milliseconds.flatMap(HeaderValue.time), !all.contains(where: { $0.name == .enqueuedTime })
        {
            Self.add(.json(time), nil, of: .enqueuedTime, to: &all)
        }
        return all
    }

    private static func add(_ value: HeaderValue, _ sent: [UInt8]?, of name: PropertyName, to all: inout [Property]) {
        guard let place = all.firstIndex(where: { $0.name == name }) else {
            return all.append(Property(name: name, meanings: [value], sent: [sent ?? []]))
        }
        guard value == .unclear || !all[place].meanings.contains(value) else { return }
        all[place].meanings.append(value)
        all[place].sent.append(sent ?? [])
    }

    // MARK: Texts

    private func envelope(_ value: [UInt8], _ properties: [Property]) -> [UInt8] {
        var writer = ByteWriter(capacity: value.count + 256)
        writer.append("{\"Body\":")
        // In one line: what a lane refuses as a whole it may read line by line, without the properties. Breaks stand
        // between values, in a text they are escaped.
        writer.append(value.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
        writer.append(",\"Properties\":")
        append(properties.filter { !$0.name.isOfSystem }, to: &writer)
        writer.append(",\"SystemProperties\":")
        append(properties.filter { $0.name.isOfSystem }, to: &writer)
        writer.append("}")
        return writer.view.array
    }

    private func append(_ properties: [Property], to writer: inout ByteWriter) {
        for (place, property) in properties.enumerated() {
            writer.append(place == 0 ? "{\"" : ",\"")
            writer.appendJSON(property.name.bytes)
            writer.append("\":")
            append(property, to: &writer)
        }
        writer.append(properties.isEmpty ? "{}" : "}")
    }

    /// Writes what `property` says, or that it is not clear (``UnclearProperty``).
    private func append(_ property: Property, to writer: inout ByteWriter) {
        if property.meanings.count == 1, case .json(let value) = property.meanings[0] { return writer.append(value) }
        writer.append(UnclearProperty.opening)
        for (place, bytes) in property.sent.enumerated() {
            writer.append(place == 0 ? "\"" : ",\"")
            for byte in bytes { writer.appendHex(byte) }
            writer.append("\"")
        }
        writer.append(UnclearProperty.closing)
    }
}
