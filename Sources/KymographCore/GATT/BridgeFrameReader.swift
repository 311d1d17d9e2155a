/// Reads the frames of bridges, in JSON and in binary (docs/gatt.md says what is in them).
struct BridgeFrameReader: ~Copyable {
    /// First byte of a binary frame: `K`, which no JSON begins with.
    static let magic: UInt8 = 0x4B

    private var scanner: JSONScanner
    /// What the texts of a frame spell: value, session and feature, one behind the other.
    private var decoded = ByteWriter(capacity: 512)

    init() {
        // The envelope's names come first in every table.
        let names = ["Body", "Properties", "SystemProperties"] + Member.allCases.map(\.rawValue)
        scanner = JSONScanner(
            names: NameTable(names), limits: ScanLimits(depth: 64, values: 4_096), payloadIsRoot: true)
    }

    /// Members of a frame in JSON; others are passed over.
    enum Member: String, CaseIterable {
        case device, characteristic, handle, time, sequence, value, base64, session, feature

        /// The number in the reader's table of names.
        var number: UInt16 {
            switch self {
            case .device: 3
            case .characteristic: 4
            case .handle: 5
            case .time: 6
            case .sequence: 7
            case .value: 8
            case .base64: 9
            case .session: 10
            case .feature: 11
            }
        }
    }

    // MARK: JSON

    /// Reads the JSON frame at `start`, and moves `end` behind it, also where what the JSON says is no frame. `bytes`
    /// must be padded.
    mutating func readJSON(
        _ bytes: ByteView, from start: Int, end: inout Int
    ) throws(PacketFailure) -> BridgeFrame {
        do throws(ScanFailure) {
            end = try scanner.scan(bytes, from: start)
        } catch {
            throw PacketFailure(reason: error.reason, offset: error.offset)
        }
        decoded.removeAll()
        // Nothing below moves the bytes that views name: the texts of a frame are at most as long as the frame.
        decoded.reserve(end - start)
        var frame = BridgeFrame(name: try name(bytes), value: try value(bytes))
        if let device = token(.device) {
            frame.device = try text(device, bytes, orNumber: true)
            frame.deviceIsEscaped = true
        }
        frame.time = try time(bytes)
        if let sequence = token(.sequence) { frame.sequence = try number(sequence, bytes) }
        if let session = token(.session) { frame.session = try hex(session, bytes) }
        if let feature = token(.feature) { frame.feature = try hex(feature, bytes) }
        return frame
    }

    /// The member's value; nil when it is absent or null.
    private func token(_ member: Member) -> Int? {
        scanner.slot(of: member.number).flatMap { scanner.tape[$0].kind == TokenKind.null ? nil : $0 }
    }

    private func malformed(_ token: Int) -> PacketFailure {
        PacketFailure(reason: .invalidBridgeFrame, offset: Int(scanner.tape[token].start))
    }

    private func name(_ bytes: ByteView) throws(PacketFailure) -> BridgeFrame.Name {
        if let token = token(.characteristic) {
            guard let uuid = BluetoothUUID(try text(token, bytes)) else { throw malformed(token) }
            return .uuid(uuid)
        }
        guard let token = token(.handle) else { throw malformed(JSONScanner.payload) }
        if scanner.tape[token].kind == TokenKind.number {
            guard let handle = UInt16(exactly: try number(token, bytes)) else { throw malformed(token) }
            return .handle(handle)
        }
        guard let handle = AttributeHandle.parse(try text(token, bytes)) else { throw malformed(token) }
        return .handle(handle)
    }

    private mutating func value(_ bytes: ByteView) throws(PacketFailure) -> ByteView {
        if let token = token(.value) {
            // Which of two is the packet, nobody knows.
            if let other = self.token(.base64) { throw malformed(other) }
            return try hex(token, bytes)
        }
        guard let token = token(.base64) else { throw malformed(JSONScanner.payload) }
        let start = decoded.count
        guard PacketText.appendBase64(try text(token, bytes), to: &decoded) else { throw malformed(token) }
        return decoded.view(start..<decoded.count)
    }

    private mutating func hex(_ token: Int, _ bytes: ByteView) throws(PacketFailure) -> ByteView {
        let start = decoded.count
        guard PacketText.appendHex(try text(token, bytes), to: &decoded) else { throw malformed(token) }
        return decoded.view(start..<decoded.count)
    }

    private func time(_ bytes: ByteView) throws(PacketFailure) -> PacketTime? {
        guard let token = token(.time) else { return nil }
        guard let time = TimestampParser.iso8601(try text(token, bytes)) else {
            throw PacketFailure(reason: .invalidTimestamp, offset: Int(scanner.tape[token].start))
        }
        return PacketTime(instant: time.instant, offsetMinutes: time.offsetMinutes)
    }

    private func number(_ token: Int, _ bytes: ByteView) throws(PacketFailure) -> UInt64 {
        guard scanner.tape[token].kind == TokenKind.number, scanner.tape[token].length <= 18,
            let number = DecimalParser.plainInteger(bytes[scanner.tape[token].range])
        else { throw malformed(token) }
        return UInt64(number)
    }

    private func text(
        _ token: Int, _ bytes: ByteView, orNumber: Bool = false
    ) throws(PacketFailure) -> ByteView {
        let kind = scanner.tape[token].kind
        guard kind == TokenKind.string || orNumber && kind == TokenKind.number else { throw malformed(token) }
        return bytes[scanner.tape[token].range]
    }

    // MARK: Binary

    /// Reads the binary frame at `start`, and moves `end` behind it, also where it has a border and no meaning.
    func readBinary(_ bytes: ByteView, from start: Int, end: inout Int) throws(PacketFailure) -> BridgeFrame {
        var reader = PacketReader(bytes[start..<bytes.count])
        do throws(PacketFailure) {
            var time: PacketReader?
            var frame = try readBinary(&reader, time: &time)
            end = start + reader.index
            if let device = frame.device, !device.isUTF8 {
                throw PacketFailure(reason: .invalidUTF8, offset: BridgeFrameReader.binaryHead)
            }
            if var time { frame.time = try BridgeFrameReader.time(&time) }
            return frame
        } catch {
            let reason = error.reason == .truncatedPacket ? Rejection.invalidBridgeFrame : error.reason
            throw PacketFailure(reason: reason, offset: start + error.offset)
        }
    }

    /// Bytes before the device's identifier.
    private static let binaryHead = 4

    /// Takes the frame's parts, and leaves `time` where its time is.
    private func readBinary(
        _ reader: inout PacketReader, time: inout PacketReader?
    ) throws(PacketFailure) -> BridgeFrame {
        _ = try reader.byte()
        guard try reader.byte() == 1 else { throw reader.failure(.invalidBridgeFrame) }
        let flags = try reader.byte()
        guard flags >> 6 == 0 else { throw reader.failure(.invalidBridgeFrame) }
        let device = try reader.run(Int(try reader.byte()))
        var frame = BridgeFrame(name: try BridgeFrameReader.name(flags, &reader), value: device)
        frame.device = device.count == 0 ? nil : device
        if flags & 1 != 0 {
            time = reader
            _ = try reader.run(10)
        }
        if flags & 2 != 0 { frame.sequence = try reader.unsigned(4) }
        if flags & 16 != 0 { frame.session = try reader.run(Int(try reader.byte())) }
        if flags & 32 != 0 { frame.feature = try reader.run(Int(try reader.byte())) }
        frame.value = try reader.run(try reader.short())
        return frame
    }

    /// 16 bits of a number or a handle, or all 128 bits as the protocol sends them: the last byte first.
    private static func name(_ flags: UInt8, _ reader: inout PacketReader) throws(PacketFailure) -> BridgeFrame.Name {
        if flags & 8 != 0 {
            let low = try reader.unsigned(8)
            return .uuid(BluetoothUUID(high: try reader.unsigned(8), low: low))
        }
        let number = UInt16(truncatingIfNeeded: try reader.unsigned(2))
        return flags & 4 == 0 ? .uuid(BluetoothUUID(number: number)) : .handle(number)
    }

    /// Microseconds since 1970 UTC, and the minutes that the bridge's clock is ahead; -32,768 when it does not say.
    private static func time(_ reader: inout PacketReader) throws(PacketFailure) -> PacketTime {
        let microseconds = Int64(bitPattern: try reader.unsigned(8))
        let offset = Int16(bitPattern: UInt16(truncatingIfNeeded: try reader.unsigned(2)))
        let (nanoseconds, overflow) = microseconds.multipliedReportingOverflow(by: 1_000)
        guard !overflow, offset == UTCOffset.none || abs(Int(offset)) <= 840 else {
            throw reader.failure(.invalidTimestamp)
        }
        return PacketTime(instant: Instant(nanoseconds: nanoseconds), offsetMinutes: offset)
    }
}

/// Handles of a device's attribute table.
package enum AttributeHandle {
    /// Reads `0x0012`; nil when it is something else.
    package static func parse(_ text: ByteView) -> UInt16? {
        guard (3...6).contains(text.count), text[0] == UInt8(ascii: "0"), text[1] | 0x20 == UInt8(ascii: "x") else {
            return nil
        }
        var handle: UInt32 = 0
        for index in 2..<text.count {
            guard let digit = JSONUnescape.hexValue(text[index]) else { return nil }
            handle = handle << 4 | digit
        }
        return UInt16(handle)
    }
}
