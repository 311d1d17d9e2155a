import KymographCore

/// Finds notifications and indications in a btsnoop file: what `btmon -w` and Android's developer options record.
package struct SnoopCapture {
    /// The file cannot be read.
    package enum Failure: Error, Equatable {
        /// Not a btsnoop file of version 1.
        case notBTSnoop
        /// A link type that is not known (1001, 1002 and 2001 are).
        case unknownLink(UInt32)
        /// The file ends within the record that begins at this byte.
        case truncated(Int)
    }

    /// The first eight bytes of a file.
    package static let magic = Array("btsnoop\0".utf8)
    /// 1970 in microseconds of the format, which count from year 0.
    private static let epoch: Int64 = 0x00DC_DDB3_0F2F_8000

    private let bytes: [UInt8]
    private var found: [CapturedPacket] = []
    /// Addresses of the devices, and packets that are not complete yet, by connection.
    private var devices: [UInt16: IdentifierText] = [:]
    private var parts: [UInt16: [UInt8]] = [:]

    /// The packets of a file, in the order received.
    ///
    /// - Throws: ``Failure``.
    package static func packets(of bytes: [UInt8]) throws(Failure) -> [CapturedPacket] {
        var capture = SnoopCapture(bytes: bytes)
        try capture.readAll()
        return capture.found
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func big(_ start: Int, _ count: Int) -> UInt64 {
        bytes[start..<(start + count)].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func readAll() throws(Failure) {
        guard bytes.count >= 16, bytes.starts(with: Self.magic), big(8, 4) == 1 else { throw .notBTSnoop }
        let link = UInt32(big(12, 4))
        guard [1_001, 1_002, 2_001].contains(link) else { throw .unknownLink(link) }
        var index = 16
        while index < bytes.count {
            guard index + 24 <= bytes.count else { throw .truncated(index) }
            let length = Int(big(index + 4, 4))
            guard length <= bytes.count - index - 24 else { throw .truncated(index) }
            let (time, overflow) = (Int64(bitPattern: big(index + 16, 8)) &- Self.epoch)
                .multipliedReportingOverflow(by: 1_000)
            let data = bytes[(index + 24)..<(index + 24 + length)]
            let instant = overflow ? Instant.distantPast : Instant(nanoseconds: time)
            read(Array(data), flags: UInt32(big(index + 8, 4)), link: link, instant)
            index += 24 + length
        }
    }

    /// One record: which kind of packet it is, each link tells in its own way.
    private mutating func read(_ data: [UInt8], flags: UInt32, link: UInt32, _ time: Instant) {
        switch link {
        case 1_002:
            // H4: the kind is the first byte; 2 is data, 4 an event. Bit 0 of the flags: received.
            if data.first == 4 { readEvent(Array(data.dropFirst())) }
            if data.first == 2, flags & 1 == 1 { readData(Array(data.dropFirst()), time) }
        case 1_001:
            // Bit 1 of the flags: command or event.
            if flags & 3 == 3 { readEvent(data) }
            if flags & 3 == 1 { readData(data, time) }
        default:
            // Monitor: the kind is the lower half of the flags; 3 is an event, 5 received data.
            if flags & 0xFFFF == 3 { readEvent(data) }
            if flags & 0xFFFF == 5 { readData(data, time) }
        }
    }

    /// LE Connection Complete, and its enhanced form, tell a connection's device.
    private mutating func readEvent(_ event: [UInt8]) {
        guard event.count >= 14, event[0] == 0x3E, event[2] == 0x01 || event[2] == 0x0A, event[3] == 0 else { return }
        let connection = UInt16(event[4]) | UInt16(event[5] & 0x0F) << 8
        let address = event[8..<14].reversed().map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined(separator: ":")
        devices[connection] = IdentifierText(address)
        parts[connection] = nil
    }

    /// A part of an L2CAP packet; those of the attribute protocol (channel 4) are put together.
    private mutating func readData(_ data: [UInt8], _ time: Instant) {
        guard data.count >= 4 else { return }
        let connection = UInt16(data[0]) | UInt16(data[1] & 0x0F) << 8
        let isContinuation = data[1] >> 4 & 3 == 1
        // Taken out, so that what has come is not copied for each part.
        let begun = parts.removeValue(forKey: connection)
        guard var packet = isContinuation ? begun : [] else { return }
        packet += data[4...]
        guard packet.count >= 4, packet.count >= 4 + Int(packet[0]) + Int(packet[1]) << 8 else {
            parts[connection] = packet
            return
        }
        guard packet[2] == 4, packet[3] == 0 else { return }
        readAttributes(Array(packet[4..<(4 + Int(packet[0]) + Int(packet[1]) << 8)]), devices[connection], time)
    }

    /// Notification 0x1B, indication 0x1D, and several notifications in one, 0x23.
    private mutating func readAttributes(_ packet: [UInt8], _ device: IdentifierText?, _ time: Instant) {
        guard packet.count >= 3 else { return }
        func add(_ handle: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) {
            let number = UInt16(handle.first ?? 0) | UInt16(handle.last ?? 0) << 8
            found.append(
                CapturedPacket(
                    device: device, name: .handle(number), time: time == .distantPast ? nil : time, value: Array(value))
            )
        }
        if packet[0] == 0x1B || packet[0] == 0x1D { return add(packet[1..<3], packet[3...]) }
        guard packet[0] == 0x23 else { return }
        var index = 1
        while index + 4 <= packet.count {
            let length = Int(packet[index + 2]) | Int(packet[index + 3]) << 8
            guard index + 4 + length <= packet.count else { return }
            add(packet[index..<(index + 2)], packet[(index + 4)..<(index + 4 + length)])
            index += 4 + length
        }
    }
}

extension SnoopCapture.Failure: CustomStringConvertible {
    /// What is wrong, in one line.
    package var description: String {
        switch self {
        case .notBTSnoop: "this is no btsnoop file of version 1"
        case .unknownLink(let link): "link type \(link) is not known; 1001, 1002 and 2001 are"
        case .truncated(let offset): "the file ends within the record at byte \(offset)"
        }
    }
}
