/// The members that decoded packets can have; docs/gatt.md says what each is. A case is called as its member is.
enum PacketMember: Int, CaseIterable {
    case characteristic, device, time, received, bridgeSequence
    case batteryLevel, batteryLow, bodyMassIndex, bodyMovement, cadence, calibration, carbohydrate,
        carbohydrateKind, clockNotSet, comparator, contact, contextFollows, cuffPressure, cuffTooLoose, deviceTime,
        diastolic, distance, earlyEstimate, energyExpended, exerciseIntensity, exerciseSeconds,
        fastOxygenSaturation, fastPulseRate, fromStorage, fullyQualified, gait, generalFault, glucose,
        glycatedHaemoglobin, health, heartRate, height, heightUnit, intermediateTemperature, irregularPulse,
        meal, meanArterial, measurementOngoing, medication, medicationKind, medicationUnit, minutes,
        oxygenSaturation, pulseAmplitudeIndex, pulseRange, pulseRate, quality, readInterrupted, record,
        resultTooHigh, resultTooLow, rrInterval, sampleInsufficient, sampleLocation, sensorMalfunction,
        sensorStatus, sequence, site, slowOxygenSaturation, slowPulseRate, specimen, speed, start, status,
        strideLength, stripInsertionError, stripTypeIncorrect, systolic, temperature, temperatureTooHigh,
        temperatureTooLow, tester, timeFault, timeOffset, trend, unit, userId, validated, validity, warning, weight,
        wrongPosition

    /// The member's name in mappings.
    var name: String { PacketMember.names[rawValue] }

    private static let names = allCases.map { String(describing: $0) }
}

/// What leads to the value of each member, `"heartRate":`, ready to be written, and which members are looked at.
struct PacketMemberTable: ~Copyable {
    /// A member as it is written.
    struct Entry: BitwiseCopyable {
        /// Place of `"name":` in the table's text.
        var start: UInt32
        var length: UInt32
        /// The number of the name.
        var number: UInt16
        /// Whether an expression looks at it.
        var isWanted: Bool
    }

    private let text: PaddedBytes
    private let entries: RawArray<Entry>

    init(_ needs: PacketNeeds, names: borrowing NameTable) {
        var text: [UInt8] = []
        var entries: [Entry] = []
        for member in PacketMember.allCases {
            let name = Array(member.name.utf8)
            let padded = PaddedBytes(copying: name)
            let number = names.find(padded.view(0..<name.count), start: 0, length: name.count)
            let written = [UInt8(ascii: "\"")] + name + Array("\":".utf8)
            entries.append(
                Entry(
                    start: UInt32(text.count), length: UInt32(written.count), number: number,
                    isWanted: needs.all || number != NameTable.unknown))
            text += written
        }
        self.text = PaddedBytes(copying: text)
        self.entries = RawArray(entries)
    }

    /// How `member` is written.
    @inline(__always)
    subscript(member: PacketMember) -> Entry { entries[member.rawValue] }

    /// `"name":`, padded.
    @inline(__always)
    func text(of entry: Entry) -> ByteView { text.view(Int(entry.start)..<Int(entry.start &+ entry.length)) }
}
