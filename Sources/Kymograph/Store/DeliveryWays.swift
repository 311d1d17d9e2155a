import KymographCore
import Synchronization

/// How bundles leave a pipeline with a store: straight to standard output or files where that is all, else from the
/// outbox, each sink at its own pace.
final class DeliveryWays: Sendable {
    private let store: Store
    private let control: PipelineControl
    private let direct: DirectDelivery?
    private let outboxes: [StoredOutbox]
    private let local: OutputDelivery?
    private let server: ServerDelivery?
    private let transport: CurlTransport?
    private let runningLocal: LaneCount

    /// The name of the sink of `output.to`, under which its progress is kept.
    static let localName = "output"

    /// The name of the sink of the server `base`.
    static func serverName(_ base: String) -> String { "server \(base)" }

    init(
        _ store: Store, _ settings: PipelineSettings, output: OutputStage, control: PipelineControl
    ) throws(PipelineError) {
        self.store = store
        self.control = control
        guard settings.server.isNamed, let mode = settings.server.identity else {
            direct = try DeliveryWays.direct(store, output, control)
            (outboxes, local, server, transport) = ([], nil, nil, nil)
            runningLocal = LaneCount(1)
            return
        }
        direct = nil
        var outboxes: [StoredOutbox] = []
        let hasLocal = settings.destination != .nowhere
        do throws(StoreError) {
            let name = DeliveryWays.serverName(settings.deliverySettings(mode).base)
            let outbox = try StoredOutbox(store, sink: name)
            outboxes.append(outbox)
            var names = [name]
            if hasLocal {
                outboxes.append(try StoredOutbox(store, sink: DeliveryWays.localName))
                names.append(DeliveryWays.localName)
            }
            try store.begin(sinks: names)
        } catch {
            throw PipelineError(error)
        }
        self.outboxes = outboxes
        local = hasLocal ? OutputDelivery(outboxes[1], output: output, control: control) : nil
        runningLocal = LaneCount(hasLocal ? 1 : 0)
        let access = settings.server.access
        // Files are looked at here: a configuration is checked on other machines, too.
        if let fault = access.faults().first {
            throw PipelineError(
                message: "\(ServerSettings.key(ofFault: fault.setting)): \(fault.message)", exitCode: ExitStatus.config)
        }
        let transport = access.makeTransport()
        self.transport = transport
        server = try DeliveryWays.server(
            settings.deliverySettings(mode), outboxes[0], transport, access)
    }

    private static func direct(
        _ store: Store, _ output: OutputStage, _ control: PipelineControl
    ) throws(PipelineError) -> DirectDelivery {
        do throws(SourceError) {
            let direct = try DirectDelivery(output: output, control: control) { [queue = store.queue] unit in
                queue.submit(unit)
            }
            store.begin(direct: direct)
            return direct
        } catch {
            throw PipelineError(error)
        }
    }

    private static func server(
        _ settings: DeliverySettings, _ outbox: StoredOutbox, _ transport: CurlTransport, _ access: ServerAccess
    ) throws(PipelineError) -> ServerDelivery {
        let authorizer: any RequestAuthorizer
        do throws(ServerAccess.Fault) {
            authorizer = try access.makeAuthorizer(transport)
        } catch {
            throw PipelineError(message: error.description, exitCode: ExitStatus.config)
        }
        do throws(SourceError) {
            return try ServerDelivery(settings, queue: outbox, transport: transport, authorizer: authorizer)
        } catch {
            throw PipelineError(error)
        }
    }

    /// How delivery to the FHIR server stands; nil without one.
    var serverStatus: DeliveryStatus? { server?.status }

    /// Wakes the sinks: there may be something new.
    func wake() {
        for outbox in outboxes { outbox.wake() }
    }

    /// Starts the threads.
    func start() {
        server?.start()
        guard direct != nil || local != nil else { return }
        WorkerThread.start("kymo-output") { [self] in
            direct?.run()
            local?.run()
            runningLocal.leave()
            control.noteChange()
        }
    }

    /// Ends what goes straight to files; the windows that it shows are submitted then.
    func finishDirect() {
        guard let direct else { return }
        direct.finish()
        waitForLocal()
    }

    /// Ends the sinks when they have what there is. A server that is away is not waited for: what it has not got stays
    /// in the store for the next run.
    func finish() {
        local?.finish()
        server?.finish()
        waitForLocal()
        guard let server else { return }
        while !server.isDone, !control.isForced {
            if DeliveryWays.isAway(server.status, now: WallClock.now()) { break }
            Wait.milliseconds(5)
        }
        if !server.isDone { server.stop() }
        _ = server.wait(milliseconds: 1_000)
        transport?.close()
        report(server.status)
    }

    /// Nanoseconds that a server may ask to be left alone for before it counts as away.
    private static let patience: Int64 = 5_000_000_000

    /// Whether nothing will be delivered for a while.
    private static func isAway(_ status: DeliveryStatus, now: Instant) -> Bool {
        if [.open, .refused].contains(status.circuit) { return true }
        guard status.inFlight == 0, let next = status.nextAttempt else { return false }
        return next > now.advanced(by: patience)
    }

    private func waitForLocal() {
        while !runningLocal.isZero, !control.isForced { Wait.milliseconds(1) }
    }

    private func report(_ status: DeliveryStatus) {
        var text = "server \(status.base): delivered \(status.delivered) entries, undeliverable \(status.undeliverable)"
        if status.retries > 0 { text += ", retries \(status.retries)" }
        let rest = store.tail.newest - status.settledThrough
        if rest > 0 {
            let reason = status.lastError.isEmpty ? status.verdict : status.lastError
            text += "; \(rest) bundles wait in \(store.directory.path) for the next start (\(reason))"
        }
        control.note(text)
    }
}
