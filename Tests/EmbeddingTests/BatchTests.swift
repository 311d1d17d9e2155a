import Dispatch
import Kymograph
import Testing

/// What a program is told of batches, and where its callbacks run.
@Suite struct BatchTests {
    /// Tasks on a dispatch queue of their own.
    private final class QueueExecutor: TaskExecutor {
        let queue = DispatchQueue(label: "kymo-test-executor")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            // Safe: the closure keeps the executor, and the job is run once.
            queue.async { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    private func configuration(isKept: Bool, _ folder: Folder) -> EngineConfiguration {
        EngineConfiguration(
            "output: {maxEntries: 4}", storage: isKept ? .directory(folder.path("data")) : .ephemeral)
    }

    /// All resources of a batch come together, and before the sink has one of them; with a store and without.
    @Test(arguments: [true, false]) func beforeSinks(isKept: Bool) async throws {
        let folder = Folder()
        let announced = Box<[[String]]>([])
        let early = Box<[String]>([])
        let sunk = Box<[String]>([])
        var configuration = configuration(isKept: isKept, folder)
        configuration.onBatch = { batch in announced.change { $0.append(batch.map(\.id)) } }
        configuration.sinks = [
            EntrySink("chart") { entries in
                let known = Set(announced.value.flatMap { $0 })
                early.change { $0 += entries.map(\.id).filter { !known.contains($0) } }
                sunk.change { $0 += entries.map(\.id) }
            }
        ]
        let engine = try KymographEngine(configuration)
        async let summary = engine.run()
        for device in 0..<5 { _ = try await engine.submit(heartRate(device, device: "watch-\(device)")) }
        engine.stop()
        let counted = try await summary
        #expect(counted.accepted == 5 && counted.inFlight == 0)
        #expect(early.value.isEmpty && Set(sunk.value).count == 5)
        #expect(Set(announced.value.flatMap { $0 }) == Set(sunk.value))
        // A Device and a Patient each are entries of a bundle, too: two Observations fill one of four.
        #expect(announced.value.allSatisfy { $0.count <= 2 } && announced.value.count >= 3, "\(announced.value)")
    }

    /// Callbacks wait in the program's queue, in order, and the engine does not wait for them.
    @Test func onTheProgramsQueue() async throws {
        let folder = Folder()
        let queue = DispatchQueue(label: "kymo-test-callbacks")
        let rejected = Box<[String]>([])
        var configuration = configuration(isKept: true, folder)
        configuration.callbackQueue = { queue.async(execute: $0) }
        configuration.onRejection = { one in
            dispatchPrecondition(condition: .onQueue(queue))
            rejected.change { $0.append(String(decoding: one.bytes, as: UTF8.self)) }
        }
        configuration.sinks = [EntrySink("none") { _ in }]
        let engine = try KymographEngine(configuration)
        queue.suspend()
        async let summary = engine.run()
        for number in 0..<20 { _ = try await engine.submit(Array("{\(number)".utf8)) }
        engine.stop()
        let counted = try await summary
        #expect(counted.rejected == 20 && rejected.value.isEmpty)
        queue.resume()
        queue.sync {}
        #expect(rejected.value == (0..<20).map { "{\($0)" })
    }

    /// Notes, too; one of a mapping is there before the engine is.
    @Test func notes() throws {
        let queue = DispatchQueue(label: "kymo-test-notes")
        let notes = Box<[String]>([])
        var configuration = EngineConfiguration("patientConflict: map", storage: .ephemeral)
        configuration.callbackQueue = { queue.async(execute: $0) }
        configuration.onNote = { note in
            dispatchPrecondition(condition: .onQueue(queue))
            notes.change { $0.append(note) }
        }
        configuration.sinks = [EntrySink("none") { _ in }]
        _ = try KymographEngine(configuration)
        queue.sync {}
        #expect(notes.value.contains { $0.contains("patientConflict") }, "\(notes.value)")
    }

    /// The function of a sink runs on its executor.
    @Test func onTheSinksExecutor() async throws {
        let executor = QueueExecutor()
        let folder = Folder()
        let calls = Box(0)
        var configuration = configuration(isKept: false, folder)
        var sink = EntrySink("chart") { entries in
            dispatchPrecondition(condition: .onQueue(executor.queue))
            calls.change { $0 += entries.count }
        }
        sink.executor = executor
        configuration.sinks = [sink]
        let engine = try KymographEngine(configuration)
        async let summary = engine.run()
        _ = try await engine.submit(heartRate(1))
        engine.stop()
        #expect(try await summary.observations == 1 && calls.value == 1)
    }
}
