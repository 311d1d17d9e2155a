import KymographCore
import Testing

let second: Int64 = 1_000_000_000
let minute: Int64 = 60 * second

/// A machine under test and everything it emitted.
struct WindowRun: ~Copyable {
    struct Shown: Equatable {
        var name: WindowName
        var status: ObservationStatus
        var content: String
    }

    var machine: WindowMachine<MemoryArchive>
    /// Emissions in order.
    private(set) var shown: [Shown] = []
    private(set) var outcomes: [ReadingOutcome] = []
    private let grouping: Grouping
    private var payload = ByteWriter()

    init(
        _ grouping: Grouping = .tumbling(nanoseconds: minute), series: Int = 1,
        settings: WindowSettings = WindowSettings(lateness: 30 * second), sameInstant: SameInstant = .merge,
        idSlot: Int? = nil
    ) {
        self.grouping = grouping
        var type = MeasurementType(
            name: "type", valueNames: (0..<16).map { "v\($0)" }, grouping: grouping,
            isNumeric: Array(repeating: true, count: 16))
        (type.sameInstant, type.idSlot) = (sameInstant, idSlot)
        if idSlot != nil { type.durationSlot = 2 }
        machine = WindowMachine(types: [type], settings: settings)
        for number in 0..<series {
            let identity = SeriesIdentity(type: 0, device: Array("device \(number)".utf8))
            #expect(machine.define(identity) == number)
        }
    }

    @discardableResult
    mutating func add(_ reading: TestReading) -> ReadingOutcome {
        let measurement = reading.measurement(&payload)
        let outcome = machine.add(series: reading.series, measurement, payload: payload.view)
        outcomes.append(outcome)
        return outcome
    }

    /// Takes everything that is due.
    mutating func take() {
        while let emission = machine.nextEmission() {
            let content = machine.content(of: emission)
            #expect(content.status == emission.status)
            #expect(content.start == emission.start && content.end == emission.end)
            let start = grouping == .correlation ? 0 : emission.start.nanoseconds
            let name = WindowName(series: emission.series, start: start)
            shown.append(Shown(name: name, status: emission.status, content: content.canonical))
            machine.settle(emission)
        }
    }

    /// Adds readings, taking after each, and drains.
    mutating func play(_ readings: [TestReading]) {
        for reading in readings {
            add(reading)
            take()
        }
        finish()
    }

    /// Drains and takes the rest.
    mutating func finish() {
        machine.drain()
        take()
        #expect(machine.counters.openWindows == 0 && machine.counters.readingsHeld == 0)
    }

    /// The last content shown of each window.
    var last: [WindowName: String] {
        Dictionary(shown.map { ($0.name, $0.content) }, uniquingKeysWith: { _, later in later })
    }

    /// The reading that another has taken the place of last, as its value in slot 0 and its time in seconds.
    var superseded: (value: Int64, second: Int64) {
        let reading = machine.superseded.reading
        return (reading.inline(0)?.mantissa ?? 0, reading.instant.nanoseconds / second)
    }

    /// Statuses in which a window was shown.
    func statuses(_ start: Int64, series: Int = 0) -> [ObservationStatus] {
        shown.filter { $0.name == WindowName(series: series, start: start) }.map(\.status)
    }
}
