@testable import KymographCore
import Testing

/// Devices and series that retractions name are within the limits of those that readings bring.
@Suite struct RetractionLimitTests {
    private static let types = ["x", "y", "z"].map {
        MeasurementType(
            name: $0, valueNames: ["x"], grouping: .tumbling(nanoseconds: 60_000_000_000), isNumeric: [true])
    }

    private static func machine(_ limits: WindowLimits) -> WindowMachine<MemoryArchive> {
        WindowMachine(types: types, settings: WindowSettings(lateness: 0, idle: 0, limits: limits))
    }

    private static func identity(_ device: String, _ type: Int = 0, patient: String? = nil) -> SeriesIdentity {
        SeriesIdentity(type: type, device: Array(device.utf8), patient: patient.map { Array($0.utf8) })
    }

    private static func reading(_ at: Int64) -> Measurement {
        var reading = Measurement(
            instant: Instant(seconds: at), received: Instant(seconds: at))
        reading.setInline(0, Decimal64(mantissa: at))
        return reading
    }

    /// Takes a retraction of the reading of `device` at `at` seconds; nil when it has come before, or took one.
    private static func retract(
        _ machine: inout WindowMachine<MemoryArchive>, _ device: String, _ type: Int = 0, at: Int64 = 1
    ) -> Rejection? {
        var payload = ByteWriter()
        SeriesKey.encode(identity(device, type)).withByteView {
            Tombstone.write($0, isNameless: false, content: ByteView(""), into: &payload)
        }
        let outcome = machine.retract(Tombstone(reading(at), payload.view))
        machine.retractions.endDocument(of: 0)
        guard case .rejected(let reason) = outcome else { return nil }
        return reason
    }

    /// Catches: devices that retractions invent, and that no limit bounds.
    @Test func theirDevicesAreCounted() {
        var machine = Self.machine(WindowLimits(maxDevices: 3))
        #expect(machine.define(Self.identity("a")) == 0)
        var reasons = [Self.retract(&machine, "a"), Self.retract(&machine, "b"), Self.retract(&machine, "c")]
        #expect(reasons == [.unknownRetraction, .unknownRetraction, .unknownRetraction])
        #expect(machine.introductions.devices == LimitFill(met: 3, limit: 3))
        reasons = (0..<2_000).map { Self.retract(&machine, "invented \($0)") }
        #expect(reasons.allSatisfy { $0 == .tooManyDevices })
        #expect(machine.introductions.devices == LimitFill(met: 3, limit: 3, refuses: true))
        // What is known goes on.
        reasons = [Self.retract(&machine, "b"), Self.retract(&machine, "c", at: 2), Self.retract(&machine, "a")]
        #expect(reasons == [nil, .unknownRetraction, nil])
        #expect(machine.define(Self.identity("d")) == nil)
        #expect(machine.define(Self.identity("b")) == 1)
        #expect(machine.introductions.devices.met == 3)
        machine.takeOver(WindowLimits(maxDevices: 4))
        reasons = [Self.retract(&machine, "invented 7"), Self.retract(&machine, "e")]
        #expect(reasons == [.unknownRetraction, .tooManyDevices])
    }

    /// A device and type without a reading counts as a series, until it has one.
    @Test func theirSeriesAreCounted() {
        var machine = Self.machine(WindowLimits(maxSeries: 3))
        #expect(machine.define(Self.identity("a")) == 0)
        var reasons = [Self.retract(&machine, "a", 1), Self.retract(&machine, "b")]
        #expect(reasons == [.unknownRetraction, .unknownRetraction])
        #expect(machine.introductions.series == LimitFill(met: 3, limit: 3))
        reasons = [Self.retract(&machine, "a", 2), Self.retract(&machine, "b", 2), Self.retract(&machine, "c")]
        #expect(reasons == [.tooManyDevices, .tooManyDevices, .tooManyDevices])
        #expect(machine.introductions.series == LimitFill(met: 3, limit: 3, refuses: true))
        #expect(machine.define(Self.identity("a", 2)) == nil)
        #expect(machine.define(Self.identity("a", 1)) == 1)
        #expect(machine.define(Self.identity("a", 1, patient: "p")) == nil)
        #expect(machine.define(Self.identity("b", patient: "p")) == 2)
        #expect(machine.introductions.series.met == 3)
    }

    /// Limits that have come down leave what has a place, and what was retracted stays known.
    @Test func limitsThatComeDown() {
        var machine = Self.machine(WindowLimits(maxDevices: 4))
        #expect(machine.define(Self.identity("a")) == 0)
        var reasons = [Self.retract(&machine, "b"), Self.retract(&machine, "c")]
        #expect(reasons == [.unknownRetraction, .unknownRetraction])
        machine.takeOver(WindowLimits(maxDevices: 1, maxSeries: 1))
        reasons = [Self.retract(&machine, "b"), Self.retract(&machine, "d"), Self.retract(&machine, "a", 1)]
        #expect(reasons == [nil, .tooManyDevices, .tooManyDevices])
        #expect(machine.define(Self.identity("d")) == nil)
        #expect(machine.define(Self.identity("b")) == 1)
        #expect(machine.define(Self.identity("c")) == 2)
    }

    /// What was refused is not kept: the reading that it names comes in.
    @Test func whatIsRefusedKeepsNothingOut() throws {
        var machine = Self.machine(WindowLimits(maxDevices: 1))
        #expect(machine.define(Self.identity("a")) == 0)
        let reason = Self.retract(&machine, "b")
        #expect(reason == .tooManyDevices)
        machine.takeOver(WindowLimits(maxDevices: 2))
        let defined = machine.define(Self.identity("b"))
        let series = try #require(defined)
        let outcome = machine.add(series: series, Self.reading(1), payload: ByteView(""))
        #expect(outcome == .accepted)
    }
}
