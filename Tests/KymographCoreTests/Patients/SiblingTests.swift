@testable import KymographCore
import Testing

/// Devices that are of one patient at a time: what a window machine takes of a reading that it may have already, for
/// another patient.
@Suite struct SiblingTests {
    private static let second: Int64 = 1_000_000_000

    /// Guards the devices that it is told.
    private final class Guard: DeviceGuard, @unchecked Sendable {
        // Of the test's thread alone.
        var devices: Set<[UInt8]> = []
        var generation = 0

        func holds(_ device: [UInt8]) -> Bool { devices.contains(device) }

        func add(_ device: String) {
            devices.insert(Array(device.utf8))
            generation += 1
        }
    }

    /// Types 0 and 1 are called alike, with windows of 1 and 5 minutes; type 2 is another. Slot 1 is an id.
    private static func types() -> [MeasurementType] {
        let types: [(name: String, period: Int64)] = [("beat", 60), ("beat", 300), ("pressure", 60)]
        return types.map { name, period in
            var type = MeasurementType(
                name: name, valueNames: ["x", "id"], grouping: .tumbling(nanoseconds: period * second),
                isNumeric: [true, false])
            type.idSlot = 1
            return type
        }
    }

    private struct Run: ~Copyable {
        let guarding = Guard()
        var machine: WindowMachine<MemoryArchive>
        private var received: Int64 = 1_000

        init(guards devices: [String] = ["d"]) {
            for device in devices { guarding.add(device) }
            var settings = WindowSettings(lateness: 0, idle: 0)
            settings.deviceGuard = guarding
            machine = WindowMachine(types: SiblingTests.types(), settings: settings)
        }

        /// Adds a reading; what became of it.
        mutating func add(
            _ patient: String?, _ at: Int64, type: Int = 0, device: String = "d", value: Int64 = 60, id: String? = nil,
            correlation: String? = nil, encounter: String? = nil, mark: UInt8 = 0
        ) -> ReadingOutcome {
            func bytes(_ text: String?) -> [UInt8]? { text.map { Array($0.utf8) } }
            let identity = SeriesIdentity(
                type: type, device: Array(device.utf8), patient: bytes(patient), encounter: bytes(encounter),
                correlation: bytes(correlation))
            guard let series = machine.define(identity) else { return .rejected(.tooManyDevices) }
            received += 1
            var reading = Measurement(instant: Instant(seconds: at), received: Instant(seconds: received))
            reading.setInline(0, Decimal64(mantissa: value))
            reading.mark = mark
            var payload = ByteWriter()
            if let id {
                let text = PaddedBytes(copying: Array(id.utf8))
                ValueRecord.append(slot: 1, text: text.view, to: &payload)
            }
            reading.payloadBytes = payload.count
            return machine.add(series: series, reading, payload: payload.view)
        }

        /// Archives what is closed.
        mutating func close() {
            machine.drain()
            while let emission = machine.nextEmission() { machine.settle(emission) }
        }
    }

    private static let changed = ReadingOutcome.rejected(.patientChanged)

    /// While the window is open, and when it has been archived; and what is new is taken.
    @Test(arguments: [false, true]) func theFirstStays(isArchived: Bool) {
        var run = Run()
        for at: Int64 in 0..<10 { #expect(run.add("p", at) == .accepted) }
        if isArchived { run.close() }
        for at: Int64 in 0..<10 {
            #expect(run.add("q", at) == Self.changed && run.add(nil, at, value: 61) == Self.changed)
        }
        #expect(run.add("p", 5, encounter: "e") == Self.changed)
        #expect(run.add("q", 10) == .accepted && run.add("q", 12) == .accepted)
        // Between readings of the other, and in the other direction: no run lets them by.
        for at: Int64 in 11..<14 { #expect(run.add("p", at) == (at == 12 ? Self.changed : .accepted), "\(at)") }
        #expect(run.add("q", 13) == Self.changed && run.add("q", 14) == .accepted)
        #expect(run.add("p", 14) == Self.changed && run.add("p", 9) == .duplicate)
    }

    /// A device that a later map has is guarded from then on, though all of its series are known.
    @Test(arguments: [false, true]) func aDeviceThatTheMapGets(isArchived: Bool) {
        var run = Run(guards: [])
        #expect(run.add("p", 1) == .accepted && run.add("q", 2) == .accepted && run.add("p", 6) == .accepted)
        if isArchived { run.close() }
        run.guarding.add("d")
        run.machine.lookAtGuard()
        #expect(run.add("q", 1) == Self.changed && run.add("q", 6) == Self.changed && run.add("p", 2) == Self.changed)
        #expect(run.add("q", 7) == .accepted && run.add("p", 7) == Self.changed)
    }

    /// Types that differ in their period alone are one; other types, correlation ids and devices are others.
    @Test func whatIsTheSameReading() {
        var run = Run()
        #expect(run.add("p", 5) == .accepted)
        #expect(run.add("q", 5, type: 1) == Self.changed)
        #expect(run.add("p", 5, type: 1) == .accepted, "for the same patient")
        #expect(run.add("q", 5, type: 2) == .accepted)
        #expect(run.add("q", 5, correlation: "c") == .accepted)
        #expect(run.add("q", 5, device: "e") == .accepted)
    }

    /// A reading that its sender calls alike is the same at another time, too.
    @Test(arguments: [false, true]) func ids(isArchived: Bool) {
        var run = Run()
        #expect(run.add("p", 5, id: "r-1") == .accepted)
        if isArchived { run.close() }
        #expect(run.add("q", 7, id: "r-1") == Self.changed)
        #expect(run.add("q", 7, id: "r-2") == .accepted)
        #expect(run.add("p", 9, id: "r-1") == .replaced)
        #expect(run.add("q", 5, id: "r-3") == .accepted, "it was moved away from there")
    }

    /// A central station may be of several patients at a time, unless a map has it; what names no patient never is.
    @Test func devicesThatAreNotGuarded() {
        var run = Run(guards: [])
        for at: Int64 in 0..<5 { #expect(run.add("p", at) == .accepted && run.add("q", at) == .accepted) }
        #expect(run.add(nil, 3) == Self.changed && run.add(nil, 5) == .accepted)
        #expect(run.add("p", 5) == .accepted)
        run.guarding.add("d")
        #expect(run.add("p", 6) == .accepted && run.add("q", 6) == Self.changed)
        #expect(run.add("p", 7) == .accepted && run.add("q", 7) == Self.changed)
    }

    /// What an earlier run has accepted stays, and a letter that is taken again is no earlier run's: it needs a look,
    /// however the readings before it have come.
    @Test func lettersThatAreTakenAgain() {
        var run = Run()
        run.machine.setReplaying(true)
        for at: Int64 in 0..<9 { #expect(run.add("p", at) == .accepted) }
        for at: Int64 in 0..<4 { #expect(run.add("q", at) == .accepted, "as the journal has it") }
        for at: Int64 in 4..<9 { #expect(run.add("q", at, mark: ReadingMark.returned) == Self.changed) }
        #expect(run.add("q", 100, mark: ReadingMark.returned) == .accepted && run.add("p", 101) == .accepted)
        #expect(run.add("q", 101, mark: ReadingMark.returned) == Self.changed)
        #expect(run.add("p", 9) == .accepted && run.add("q", 10, mark: ReadingMark.returned) == .accepted)
        run.machine.setReplaying(false)
        #expect(run.add("q", 9) == Self.changed && run.add("p", 10) == Self.changed)
    }

    /// A window that the archive has dropped may have had the reading.
    @Test func whatTheArchiveHasDropped() {
        let guarding = Guard()
        guarding.add("d")
        var settings = WindowSettings(lateness: 0, idle: 0, limits: WindowLimits(archiveBytes: 64))
        settings.deviceGuard = guarding
        var machine = WindowMachine<MemoryArchive>(types: Self.types(), settings: settings)
        func identity(_ patient: String) -> SeriesIdentity {
            SeriesIdentity(type: 0, device: Array("d".utf8), patient: Array(patient.utf8))
        }
        let (p, q) = (machine.define(identity("p")) ?? 0, machine.define(identity("q")) ?? 0)
        for minute: Int64 in 0..<20 {
            var reading = Measurement(
                instant: Instant(seconds: minute * 60), received: Instant(seconds: 5_000 + minute))
            reading.setInline(0, Decimal64(mantissa: 60))
            #expect(machine.add(series: p, reading, payload: ByteView("")) == .accepted)
            while let emission = machine.nextEmission() { machine.settle(emission) }
        }
        var reading = Measurement(instant: Instant(seconds: 1), received: Instant(seconds: 9_000))
        reading.setInline(0, Decimal64(mantissa: 60))
        #expect(machine.add(series: q, reading, payload: ByteView("")) == .rejected(.archiveEvicted))
        reading.instant = Instant(seconds: 3_000)
        #expect(machine.add(series: q, reading, payload: ByteView("")) == .accepted)
    }
}
