import Synchronization

/// Which types and sources are paused, and how far lanes follow. For any thread.
final class PauseBook: Sendable {
    private struct State {
        var pauses: [Pause]
        var sources: [PipelineSettings.Source]
        /// Sources whose payloads are looked at, to be rejected.
        var attended = 0
        /// The generation that each lane follows.
        var adopted: [Int: Int] = [:]

        /// The numbers of the sources that are paused, and how many more of them are looked at than before.
        mutating func settle() -> (paused: Set<Int>, change: Int) {
            let paused = sources.indices.filter { place in
                !sources[place].isRemoved && pauses.contains { $0.kind == .source && $0.isNamed(sources[place].name) }
            }
            let before = attended
            attended = paused.count { !sources[$0].configuration.canWait }
            return (Set(paused), attended - before)
        }
    }

    /// What lanes do not read.
    let holds = SourceHolds()
    private let attention: PayloadAttention
    private let state: Mutex<State>

    /// Begins with `pauses`, of `sources` in the order of their numbers; `attention` is that of the lanes.
    init(_ pauses: [Pause], sources: [PipelineSettings.Source], attention: PayloadAttention) {
        self.attention = attention
        state = Mutex(State(pauses: [], sources: sources))
        if !pauses.isEmpty { replace(with: pauses) }
    }

    /// Begins with what `store` remembers, and tells of it. What would lose readings by the present settings is paused
    /// no more.
    convenience init(_ store: Store?, _ settings: PipelineSettings, notes: LogTaker) {
        let remembered = store?.pauses ?? []
        let limits = PauseLimits(settings)
        let pauses = remembered.filter { limits.refusal($0) == nil }
        for pause in remembered {
            guard let reason = limits.refusal(pause) else { continue }
            notes(.error("\(pause.kind.rawValue) \(pause.name) is not paused any more, and is taken: \(reason)"))
        }
        do throws(StoreError) {
            if pauses.count < remembered.count { try store?.note(pauses) }
        } catch {
            notes(.error("\(error.message); what is paused is said again at the next start"))
        }
        PauseControl.tellAtStart(pauses, settings.sources, notes: notes)
        self.init(pauses, sources: settings.sources, attention: settings.returning.attention)
    }

    /// What is paused.
    var current: [Pause] { state.withLock { $0.pauses } }

    /// Pauses these from here on, and no others; gives the generation that lanes follow soon.
    @discardableResult
    func replace(with pauses: [Pause]) -> Int {
        // Under the lock, so that of two who change something the later one's is followed.
        state.withLock { state in
            state.pauses = pauses
            return hold(&state)
        }
    }

    /// Goes by `new` sources from here on, which are those that there were, and others behind them.
    func follow(_ new: [PipelineSettings.Source]) {
        state.withLock { state in
            state.sources = new
            hold(&state)
        }
    }

    /// Has lanes hold what is paused.
    @discardableResult
    private func hold(_ state: inout State) -> Int {
        let (paused, change) = state.settle()
        attention.add(change)
        return holds.replace(with: paused)
    }

    /// Notes that lane `number` follows `generation`.
    func noteAdopted(_ generation: Int, lane number: Int) { state.withLock { $0.adopted[number] = generation } }

    /// Whether the lanes, `count` of them, follow `generation` or a later one.
    func isAdopted(_ generation: Int, lanes count: Int) -> Bool {
        state.withLock { state in (0..<count).allSatisfy { state.adopted[$0] ?? 0 >= generation } }
    }
}
