import KymographCore
import KymographTemplates
import Synchronization

/// Loads the mappings again when a signal asks for it or a file changes, and puts them into use when they are good.
///
/// On a thread of its own: a file system that hangs must keep neither readings nor signals waiting.
final class MappingReloader: Sendable {
    private enum Order {
        case none, reload, stop
    }

    private let settings: PipelineSettings
    private let mappings: MappingExchange
    private let watch: MappingWatch?
    private let notes: LogTaker
    private let findings: @Sendable ([Diagnostic]) -> Void
    private let bell: Doorbell
    private let order = Mutex(Order.none)
    /// Whether an order is being carried out.
    private let isWorking = Atomic(false)
    private let tally = Mutex(ReloadCounts())

    /// Milliseconds between two looks at the files; a change is loaded when two looks in a row see the same.
    private static let interval: Int32 = 500

    init(
        _ settings: PipelineSettings, _ mappings: MappingExchange, watch: MappingWatch?,
        notes: @escaping LogTaker, findings: @escaping @Sendable ([Diagnostic]) -> Void
    ) throws(SystemError) {
        self.settings = settings
        self.mappings = mappings
        self.watch = watch
        self.notes = notes
        self.findings = findings
        bell = try Doorbell()
    }

    /// Asks to load the mappings, changed or not.
    func request() { give(.reload) }

    /// Ends ``run()``.
    func stop() { give(.stop) }

    /// Whether nothing is asked for or under way.
    var isSettled: Bool { order.withLock { $0 == .none && !isWorking.load(ordering: .relaxed) } }

    /// What came of it up to now.
    var counts: ReloadCounts { tally.withLock { $0 } }

    private func give(_ new: Order) {
        order.withLock { if $0 != .stop { $0 = new } }
        bell.ring()
    }

    /// Works until it is stopped.
    func run() {
        var watch = watch
        let pause = watch?.isEmpty ?? true || !settings.watchesMappings ? -1 : Self.interval
        while true {
            bell.sleep(milliseconds: pause) { order.withLock { $0 != .none } }
            defer { isWorking.store(false, ordering: .relaxed) }
            switch takeOrder() {
            case .stop: return
            case .reload:
                watch?.noteReading()
                noteSettings(watch)
                reload("SIGHUP")
            case .none:
                guard pause > 0, let path = watch?.settledChange() else { continue }
                watch?.noteReading()
                reload("\(path) has changed")
            }
        }
    }

    private func takeOrder() -> Order {
        order.withLock { order in
            defer { if order == .reload { order = .none } }
            isWorking.store(order == .reload, ordering: .relaxed)
            return order
        }
    }

    /// Settings are not loaded again, which somebody who changed them and sent the signal must know.
    private func noteSettings(_ watch: MappingWatch?) {
        guard let path = watch?.changedConfiguration else { return }
        notes(.warning("\(path) has changed, but settings are read at the start only: restart to apply them"))
    }

    private func reload(_ cause: String) {
        let (set, diagnostics) = ConfigurationLoader.checkMappings(settings, continuing: mappings.current)
        findings(diagnostics)
        guard let set else {
            tally.withLock { $0.failed += 1 }
            return notes(.error("\(cause): the mappings have errors; the former ones stay in use"))
        }
        mappings.replace(with: set)
        tally.withLock { $0.succeeded += 1 }
        let names = set.mappings.joined(separator: ", ")
        notes(.info("\(cause): loaded the mappings \(names) again; readings are mapped by them now"))
    }
}
