import KymographCore
import Synchronization

/// One sink's way out of the outbox: what brings it entries, at the sink's own pace.
final class SinkWay: Sendable {
    /// What brings them.
    private enum Carrier {
        /// A thread that writes to standard output or to files.
        case writer(OutputDelivery)
        /// A sink that takes them from the outbox by itself.
        case taker(any SinkDelivery)
    }

    /// What went to the sink in this run by other settings.
    private enum Past {
        /// Nothing.
        case none
        /// What goes by a way that ends at present: nothing goes by this one yet.
        case ending(SinkWay)
        /// What was counted when it had ended.
        case counted(DeliverySummary)
    }

    /// Whether entries go by it.
    private enum Phase {
        /// Not yet.
        case waiting
        /// They do, or did.
        case begun
        /// They never will.
        case dismissed
    }

    /// How far it is with beginning and ending, where its sink goes, or another takes its place.
    private struct Passage {
        var isPending = false
        var isMarked = false
        /// Whether the sink has come back meanwhile.
        var isWanted = false
        var isComplete = false
    }

    /// The sink's place (``SinkRouting``).
    let place: Int
    /// The name of the sink.
    let name: String
    /// Where its entries go, whatever it is called.
    let destination: String
    private let outbox: StoredOutbox
    private let carrier: Carrier
    private let control: PipelineControl
    /// Threads that write.
    private let running: RunningThreads
    private let past = Mutex(Past.none)
    private let phase = Mutex(Phase.waiting)
    private let passage = Mutex(Passage())

    /// A way for what was opened.
    ///
    /// - Throws: ``PipelineError`` when a file that the sink needs cannot be used.
    init(
        _ sink: OutputStages.Opened, _ outbox: StoredOutbox, _ control: PipelineControl
    ) throws(PipelineError) {
        (place, name, destination) = (sink.place, sink.name, sink.destination)
        (self.outbox, self.control) = (outbox, control)
        switch sink.way {
        case .stage(let stage):
            carrier = .writer(OutputDelivery(outbox, output: stage, control: control))
            running = RunningThreads(1)
        case .taker(let open):
            carrier = .taker(try open(outbox))
            running = RunningThreads(0)
        }
    }

    /// Another way for the same sink, which goes on where this one ends.
    ///
    /// - Throws: ``PipelineError`` when a file that the sink needs cannot be used.
    func successor(_ sink: OutputStages.Opened) throws(PipelineError) -> SinkWay { try SinkWay(sink, outbox, control) }

    /// Wakes the sink: there may be something new.
    func wake() { outbox.wake() }

    /// Starts its thread, unless it was told to end before.
    func start() {
        let begins = phase.withLock { phase in
            defer { if phase == .waiting { phase = .begun } }
            return phase == .waiting
        }
        guard begins else { return }
        switch carrier {
        case .writer(let writer):
            WorkerThread.start("kymo-output") { [self] in
                writer.run()
                running.leave()
                control.noteChange()
            }
        case .taker(let delivery): delivery.start()
        }
    }

    /// Has it end when it has what there is.
    func finish() {
        switch carrier {
        case .writer(let writer): writer.finish()
        case .taker(let delivery): delivery.finish()
        }
    }

    private var hasBegun: Bool { phase.withLock { $0 == .begun } }

    /// Sees to it that it never begins; false where it has.
    private func dismiss() -> Bool {
        phase.withLock { phase in
            if phase == .waiting { phase = .dismissed }
            return phase == .dismissed
        }
    }

    /// Whether something is still to be delivered, and will be soon.
    var isWorthWaitingFor: Bool {
        guard hasBegun else { return false }
        return switch carrier {
        case .writer: !running.isZero
        case .taker(let delivery): delivery.isWorthWaitingFor
        }
    }

    /// Ends what takes entries by itself, finished or not: what was not delivered stays in the outbox.
    func stop() {
        _ = dismiss()
        if case .taker(let delivery) = carrier { delivery.end() }
    }

    /// Ends it while others go on. A disk that takes nothing is not waited for; its thread
    /// ends when it does.
    func end() {
        let isDismissed = dismiss()
        switch carrier {
        case .writer(let writer):
            guard !isDismissed else { return }
            writer.end()
            var left = SinkWay.patience
            while !running.isZero, left > 0 {
                Wait.milliseconds(1)
                left -= 1
            }
        case .taker(let delivery): delivery.end()
        }
    }

    /// Milliseconds that a writer which goes may take to come to its end.
    private static let patience = 2_000

    /// Waits for what was written to be noted; after an end by force for a moment only: a writer looks up every 100 ms,
    /// unless the system holds it.
    func waitForWriter() {
        guard hasBegun else { return }
        var left = 200
        while !running.isZero, left > 0 {
            Wait.milliseconds(1)
            if control.isForced { left -= 1 }
        }
    }

    /// Begins behind what was made before the sink came.
    func begin() { outbox.begin() }

    /// Shows how delivery goes by `former` until that has ended, and counts on from there.
    func follow(_ former: SinkWay) { past.withLock { $0 = .ending(former) } }

    /// Counts on from `summary`, which is all that went to the sink before.
    func follow(_ summary: DeliverySummary?) { past.withLock { $0 = summary.map { .counted($0) } ?? .none } }

    /// Notes whether it begins later, when others have ended.
    func note(isPending: Bool) { passage.withLock { $0.isPending = isPending } }

    /// Waits until it has begun, or never will: whoever has the others end sees to that.
    func awaitBeginning() {
        while passage.withLock({ $0.isPending }) { Wait.milliseconds(5) }
    }

    /// Ends it, after what it has in hand, for another that goes on where it ends; at once when `isCut`. One that waits
    /// for a former way itself never begins.
    func giveWay(until isCut: () -> Bool) {
        guard !dismiss() else {
            end()
            return awaitBeginning()
        }
        outbox.hold()
        finish()
        var left = SinkWay.patience / 5
        while left > 0, isWorthWaitingFor, !control.isForced, !isCut() {
            Wait.milliseconds(5)
            left -= 1
        }
        cease()
        awaitAnswers(until: isCut)
        end()
        outbox.goOn()
    }

    /// Gives the sink, by another way, what comes next, after this one has left.
    func goOn() { outbox.goOn() }

    /// Has it send nothing more.
    func cease() {
        if case .taker(let delivery) = carrier { delivery.cease() }
    }

    /// Waits, after ``cease()``, for the answers to what it has sent, which come within the time limits of requests:
    /// until then the server may store that, and would put it in the place of what another way sends. Until
    /// `isStopped`, or the pipeline ends by force.
    func awaitAnswers(until isStopped: () -> Bool) {
        guard case .taker(let delivery) = carrier else { return }
        var waited = 0
        while !delivery.hasEnded, !control.isForced, !isStopped() {
            if waited == SinkWay.quiet {
                control.note(
                    .info(
                        "\(name): waits for answers to what it was sent, which its server may still store, for as "
                            + "long as its timeout"))
            }
            Wait.milliseconds(5)
            waited += 5
        }
    }

    /// Milliseconds of such a wait that nobody is told of.
    private static let quiet = 500

    // MARK: Going

    /// Whether that is its sink's name, byte by byte.
    func isNamed(_ other: String) -> Bool { IdentifierText(name) == IdentifierText(other) }

    /// Notes that its sink goes.
    func markLeaving() { passage.withLock { $0.isMarked = true } }
    var isLeaving: Bool { passage.withLock { $0.isMarked } }

    /// Notes that the sink has come back: nothing is waited for but answers.
    func want() { passage.withLock { $0.isWanted = true } }
    var isWanted: Bool { passage.withLock { $0.isWanted } }

    /// Notes that nothing that it has sent is under way any more, as far as that can be told.
    func noteEnded() { passage.withLock { $0.isComplete = true } }
    var hasEnded: Bool { passage.withLock { $0.isComplete } }

    /// Whether its end may take as long as a server, a database or brokers like.
    var waitsForOthers: Bool {
        if case .taker = carrier { true } else { passage.withLock { $0.isPending } }
    }

    /// Leaves the sink nothing that is made from here on; its files are complete when it has what there is.
    func leave() {
        outbox.takeNoMore()
        if case .writer(let writer) = carrier { writer.leave() }
    }

    /// How delivery goes; nil where files or standard output are written. Counts are of the run, whatever the settings
    /// were.
    var summary: DeliverySummary? {
        guard case .taker(let delivery) = carrier else { return nil }
        switch past.withLock({ $0 }) {
        case .none: return delivery.summary
        case .ending(let former): return former.summary ?? delivery.summary
        case .counted(let counted):
            var summary = delivery.summary
            summary.add(counted)
            return summary
        }
    }

    /// Bundles that it has not taken.
    var waiting: Int { outbox.waiting }

    /// Forgets what it has learnt of Devices, Patients and Encounters by asking; false where it never asks.
    func forgetLookups() -> Bool {
        switch carrier {
        case .writer: false
        case .taker(let delivery): delivery.forgetLookups()
        }
    }
}
