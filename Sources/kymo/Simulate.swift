import ArgumentParser
import Glibc
import Kymograph
import KymographCore
import KymographTestKit

/// `kymo simulate`: a population of devices, to a socket or to standard output.
struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Play a population of devices that send readings, to a socket or to standard output.",
        discussion: """
            Readings have the form of the mapping 'reading'. The same options with the same --start give the same bytes.

            With --latency it measures how long readings take through a pipeline whose output it reads from standard \
            input. They are sent at fixed times, and each counts from when it was due: nothing that falls behind can \
            hide it.

              KYMO_OUTPUT_MAX_AGE=0s \\
              kymo run --udp 127.0.0.1:5757 --ephemeral --format ndjson |
              kymo simulate --latency --udp 127.0.0.1:5757 --rate 100 --duration 10s

            With --format json the percentiles are members, in microseconds.

            Example: kymo simulate --devices 200 --duration 5m --late 0.05 --duplicates 0.01 --udp 127.0.0.1:5757
            """)

    @OptionGroup(title: "Destination")
    var sending: SendingOptions

    @Option(help: "Number of devices.")
    var devices = 10

    @Option(help: ArgumentHelp("Number of the first device, so that several runs play different ones.", valueName: "n"))
    var firstDevice = 1

    @Option(help: ArgumentHelp("Readings per second and device, in the mix of a wearable.", valueName: "per-second"))
    var rate = 1.0

    @Option(help: ArgumentHelp("Length of the played time: 30s, 5m, 1h.", valueName: "length"))
    var duration = LengthArgument(seconds: 300, text: "5m")

    @Option(help: ArgumentHelp("Time of the first readings; default: now, or so that they end now.", valueName: "time"))
    var start: String?

    @Option(help: "Repeats a run.")
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("How irregular the times are, 0…1.", valueName: "part"))
    var jitter = 0.2

    @Option(help: ArgumentHelp("Probability that a reading arrives twice.", valueName: "p"))
    var duplicates = 0.0

    @Option(help: ArgumentHelp("Probability that a reading is lost.", valueName: "p"))
    var losses = 0.0

    @Option(help: ArgumentHelp("Probability that a reading arrives late.", valueName: "p"))
    var late = 0.0

    @Option(help: ArgumentHelp("Longest lateness.", valueName: "length"))
    var maxLate = LengthArgument(seconds: 20, text: "20s")

    @Option(help: ArgumentHelp("Probability that a reading arrives after its successor.", valueName: "p"))
    var outOfOrder = 0.0

    @Option(help: ArgumentHelp("Times faster than real time, or max.", valueName: "factor"))
    var speed = SpeedArgument.realTime

    @Flag(help: "Measure how long readings take to come out of a pipeline; prints percentiles.")
    var latency = false

    @Option(
        help: ArgumentHelp(
            "With --latency, the pipeline's window: measured is from the reading that closes one. Needs --lateness 0s "
                + "there.", valueName: "length"))
    var window: LengthArgument?

    @Option(help: ArgumentHelp("With --latency, for people or for programs.", valueName: "text|json"))
    var format = TextFormat.text

    func validate() throws {
        try validateLatency()
        guard devices > 0 else { throw ValidationError("--devices must be at least 1") }
        guard firstDevice > 0 else { throw ValidationError("--first-device must be at least 1") }
        guard rate > 0, rate <= 1000 else { throw ValidationError("--rate must be above 0 and at most 1000") }
        let parts = [
            ("jitter", jitter), ("duplicates", duplicates), ("losses", losses), ("late", late),
            ("out-of-order", outOfOrder),
        ]
        for (name, part) in parts where !(0...1).contains(part) {
            throw ValidationError("--\(name) must be between 0 and 1")
        }
        if let start, TimestampReader.instant(start) == nil {
            throw ValidationError("--start \(start): write a time such as 2026-03-01T08:00:00Z")
        }
    }

    func run() throws {
        do {
            if latency { try measureLatency() } else { try play() }
        } catch let error as SendingError {
            throw StandardError.exit(error.description, code: ExitStatus.unavailable)
        }
    }

    private func play() throws {
        var simulator = DeviceSimulator(plan: plan)
        var sender = try ReadingSender(to: sending.destination)
        var pacer = Pacer(pace: speed.pace)
        var progress = ProgressBar()
        var line = ByteWriter(capacity: 512)
        while let delivery = simulator.next(into: &line) {
            try sender.wait(pacer.wait(until: delivery.time))
            try sender.send(line.view)
            line.removeAll()
            progress.show(part(at: delivery.time, since: simulator.plan.start), label: "\(sender.sent) sent")
        }
        try sender.flush()
        progress.finish()
        describe(simulator.counts)
        try sender.report(after: pacer.elapsed)
    }

    private var plan: SimulationPlan {
        var plan = SimulationPlan()
        plan.devices = devices
        plan.firstDevice = firstDevice
        plan.rates = SimulationPlan.wearableRates(total: rate)
        plan.duration = duration.nanoseconds
        plan.start = firstTime
        plan.seed = seed
        plan.jitter = jitter
        plan.duplicates = duplicates
        plan.losses = losses
        plan.late = late
        plan.maxLateness = maxLate.nanoseconds
        plan.outOfOrder = outOfOrder
        return plan
    }

    /// Now in real time; else early enough for the last reading not to be in the future, which a pipeline refuses.
    private var firstTime: Instant {
        if let start, let instant = TimestampReader.instant(start) { return instant }
        let now = Instant(seconds: Int64(time(nil)))
        return speed.pace == .speed(1) ? now : now.advanced(by: -duration.nanoseconds - maxLate.nanoseconds)
    }

    private func part(at time: Instant, since first: Instant) -> Double {
        Double(time.nanoseconds - first.nanoseconds) / Double(max(1, duration.nanoseconds))
    }

    private func describe(_ counts: SimulationCounts) {
        StandardError.write(
            """
            \(CountText.of(devices, "device")) measured \(CountText.of(counts.measured, "reading")): \
            \(counts.delivered) delivered, \
            \(counts.lost) lost, \(counts.late) late, \(counts.outOfOrder) out of order, \
            \(counts.duplicated) duplicates added

            """)
    }
}
