/// The fields of a vendor's packets, as `device.json` declares them.
package struct BinaryLayout: Sendable, Equatable {
    /// A number in the packet, and what it means.
    package struct Field: Sendable, Equatable {
        /// How the bits are to be read.
        package enum Kind: String, CaseIterable {
            case unsigned, signed, sfloat, float
        }

        /// The name as JSON writes it.
        package var name: [UInt8]
        package var kind = Kind.unsigned
        /// First byte.
        package var offset = 0
        /// 1…8.
        package var bytes = 1
        package var isBigEndian = false
        /// Lowest bit of the number that the bytes make, and how many are taken.
        package var bit = 0
        package var bits = 8
        /// What the integer is multiplied by, and what is then added.
        package var scale = Decimal64(mantissa: 1)
        package var addend = Decimal64(mantissa: 0)
        /// Integers that stand for no value.
        package var absent: [Int64] = []
        /// Whether a packet may end before it; none may end within it.
        package var isOptional = false

        package init(name: [UInt8], kind: Kind = Kind.unsigned, bytes: Int = 1) {
            (self.name, self.kind, self.bytes) = (name, kind, bytes)
        }
    }

    var fields: [Field] = []
    /// The only length that packets may have, when there is one.
    var length: Int?
    /// What every packet begins with.
    var header: [UInt8] = []
    /// The characteristic whose packets these are; nil when the payload is the packet itself.
    package var characteristic: BluetoothUUID?

    package init(fields: [Field] = [], length: Int? = nil, header: [UInt8] = []) {
        (self.fields, self.length, self.header) = (fields, length, header)
    }
}

extension PacketDecoder {
    /// Decodes `bytes` as `layout` says; the object is in ``document``.
    ///
    /// - Throws: ``PacketFailure``; nothing is then in ``document``.
    mutating func decode(
        _ layout: borrowing BinaryLayout, _ bytes: ByteView, _ head: PacketHead
    ) throws(PacketFailure) {
        document.removeAll()
        try PacketDecoder.check(bytes, layout)
        document.begin(head, at: head.arrival)
        for field in layout.fields {
            let end = field.offset + field.bytes
            if end > bytes.count {
                if field.isOptional, bytes.count <= field.offset { continue }
                document.removeAll()
                throw PacketFailure(reason: .truncatedPacket, offset: bytes.count)
            }
            guard let value = field.value(bytes[field.offset..<end]) else {
                document.removeAll()
                throw PacketFailure(reason: .inexactNumber, offset: field.offset)
            }
            field.name.withByteView { document.member(named: $0, value) }
        }
        document.end()
    }

    private static func check(_ bytes: ByteView, _ layout: borrowing BinaryLayout) throws(PacketFailure) {
        if let length = layout.length, bytes.count != length {
            let reason = bytes.count < length ? Rejection.truncatedPacket : .malformedPacket
            throw PacketFailure(reason: reason, offset: min(bytes.count, length))
        }
        guard bytes.count >= layout.header.count else {
            throw PacketFailure(reason: .truncatedPacket, offset: bytes.count)
        }
        for (index, byte) in layout.header.enumerated() where bytes[index] != byte {
            throw PacketFailure(reason: .malformedPacket, offset: index)
        }
    }
}

extension BinaryLayout.Field {
    /// What the field's bytes say; nil when it cannot be kept exactly.
    fileprivate func value(_ bytes: ByteView) -> MedicalFloat? {
        let word = word(bytes)
        switch kind {
        case .sfloat: return MedicalFloat(sfloat: UInt16(truncatingIfNeeded: word))
        case .float: return MedicalFloat(float: UInt32(truncatingIfNeeded: word))
        case .unsigned, .signed:
            guard let integer = integer(word) else { return nil }
            if absent.contains(integer) { return .notANumber }
            return scaled(integer).map { .number($0) }
        }
    }

    private func word(_ bytes: ByteView) -> UInt64 {
        var word: UInt64 = 0
        for index in 0..<bytes.count {
            word = word << 8 | UInt64(bytes[isBigEndian ? index : bytes.count - 1 - index])
        }
        return word
    }

    private func integer(_ word: UInt64) -> Int64? {
        let unused = UInt64(64 - bits)
        let top = (word >> UInt64(bit)) << unused
        return kind == .signed ? Int64(bitPattern: top) >> Int64(unused) : Int64(exactly: top >> unused)
    }

    /// The digits that the scale gives are kept, also zeros: 2500 hundredths are 25.00.
    private func scaled(_ integer: Int64) -> Decimal64? {
        let (product, overflow) = integer.multipliedReportingOverflow(by: scale.mantissa)
        guard !overflow else { return nil }
        var value = Decimal64(mantissa: product, exponent: scale.exponent)
        if addend.mantissa != 0 {
            let exponent = min(value.exponent, addend.exponent)
            guard let mine = value.mantissa(at: exponent), let other = addend.mantissa(at: exponent) else { return nil }
            let (sum, overflow) = mine.addingReportingOverflow(other)
            guard !overflow else { return nil }
            value = Decimal64(mantissa: sum, exponent: exponent)
        }
        return value.mantissa.magnitude < 1_000_000_000_000_000_000 ? value : nil
    }
}
