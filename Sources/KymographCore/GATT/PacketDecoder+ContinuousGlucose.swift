/// CGM Measurement: one or more records, each with its size in front.
extension PacketDecoder {
    mutating func decodeContinuousGlucose(_ reader: inout PacketReader, _ head: PacketHead) throws(PacketFailure) {
        repeat {
            let start = reader.index
            var size = reader
            let length = Int(try size.byte())
            // A size of 0 would go on for ever.
            guard length >= 6 else { throw PacketFailure(reason: .malformedPacket, offset: start) }
            guard reader.left >= length else { throw PacketFailure(reason: .truncatedPacket, offset: start) }
            do throws(PacketFailure) {
                try decodeRecord(try reader.run(length), head)
            } catch {
                throw PacketFailure(reason: error.reason, offset: start + error.offset)
            }
        } while reader.left > 0
    }

    private mutating func decodeRecord(_ record: ByteView, _ head: PacketHead) throws(PacketFailure) {
        var reader = PacketReader(record)
        _ = try reader.byte()
        let flags = try reader.byte()
        let glucose = try reader.magnitude()
        let minutes = try reader.short()
        // The flags say which octets are there, whatever their order.
        let isStatusFirst = statusOrder == .statusFirst
        let first = flags & (isStatusFirst ? 0x80 : 0x20) == 0 ? nil : try reader.byte()
        let calibration = flags & 0x40 == 0 ? nil : try reader.byte()
        let last = flags & (isStatusFirst ? 0x20 : 0x80) == 0 ? nil : try reader.byte()
        let trend = flags & 1 == 0 ? nil : try reader.sfloat()
        let quality = flags & 2 == 0 ? nil : try reader.magnitude()
        try checkEnd(of: record, reader, head)
        document.begin(head, at: sessionTime(minutes, head))
        document.member(.minutes, minutes)
        document.member(.glucose, glucose)
        document.member(.unit, text: "mg/dL")
        let (status, warning) = isStatusFirst ? (first, last) : (last, first)
        writeValidity(of: glucose, status ?? 0, calibration ?? 0, warning ?? 0, isUseless: quality?.isZero ?? false)
        if let status { document.member(.status, status) }
        if let calibration { document.member(.calibration, calibration) }
        if let warning { document.member(.warning, warning) }
        if let trend { document.member(.trend, trend) }
        if let quality { document.member(.quality, quality) }
        document.end()
    }

    /// Whether the number may be used, and how the measured value compares with it. A sensor may state a number where
    /// it says that the result is beyond what it can process: of that only a bound is known.
    private mutating func writeValidity(
        of glucose: MedicalFloat, _ status: UInt8, _ calibration: UInt8, _ warning: UInt8, isUseless: Bool
    ) {
        // The session stopped, the sensor's type, a malfunction, a general fault (bits 0, 2, 3, 5); the sensor too hot
        // or too cold (4, 5 of calibration and temperature).
        let isFaulty = status & 0b10_1101 != 0 || calibration & 0b11_0000 != 0 || isUseless
        let (isTooLow, isTooHigh) = (warning >> 6 & 1 == 1, warning >> 7 & 1 == 1)
        let isUsable = !isFaulty && !(isTooHigh && isTooLow)
        document.member(.validity, text: isUsable ? "good" : "invalid")
        guard isUsable, isTooHigh || isTooLow, case .number = glucose else { return }
        document.member(.comparator, text: isTooHigh ? ">" : "<")
    }

    /// Two bytes more than the fields are a checksum, unless the device has said that it sends none.
    private func checkEnd(of record: ByteView, _ reader: PacketReader, _ head: PacketHead) throws(PacketFailure) {
        if reader.left == 0, head.hasChecksum != true { return }
        guard reader.left == 2, head.hasChecksum != false else { throw reader.failure(.malformedPacket) }
        guard checksum.isRight(record, isBigEndian: false) else { throw reader.failure(.wrongChecksum) }
    }

    /// The device counts minutes from the start of its session; without that, nobody knows the time.
    private func sessionTime(_ minutes: Int, _ head: PacketHead) -> PacketTime? {
        guard let session = head.session, let instant = session.instant(after: minutes, bridge: head.offsetMinutes)
        else { return nil }
        return PacketTime(instant: instant, offsetMinutes: session.offset(orBridges: head.offsetMinutes))
    }
}
