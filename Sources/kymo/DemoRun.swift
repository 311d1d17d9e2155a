import Kymograph
import KymographCore
import KymographTestKit

/// Half an hour of three simulated devices, played into an engine that keeps nothing.
struct DemoRun: Sendable {
    /// How much quicker than the devices were it plays on a terminal: half an hour in six seconds.
    private static let speed = 300.0
    /// Readings between two pictures.
    private static let step = 40

    private let picture: DemoPicture
    private let seed: UInt64
    private let isPaced: Bool
    private let onStep: @Sendable () -> Void

    /// Plays to `picture`; calls `onStep` now and then while it does.
    init(_ picture: DemoPicture, seed: UInt64, isPaced: Bool, onStep: @escaping @Sendable () -> Void) {
        self.picture = picture
        self.seed = seed
        self.isPaced = isPaced
        self.onStep = onStep
    }

    /// Plays to the end.
    func result() async -> Result<EngineSummary, EngineError> {
        do throws(EngineError) { return .success(try await play()) } catch { return .failure(error) }
    }

    private func play() async throws(EngineError) -> EngineSummary {
        var configuration = EngineConfiguration("output: {maxAge: 0s}", storage: .ephemeral)
        configuration.sinks = [EntrySink("demo") { [picture] entries in picture.take(entries) }]
        let engine = try KymographEngine(configuration)
        async let outcome = DemoRun.run(engine)
        // What is not taken is missing in the balance, which is shown.
        try? await send(to: engine)
        engine.stop()
        return try await outcome.get()
    }

    private static func run(_ engine: KymographEngine) async -> Result<EngineSummary, EngineError> {
        do throws(EngineError) { return .success(try await engine.run()) } catch { return .failure(error) }
    }

    private func send(to engine: KymographEngine) async throws {
        var simulator = DeviceSimulator(plan: plan)
        var pacer = Pacer(pace: isPaced ? .speed(DemoRun.speed) : .unlimited)
        var line = ByteWriter(capacity: 512)
        var count = 0
        while let delivery = simulator.next(into: &line) {
            try await Task.sleep(for: pacer.wait(until: delivery.time))
            _ = try await engine.submit(line.view.array)
            line.removeAll()
            count += 1
            if count == DemoRun.step { _ = try await engine.submit(withoutValue(at: delivery.time)) }
            if count % DemoRun.step == 0 { onStep() }
        }
    }

    /// A reading of a strap that had lost its contact.
    private func withoutValue(at time: Instant) -> [UInt8] {
        var text = ByteWriter(capacity: 256)
        text.append("{\"deviceId\":\"sim-0001\",\"type\":\"heartRate\",\"timestamp\":\"")
        TimestampText.append(time, to: &text)
        text.append("\",\"value\":null,\"unit\":\"/min\"}")
        return text.view.array
    }

    private var plan: SimulationPlan {
        var plan = SimulationPlan()
        plan.devices = 3
        plan.duration = 1_800_000_000_000
        plan.rates = SimulationPlan.wearableRates(total: 0.25)
        plan.start = WallClock.now().advanced(by: -plan.duration - plan.maxLateness)
        plan.seed = seed
        plan.jitter = 0.2
        plan.duplicates = 0.02
        plan.late = 0.05
        return plan
    }
}
