import KymographCore

/// Reads what a mapping's payloads are: `payload` at the top of `device.json`, and the members that belong to it.
struct PayloadReader {
    private static let kinds = ["json", "gatt", "binary", "hl7v2"]
    /// Members that say how packets are to be read.
    static let members = ["characteristic", "handles", "cgmStatusOrder", "fields", "length", "header"]

    private let reader: FieldReader
    private let kind: String

    /// Reads `payload` of the file that `reader` reads; nil where payloads are JSON documents.
    static func read(_ reader: FieldReader, log: inout DiagnosticLog) -> PacketForm? {
        let node = reader.optional("payload", "a string", log: &log)
        let name = node?.string ?? "json"
        let payload = PayloadReader(reader: reader, kind: name)
        if name == "json" {
            payload.refuse(members, log: &log)
            return nil
        }
        if name == "gatt" { return payload.frames(log: &log) }
        if name == "binary" { return payload.binary(log: &log) }
        if name == "hl7v2" {
            payload.refuse(members, log: &log)
            return PacketForm(carrier: .message)
        }
        if name.hasPrefix("gatt/"), let characteristic = GATTCharacteristic(named: String(name.dropFirst(5))) {
            return payload.value(of: characteristic, log: &log)
        }
        let known = (kinds + GATTCharacteristic.allCases.map { "gatt/\($0.name)" }).map { "\"\($0)\"" }
        log.error(
            node?.position ?? reader.position, "unknown payload '\(name)'",
            advice: "known are \(known.joined(separator: ", "))", finding: .unknownChoice)
        return nil
    }

    /// Notes members that mean nothing for this payload.
    private func refuse(_ members: [String], log: inout DiagnosticLog) {
        for name in members {
            guard let member = reader.member(name) else { continue }
            log.error(
                member.position, "'\(name)' means nothing beside the payload '\(kind)'", advice: "remove it",
                finding: .misplacedMember)
        }
    }

    // MARK: Kinds

    private func frames(log: inout DiagnosticLog) -> PacketForm {
        refuse(["characteristic", "fields", "length", "header"], log: &log)
        var form = PacketForm(carrier: .frame)
        form.handles = handles(log: &log)
        form.statusOrder = statusOrder(log: &log)
        return form
    }

    private func value(of characteristic: GATTCharacteristic, log: inout DiagnosticLog) -> PacketForm {
        let isContinuous = characteristic == .continuousGlucose
        refuse(Self.members.filter { !isContinuous || $0 != "cgmStatusOrder" }, log: &log)
        var form = PacketForm(carrier: .value(characteristic))
        if isContinuous { form.statusOrder = statusOrder(log: &log) }
        return form
    }

    private func binary(log: inout DiagnosticLog) -> PacketForm {
        refuse(["cgmStatusOrder"], log: &log)
        var form = PacketForm(carrier: .packet)
        var layout = BinaryLayout(
            fields: BinaryFieldReader.fields(reader, log: &log), length: BinaryFieldReader.length(reader, log: &log),
            header: BinaryFieldReader.header(reader, log: &log))
        if reader.member("characteristic") != nil {
            form.carrier = .frame
            layout.characteristic = uuid(reader.optional("characteristic", "a string", log: &log), log: &log)
            form.handles = handles(log: &log)
        } else {
            refuse(["handles"], log: &log)
        }
        form.layouts = [layout]
        return form
    }

    // MARK: Members

    private func uuid(_ node: JSONNode?, log: inout DiagnosticLog) -> BluetoothUUID? {
        guard let node, let text = node.string else { return nil }
        if let uuid = BluetoothUUID(text) { return uuid }
        log.error(
            node.position, "'\(text)' is no number of a characteristic",
            advice: "write four hexadecimal digits such as 2A37, or all 32 with hyphens", finding: .packetLayout)
        return nil
    }

    private func handles(log: inout DiagnosticLog) -> HandleTables {
        var tables = HandleTables()
        for member in reader.optional("handles", "an object", log: &log)?.members ?? [] {
            guard let handles = member.node.members, PayloadReader.handle(member.name) == nil else {
                note(member, in: &tables.common, log: &log)
                continue
            }
            var model = HandleTables.Model(devices: NamePattern(member.name), characteristics: [:])
            for handle in handles { note(handle, in: &model.characteristics, log: &log) }
            tables.models.append(model)
        }
        return tables
    }

    /// Reads one line of a table: `"0x0012": "2A37"`.
    private func note(
        _ member: JSONNode.Member, in table: inout [UInt16: BluetoothUUID], log: inout DiagnosticLog
    ) {
        guard let handle = PayloadReader.handle(member.name) else {
            log.error(
                member.position, "'\(member.name)' is no handle",
                advice: "write it as the device's table does, 0x0012; or give the devices of a model an object of "
                    + "handles", finding: .packetLayout)
            return
        }
        guard member.node.text("a characteristic", log: &log) != nil else { return }
        table[handle] = uuid(member.node, log: &log)
    }

    private static func handle(_ text: String) -> UInt16? {
        Array(text.utf8).withByteView { AttributeHandle.parse($0) }
    }

    private func statusOrder(log: inout DiagnosticLog) -> CGMStatusOrder? {
        reader.choice(
            "cgmStatusOrder", among: CGMStatusOrder.allCases.map { (name: $0.rawValue, value: $0) }, log: &log)
    }
}
