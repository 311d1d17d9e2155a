import KymographCore
import Testing

/// What is taken of a source.
@Suite struct IntakeLimitsTests {
    private static let types = ["heartRate", "heartRateVariability", "bodyWeight"].map { name in
        MeasurementType(name: name, valueNames: ["value"], grouping: .instance, isNumeric: [true])
    }

    private static let stop = Instant(seconds: 1_000)

    private func refusals(
        _ source: IntakeLimits.Source, paused: Set<String> = [], at seconds: Int64 = 0, length: Int64 = 0
    ) -> [Rejection?] {
        let limits = IntakeLimits([IntakeLimits.Source(), source], pausedTypes: paused, types: Self.types)
        return Self.types.indices.map {
            limits.refusal(type: $0, source: 1, at: Instant(seconds: seconds), length: length)
        }
    }

    @Test func typesByTheirNames() {
        #expect(refusals(.init()) == [nil, nil, nil])
        #expect(refusals(.init(types: ["heartRate"])) == [nil, .typeNotAllowed, .typeNotAllowed])
        #expect(refusals(.init(types: ["heart*", "x"])) == [nil, nil, .typeNotAllowed])
        #expect(refusals(.init(types: ["none"])) == [.typeNotAllowed, .typeNotAllowed, .typeNotAllowed])
    }

    /// A reading of the stop is none of the time before it; one that lasts up to it is. The instant of an interval is
    /// its end.
    @Test(arguments: [
        (seconds: 999, length: 0, isTaken: true), (1_000, 0, false), (1_001, 0, false),
        (999, 28_800_000_000_000, true), (1_000, 28_800_000_000_000, true), (1_001, 28_800_000_000_000, false),
        (1_000, 1, true), (1_001, 1, false),
    ])
    func untilTheStop(seconds: Int64, length: Int64, isTaken: Bool) {
        let expected: Rejection? = isTaken ? nil : .afterStopDate
        #expect(refusals(.init(until: Self.stop), at: seconds, length: length) == [expected, expected, expected])
    }

    /// What a source never takes is said before what is paused for a while.
    @Test func pausedTypes() {
        #expect(refusals(.init(), paused: ["heartRate"]) == [.typePaused, nil, nil])
        #expect(
            refusals(.init(types: ["bodyWeight"]), paused: ["heartRate", "bodyWeight"])
                == [.typeNotAllowed, .typeNotAllowed, .typePaused])
        #expect(refusals(.init(until: Self.stop), paused: ["bodyWeight"], at: 2_000)[2] == .afterStopDate)
    }

    /// Without anything to look at, lanes are not to look.
    @Test func isOnOnlyWhereSomethingIsNotTaken() {
        func isOn(_ sources: [IntakeLimits.Source], _ paused: Set<String> = []) -> Bool {
            IntakeLimits(sources, pausedTypes: paused, types: Self.types).isOn
        }
        #expect(!isOn([]) && !isOn([.init(), .init()]) && !IntakeLimits().isOn)
        #expect(isOn([.init(), .init(types: ["x"])]) && isOn([.init(until: Self.stop)]) && isOn([.init()], ["x"]))
    }
}
