/// From the payloads of a source that carries packets to the objects that its templates match.
package struct PacketStage: ~Copyable {
    /// What became of one packet.
    package struct Outcome {
        /// Where it ended, and the next begins.
        var end: Int
        /// Why it gave no object.
        package var failure: PacketFailure?
    }

    private let form: PacketForm
    private var decoder: PacketDecoder
    private var frames = BridgeFrameReader()
    /// What the numbers of frames say.
    var numbers = FrameNumbers()
    /// The text of a characteristic's number.
    private var name = ByteWriter(capacity: 64)
    /// The bytes that a line spells, or the device that a frame does.
    private var spelled = ByteWriter(capacity: 64)
    /// The packet that was read last, if it is a heart rate that was not decoded.
    private(set) var heartRate: HeartRatePacket?
    /// Its bytes, and what is known of it.
    private var undecoded: (value: ByteView, head: PacketHead)?

    init(_ form: PacketForm, needs: PacketNeeds) {
        self.form = form
        decoder = PacketDecoder(needs, statusOrder: form.statusOrder ?? .statusFirst)
    }

    /// A stage for a source with these templates, or none where its payloads are JSON documents.
    package static func list(_ set: MappingSet, _ templates: [Int], needs: PacketNeeds) -> OwnedList<PacketStage> {
        let form = set.packetForm(of: templates)
        return OwnedList(count: form == nil || form?.carrier == .message ? 0 : 1) { _ in
            guard let form else { preconditionFailure("there is a form") }
            return PacketStage(form, needs: needs)
        }
    }

    /// Number of objects of the packet that was read last.
    package var count: Int { decoder.document.count }

    /// One of them, padded for scanning.
    package subscript(index: Int) -> ByteView { decoder.document[index] }

    /// The tokens of the members of one of them.
    func members(of index: Int) -> ElementList<Token> { decoder.document.members(of: index) }

    /// Whether blanks before a packet are none of it.
    package var skipsSpace: Bool { form.carrier == .frame }

    // MARK: Packets

    /// Reads the packet of `bytes` that begins at `start`. `bytes` must be padded.
    package mutating func read(_ bytes: ByteView, from start: Int, received: Instant) -> Outcome {
        heartRate = nil
        var end = bytes.count
        do throws(PacketFailure) {
            switch form.carrier {
            case .frame: try readFrame(bytes, from: start, end: &end, received: received)
            case .value, .packet: try readPacket(bytes[start..<bytes.count], received: received)
            case .message: preconditionFailure("messages have a reader of their own")
            }
            return Outcome(end: end)
        } catch {
            return Outcome(end: end, failure: error)
        }
    }

    /// Reads the packet of a line, in hexadecimal: a line cannot hold all bytes.
    mutating func readSpelled(_ bytes: ByteView, received: Instant) -> Outcome {
        heartRate = nil
        do throws(PacketFailure) {
            spelled.removeAll()
            guard PacketText.appendHex(bytes.trimmed, to: &spelled) else {
                throw PacketFailure(reason: .invalidBridgeFrame, offset: 0)
            }
            try readPacket(spelled.view, received: received)
            return Outcome(end: bytes.count)
        } catch {
            return Outcome(end: bytes.count, failure: error)
        }
    }

    private mutating func readPacket(_ bytes: ByteView, received: Instant) throws(PacketFailure) {
        switch form.carrier {
        case .value(let characteristic):
            let head = head(BluetoothUUID(number: characteristic.rawValue), received: received)
            try decode(characteristic, bytes, head)
        case .packet, .frame, .message:
            guard let layout = form.layouts.first else {
                throw PacketFailure(reason: .unknownCharacteristic, offset: 0)
            }
            try decoder.decode(layout, bytes, PacketHead(characteristic: ByteView("binary"), received: received))
        }
    }

    private mutating func head(_ uuid: BluetoothUUID, received: Instant) -> PacketHead {
        name.removeAll()
        if decoder.document.writes(.characteristic) { uuid.append(to: &name) }
        return PacketHead(characteristic: name.view, received: received)
    }

    // MARK: Frames

    private mutating func readFrame(
        _ bytes: ByteView, from start: Int, end: inout Int, received: Instant
    ) throws(PacketFailure) {
        let frame: BridgeFrame
        switch bytes[start] {
        case UInt8(ascii: "{"): frame = try readJSON(bytes, from: start, end: &end)
        case BridgeFrameReader.magic: frame = try frames.readBinary(bytes, from: start, end: &end)
        default:
            // Binary frames have no lines: after one, a newline is a byte like any other.
            end = bytes[0] == BridgeFrameReader.magic ? bytes.count : bytes.lineEnd(from: start)
            throw PacketFailure(reason: .invalidBridgeFrame, offset: start)
        }
        try decode(frame, received: received)
    }

    /// A JSON frame that is none costs the rest of its line, not the lines behind it, though it may have looked for its
    /// end there.
    private mutating func readJSON(
        _ bytes: ByteView, from start: Int, end: inout Int
    ) throws(PacketFailure) -> BridgeFrame {
        var scanned = -1
        do throws(PacketFailure) {
            let frame = try frames.readJSON(bytes, from: start, end: &scanned)
            end = scanned
            return frame
        } catch {
            let isRead = scanned >= 0 && error.reason != .invalidJSON
            end = isRead ? scanned : bytes.lineEnd(from: start)
            throw error
        }
    }

    private mutating func characteristic(at handle: UInt16, of frame: BridgeFrame) -> BluetoothUUID? {
        guard let device = frame.device, frame.deviceIsEscaped else {
            return form.handles.characteristic(at: handle, of: frame.device)
        }
        spelled.removeAll()
        JSONUnescape.append(device, into: &spelled)
        return form.handles.characteristic(at: handle, of: spelled.view)
    }

    private mutating func decode(_ frame: BridgeFrame, received: Instant) throws(PacketFailure) {
        if let sequence = frame.sequence {
            let time = frame.time?.instant ?? received
            numbers.note(sequence, of: frame.device ?? ByteView(""), isEscaped: frame.deviceIsEscaped, at: time)
        }
        var uuid: BluetoothUUID?
        switch frame.name {
        case .uuid(let known): uuid = known
        case .handle(let handle): uuid = characteristic(at: handle, of: frame)
        }
        guard let uuid else { throw PacketFailure(reason: .unknownCharacteristic, offset: 0) }
        var head = head(uuid, received: frame.time?.instant ?? received)
        head.device = frame.device
        head.deviceIsEscaped = frame.deviceIsEscaped
        head.offsetMinutes = frame.time?.offsetMinutes ?? UTCOffset.none
        head.sequence = frame.sequence
        if let session = frame.session { head.session = try SessionStart(session, decoder.checksum) }
        head.hasChecksum = try frame.hasChecksum()
        for index in form.layouts.indices where form.layouts[index].characteristic == uuid {
            return try decoder.decode(form.layouts[index], frame.value, head)
        }
        guard let characteristic = uuid.characteristic else {
            throw PacketFailure(reason: .unknownCharacteristic, offset: 0)
        }
        try decode(characteristic, frame.value, head)
    }

    // MARK: Values

    /// Decodes a value, or leaves that until somebody needs its objects.
    @inline(__always)
    private mutating func decode(
        _ characteristic: GATTCharacteristic, _ value: ByteView, _ head: PacketHead
    ) throws(PacketFailure) {
        if characteristic == .heartRate {
            heartRate = HeartRatePacket(value, head, writesIntervals: decoder.writesIntervals)
            if heartRate != nil {
                undecoded = (value, head)
                return
            }
        }
        try decoder.decode(characteristic, value, head)
    }

    /// Decodes the heart rate that was left; why it gives no object.
    mutating func decodeHeartRate() -> PacketFailure? {
        guard let undecoded else { return nil }
        do throws(PacketFailure) {
            try decoder.decode(.heartRate, undecoded.value, undecoded.head)
            return nil
        } catch {
            return error
        }
    }

    /// The place of `member` among those of object `index`; nil when it is not there.
    func place(of member: PacketMember, in index: Int) -> Int? { decoder.document.place(of: member, in: index) }
}
