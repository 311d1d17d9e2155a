import KymographCore

/// Reads the declared layout of binary packets: `fields`, `length` and `header` of `device.json`.
enum BinaryFieldReader {
    private static let members = [
        "name", "type", "offset", "bytes", "endian", "bit", "bits", "scale", "add", "absent", "optional",
    ]
    /// Longest packet: what a datagram can hold.
    private static let longest = 65_535

    /// The fields, which must be there.
    static func fields(_ reader: FieldReader, log: inout DiagnosticLog) -> [BinaryLayout.Field] {
        guard let node = reader.required("fields", "an array", log: &log), let elements = node.elements else {
            return []
        }
        if elements.isEmpty {
            log.error(
                node.position, "'fields' is empty", advice: "name the numbers in a packet", finding: .packetLayout)
        }
        var fields: [BinaryLayout.Field] = []
        for element in elements {
            guard let field = field(element, log: &log) else { continue }
            if fields.contains(where: { $0.name == field.name }) {
                log.error(
                    element.position, "two fields are called '\(String(decoding: field.name, as: UTF8.self))'",
                    advice: "rename one of them", finding: .packetLayout)
            }
            fields.append(field)
        }
        return fields
    }

    /// The only length of a packet.
    static func length(_ reader: FieldReader, log: inout DiagnosticLog) -> Int? {
        integer(reader, "length", 1...longest, log: &log)
    }

    /// What every packet begins with, in hexadecimal digits.
    static func header(_ reader: FieldReader, log: inout DiagnosticLog) -> [UInt8] {
        guard let node = reader.optional("header", "a string", log: &log), let text = node.string else { return [] }
        var bytes = ByteWriter(capacity: 64)
        guard Array(text.utf8).withByteView({ PacketText.appendHex($0, to: &bytes) }) else {
            log.error(
                node.position, "the header '\(text)' is not hexadecimal", advice: "write two digits a byte: A5 5A",
                finding: .packetLayout)
            return []
        }
        return bytes.view.array
    }

    // MARK: One field

    private static func field(_ node: JSONNode, log: inout DiagnosticLog) -> BinaryLayout.Field? {
        guard let reader = FieldReader.open(node, what: "a field", log: &log) else { return nil }
        let errors = log.errorCount
        reader.refuseUnknown(members, log: &log)
        var field = BinaryLayout.Field(name: name(reader, log: &log))
        let kinds = BinaryLayout.Field.Kind.allCases.map { (name: $0.rawValue, value: $0) }
        field.kind = reader.choice("type", among: kinds, log: &log) ?? .unsigned
        _ = reader.required("offset", "a number", log: &log)
        field.offset = integer(reader, "offset", 0...longest, log: &log) ?? 0
        field.isBigEndian = reader.choice("endian", among: [("little", false), ("big", true)], log: &log) ?? false
        field.isOptional = flag(reader, "optional", log: &log)
        switch field.kind {
        case .sfloat, .float:
            refuse(["bytes", "bit", "bits", "scale", "add", "absent"], reader, field.kind, log: &log)
            field.bytes = field.kind == .sfloat ? 2 : 4
        case .unsigned, .signed: readInteger(reader, &field, log: &log)
        }
        return log.errorCount == errors ? field : nil
    }

    private static func name(_ reader: FieldReader, log: inout DiagnosticLog) -> [UInt8] {
        guard let name = reader.requiredString("name", log: &log) else { return [] }
        // Names that every packet's object has already.
        let taken = GATTCharacteristic.commonMembers
        if name.isEmpty || taken.contains(name) {
            log.error(
                reader.position(of: "name"), "a field cannot be called '\(name)'",
                advice: "choose another name; every packet has \(taken.joined(separator: ", "))",
                finding: .packetLayout)
        }
        var writer = ByteWriter(capacity: 64)
        writer.appendJSON(name)
        return writer.view.array
    }

    private static func readInteger(
        _ reader: FieldReader, _ field: inout BinaryLayout.Field, log: inout DiagnosticLog
    ) {
        field.bytes = integer(reader, "bytes", 1...8, log: &log) ?? 1
        field.bit = integer(reader, "bit", 0...63, log: &log) ?? 0
        let widest = field.bytes * 8 - field.bit
        // A single bit is what a place alone means.
        let bits = reader.member("bit") == nil ? widest : 1
        field.bits = integer(reader, "bits", 1...64, log: &log) ?? bits
        if field.bits > widest {
            log.error(
                reader.position, "bits \(field.bit) to \(field.bit + field.bits - 1) are not in \(field.bytes) bytes",
                advice: "bit 0 is the lowest of the number that the bytes make", finding: .packetLayout)
        }
        field.scale = decimal(reader, "scale", log: &log) ?? Decimal64(mantissa: 1)
        field.addend = decimal(reader, "add", log: &log) ?? Decimal64(mantissa: 0)
        if field.scale.mantissa == 0 {
            log.error(
                reader.position(of: "scale"), "a scale of 0 leaves nothing of the value", advice: "remove it",
                finding: .packetLayout)
        }
        field.absent = absent(reader, log: &log)
    }

    private static func absent(_ reader: FieldReader, log: inout DiagnosticLog) -> [Int64] {
        let nodes = reader.array("absent", log: &log) ?? []
        return nodes.compactMap { node in
            if case .number(let text) = node.value, let integer = Int64(text) { return integer }
            log.error(node.position, "'absent' lists integers, found \(node.kind)", finding: .wrongKind)
            return nil
        }
    }

    // MARK: Members

    private static func refuse(
        _ names: [String], _ reader: FieldReader, _ kind: BinaryLayout.Field.Kind, log: inout DiagnosticLog
    ) {
        for name in names {
            guard let member = reader.member(name) else { continue }
            log.error(
                member.position, "'\(name)' means nothing for the type \(kind.rawValue)", advice: "remove it",
                finding: .misplacedMember)
        }
    }

    private static func integer(
        _ reader: FieldReader, _ name: String, _ range: ClosedRange<Int>, log: inout DiagnosticLog
    ) -> Int? {
        guard let node = reader.node(name) else { return nil }
        if case .number(let text) = node.value, let integer = Int(text), range.contains(integer) { return integer }
        log.error(
            node.position, "'\(name)' must be an integer from \(range.lowerBound) to \(range.upperBound)",
            finding: .packetLayout)
        return nil
    }

    private static func decimal(_ reader: FieldReader, _ name: String, log: inout DiagnosticLog) -> Decimal64? {
        guard let node = reader.node(name) else { return nil }
        if case .number(let text) = node.value,
            case .number(let decimal) = Array(text.utf8).withByteView({ $0.withPadding { DecimalParser.parse($0) } })
        {
            return decimal
        }
        log.error(node.position, "'\(name)' must be a number of at most 18 digits", finding: .packetLayout)
        return nil
    }

    private static func flag(_ reader: FieldReader, _ name: String, log: inout DiagnosticLog) -> Bool {
        guard let node = reader.node(name) else { return false }
        if case .bool(let flag) = node.value { return flag }
        log.error(node.position, "'\(name)' must be true or false, found \(node.kind)", finding: .wrongKind)
        return false
    }
}
