import KymographCore
import Synchronization

/// An asynchronous function of the program as a place that entries go to. No configuration can name it.
struct HandlerAddress: SinkAddress {
    /// The name that the program gives the sink.
    let sink: String
    let handler: EntrySink.Handler
    let executor: (any TaskExecutor)?

    static let descriptor = SinkDescriptor(
        key: "app", form: "name", about: "Where entries go", capabilities: [.mayBeAway]
    ) { (_) throws(SettingProblem) in
        throw SettingProblem(message: "only a program that embeds the engine has such sinks")
    }

    var text: String { sink }

    static func == (one: HandlerAddress, other: HandlerAddress) -> Bool { one.sink.utf8.elementsEqual(other.sink.utf8) }

    func hash(into hasher: inout Hasher) { hasher.combine(Array(sink.utf8)) }

    func open(_ opening: SinkOpening) throws(SinkError) -> OpenedSink {
        do throws(SystemError) {
            return .writer(try HandlerSink(self, isForced: opening.isForced))
        } catch {
            throw SinkError(kind: .system(error.code), message: error.message)
        }
    }
}

/// Gives entries to an asynchronous function, and waits for it: the threads that deliver are no tasks.
///
/// What it has taken it has for good, so that nothing is left to flush or to make durable.
final class HandlerSink: BlockSink {
    private enum Answer {
        case taken
        case failed(String)
    }

    private let name: String
    private let handler: EntrySink.Handler
    private let executor: (any TaskExecutor)?
    private let isForced: @Sendable () -> Bool
    private let bell: Doorbell
    private let answer = Mutex<(call: Int, answer: Answer?)>((0, nil))

    init(_ address: HandlerAddress, isForced: @escaping @Sendable () -> Bool) throws(SystemError) {
        (name, handler, executor) = (address.sink, address.handler, address.executor)
        self.isForced = isForced
        bell = try Doorbell()
    }

    func write(_ block: ByteView) throws(SinkError) -> Int? {
        var index = EntryIndex()
        guard let entries = index.read(block) else { return nil }
        try give(ResourceEntry.all(of: entries))
        return block.count
    }

    func flush() throws(SinkError) {}

    func synchronise() throws(SinkError) {}

    func tick(_ now: Instant) throws(SinkError) {}

    func close() throws(SinkError) {}

    private func give(_ entries: [ResourceEntry]) throws(SinkError) {
        guard !entries.isEmpty else { return }
        let task = begin(entries)
        while true {
            switch answer.withLock({ $0.answer }) {
            case .taken: return
            case .failed(let reason): throw fault("has not taken", entries.count, ": \(reason)")
            case nil: break
            }
            guard !isForced() else {
                task.cancel()
                throw fault("was still at", entries.count, " at the end")
            }
            bell.sleep(milliseconds: 100) { answer.withLock { $0.answer != nil } }
        }
    }

    private func fault(_ text: String, _ count: Int, _ reason: String) -> SinkError {
        SinkError(
            kind: .notTaken,
            message: "sink \(name) \(text) \(count == 1 ? "an entry" : "\(count) entries")\(reason)")
    }

    /// Calls the function in a task.
    private func begin(_ entries: [ResourceEntry]) -> Task<Void, Never> {
        let call = answer.withLock { state in
            state = (state.call + 1, nil)
            return state.call
        }
        return Task(executorPreference: executor) { [self] in
            do {
                try await handler(entries)
                settle(call, .taken)
            } catch {
                settle(call, .failed("\(error)"))
            }
        }
    }

    /// Notes the answer of call `call`, unless it was abandoned.
    private func settle(_ call: Int, _ outcome: Answer) {
        answer.withLock { state in
            if state.call == call { state.answer = outcome }
        }
        bell.ring()
    }
}
