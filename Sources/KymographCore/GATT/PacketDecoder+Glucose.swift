/// Glucose Measurement and its context.
extension PacketDecoder {
    mutating func decodeGlucose(_ reader: inout PacketReader, _ head: PacketHead) throws(PacketFailure) {
        let flags = try reader.byte()
        let sequence = try reader.short()
        let clock = try DeviceClock(&reader)
        let offset = flags & 1 == 0 ? nil : Int(Int16(truncatingIfNeeded: try reader.short()))
        let concentration = flags & 2 == 0 ? nil : try reader.magnitude()
        let kind = concentration == nil ? nil : Int(try reader.byte())
        let status = flags & 8 == 0 ? nil : try reader.short()
        // A test of the meter with a control solution is nobody's glucose.
        if let kind, kind & 15 == 10 || kind >> 4 == 4 {
            // Its context must not find an older record with the same number.
            records.keep(nil, of: sequence, device: head.device)
            throw reader.failure(.controlSolution)
        }
        // The time that the user saw is that of the record's clock and what the user has set it forward since.
        let hasTimeFault = (status ?? 0) >> 11 & 1 == 1
        let time = hasTimeFault ? nil : head.time(clock, minutesLater: offset ?? 0)
        records.keep(time, of: sequence, device: head.device)
        document.begin(head, at: time)
        document.member(.deviceTime, clock)
        document.member(.sequence, sequence)
        document.member(.record, record: sequence, clock)
        if let offset { document.member(.timeOffset, offset) }
        if let concentration {
            // kg/L are 10^5 mg/dL, mol/L are 10^3 mmol/L.
            let isMolar = flags & 4 != 0
            document.member(.glucose, concentration.scaled(byPowers: isMolar ? 3 : 5))
            document.member(.unit, text: isMolar ? "mmol/L" : "mg/dL")
            writeQuality(of: concentration, status ?? 0)
        }
        if let kind { writeSample(kind) }
        if let status { writeGlucoseStatus(status) }
        document.flag(.contextFollows, Int(flags), 4)
        document.end()
    }

    private static let specimens: [StaticString] = [
        "capillary-whole-blood", "capillary-plasma", "venous-whole-blood", "venous-plasma", "arterial-whole-blood",
        "arterial-plasma", "whole-blood", "plasma", "interstitial-fluid",
    ]

    private mutating func writeSample(_ kind: Int) {
        if (1...PacketDecoder.specimens.count).contains(kind & 15) {
            document.member(.specimen, text: PacketDecoder.specimens[(kind & 15) - 1])
        } else {
            document.member(.specimen, text: "unspecified")
        }
        switch kind >> 4 {
        case 1: document.member(.sampleLocation, text: "finger")
        case 2: document.member(.sampleLocation, text: "alternate-site")
        case 3: document.member(.sampleLocation, text: "earlobe")
        default: break
        }
    }

    /// Whether the number may be used, and how the measured value compares with it. A meter may state a number where
    /// its status says that the result is beyond what it can process: of that only a bound is known.
    private mutating func writeQuality(of concentration: MedicalFloat, _ status: Int) {
        // Sensor, sample and strip (bits 1 to 4), temperature (7, 8), a strip pulled too soon (9), the device (10).
        let isFaulty = status & 0b111_1001_1110 != 0
        let (isTooHigh, isTooLow) = (status >> 5 & 1 == 1, status >> 6 & 1 == 1)
        let isUsable = !isFaulty && !(isTooHigh && isTooLow)
        document.member(.quality, text: isUsable ? "good" : "invalid")
        guard isUsable, isTooHigh || isTooLow, case .number = concentration else { return }
        document.member(.comparator, text: isTooHigh ? ">" : "<")
    }

    private mutating func writeGlucoseStatus(_ status: Int) {
        document.member(.status, status)
        document.flag(.batteryLow, status, 0)
        document.flag(.sensorMalfunction, status, 1)
        document.flag(.sampleInsufficient, status, 2)
        document.flag(.stripInsertionError, status, 3)
        document.flag(.stripTypeIncorrect, status, 4)
        document.flag(.resultTooHigh, status, 5)
        document.flag(.resultTooLow, status, 6)
        document.flag(.temperatureTooHigh, status, 7)
        document.flag(.temperatureTooLow, status, 8)
        document.flag(.readInterrupted, status, 9)
        document.flag(.generalFault, status, 10)
        document.flag(.timeFault, status, 11)
    }

    /// A context has no time of its own: that of the record with its sequence number, which the device sent before.
    mutating func decodeContext(_ reader: inout PacketReader, _ head: PacketHead) throws(PacketFailure) {
        let context = try GlucoseContext(&reader)
        document.begin(head, at: records.time(of: context.sequence, device: head.device))
        document.member(.sequence, context.sequence)
        if let carbohydrate = context.carbohydrate {
            document.member(.carbohydrateKind, carbohydrate.kind)
            // kg in g.
            document.member(.carbohydrate, carbohydrate.amount.scaled(byPowers: 3))
        }
        if let meal = context.meal { document.member(.meal, meal) }
        if let person = context.person {
            document.member(.tester, person & 15)
            document.member(.health, person >> 4)
        }
        if let exercise = context.exercise {
            document.member(.exerciseSeconds, exercise.seconds)
            document.member(.exerciseIntensity, exercise.intensity)
        }
        if let medication = context.medication {
            document.member(.medicationKind, medication.kind)
            document.member(.medication, medication.amount.scaled(byPowers: context.isLitres ? 3 : 6))
            document.member(.medicationUnit, text: context.isLitres ? "mL" : "mg")
        }
        if let share = context.glycatedHaemoglobin { document.member(.glycatedHaemoglobin, share) }
        document.end()
    }
}

/// The fields of a Glucose Measurement Context.
struct GlucoseContext {
    let sequence: Int
    var carbohydrate: (kind: UInt8, amount: MedicalFloat)?
    var meal: UInt8?
    /// Who tested in the lower half, and that person's health in the upper.
    var person: UInt8?
    var exercise: (seconds: Int, intensity: UInt8)?
    var medication: (kind: UInt8, amount: MedicalFloat)?
    var glycatedHaemoglobin: MedicalFloat?
    /// Whether the medication is told in litres rather than kilograms.
    let isLitres: Bool

    init(_ reader: inout PacketReader) throws(PacketFailure) {
        let flags = try reader.byte()
        isLitres = flags & 32 != 0
        sequence = try reader.short()
        // Extended flags, all of them reserved.
        if flags & 128 != 0 { _ = try reader.byte() }
        if flags & 1 != 0 { carbohydrate = (try reader.byte(), try reader.magnitude()) }
        if flags & 2 != 0 { meal = try reader.byte() }
        if flags & 4 != 0 { person = try reader.byte() }
        if flags & 8 != 0 { exercise = (try reader.short(), try reader.byte()) }
        if flags & 16 != 0 { medication = (try reader.byte(), try reader.magnitude()) }
        if flags & 64 != 0 { glycatedHaemoglobin = try reader.magnitude() }
    }
}
