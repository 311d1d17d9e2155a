import KymographCore

/// The way of bundles to one FHIR server.
final class ServerWay: Sendable {
    /// The name of the sink.
    let name: String
    let outbox: StoredOutbox
    let delivery: ServerDelivery
    private let transport: CurlTransport

    /// Nanoseconds that a server may ask to be left alone for before it counts as away.
    private static let patience: Int64 = 5_000_000_000

    /// Opens the way to the server of `sink`.
    init(
        _ sink: PipelineSettings.Sink, _ settings: PipelineSettings, _ outbox: StoredOutbox
    ) throws(PipelineError) {
        name = sink.name
        self.outbox = outbox
        let access = sink.server.access
        // Files are looked at here: a configuration is checked on other machines, too.
        if let fault = access.faults().first {
            let key = ServerSettings.key(ofFault: fault.setting)
            throw PipelineError(
                message: "\(sink.name): \(key): \(fault.message)", exitCode: ExitStatus.config)
        }
        guard let identity = sink.server.identity else {
            throw PipelineError(message: "\(sink.name): identity is not said", exitCode: ExitStatus.config)
        }
        transport = access.makeTransport()
        delivery = try ServerWay.delivery(
            settings.deliverySettings(sink.server, identity), outbox, transport, access)
    }

    private static func delivery(
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

    /// Whether something is still to be delivered, and will be soon.
    var isWorthWaitingFor: Bool { !delivery.isDone && !isAway(WallClock.now()) }

    /// Whether nothing will be delivered for a while.
    private func isAway(_ now: Instant) -> Bool {
        let status = delivery.status
        if [.open, .refused].contains(status.circuit) { return true }
        guard status.inFlight == 0, let next = status.nextAttempt else { return false }
        return next > now.advanced(by: ServerWay.patience)
    }

    /// Ends delivery, finished or not.
    func end() {
        if !delivery.isDone { delivery.stop() }
        _ = delivery.wait(milliseconds: 1_000)
        transport.close()
    }
}
