import KymographCore

/// Delivery to one server, with the connection that it goes by.
final class OpenedServer: SinkDelivery {
    private let delivery: ServerDelivery
    private let transport: CurlTransport?
    private let certificate: CertificateWatch?

    /// Nanoseconds that a server may ask to be left alone for before it counts as away.
    private static let patience: Int64 = 5_000_000_000

    /// A delivery by `transport`, or by a connection of its own.
    init(_ delivery: ServerDelivery, _ transport: CurlTransport? = nil) {
        (self.delivery, self.transport, certificate) = (delivery, transport, nil)
    }

    /// Opens the way to the FHIR server `server` for the sink `name`. Files are looked at here: a configuration is
    /// checked on other machines, too.
    init(
        _ server: ServerSettings, name: String, _ settings: DeliverySettings, _ outbox: any OutboxQueue
    ) throws(PipelineError) {
        if let obstacle = server.obstacles(name: name).first {
            throw PipelineError(message: obstacle.message, exitCode: obstacle.exitCode)
        }
        let access = server.access
        let transport = access.makeTransport()
        self.transport = transport
        certificate = server.certificateFile.map(CertificateWatch.init)
        let authorizer: any RequestAuthorizer
        do throws(ServerAccess.Fault) {
            authorizer = try access.makeAuthorizer(transport)
        } catch {
            throw PipelineError(message: error.description, exitCode: ExitStatus.config)
        }
        do throws(SystemError) {
            delivery = try ServerDelivery(settings, queue: outbox, transport: transport, authorizer: authorizer)
        } catch {
            throw PipelineError(error)
        }
    }

    func start() { delivery.start() }

    func finish() { delivery.finish() }

    var isWorthWaitingFor: Bool { !delivery.isDone && !isAway(WallClock.now()) }

    /// Whether nothing will be delivered for a while.
    private func isAway(_ now: Instant) -> Bool {
        let status = delivery.status
        if [.open, .refused].contains(status.circuit) { return true }
        guard status.inFlight == 0, let next = status.nextAttempt else { return false }
        return next > now.advanced(by: OpenedServer.patience)
    }

    func cease() { delivery.cease() }

    var hasEnded: Bool { delivery.isDone }

    func end() {
        if !delivery.isDone { delivery.stop() }
        _ = delivery.wait(milliseconds: 1_000)
        transport?.close()
    }

    var summary: DeliverySummary {
        var summary = DeliverySummary(delivery.status)
        summary.certificateExpiry = certificate?.expiry
        summary.serverCertificateExpiry = transport?.serverCertificateExpiry
        return summary
    }

    func forgetLookups() -> Bool {
        delivery.forgetLookups()
        return true
    }
}

extension DeliverySummary {
    /// What `status` says.
    init(_ status: DeliveryStatus) {
        (verdict, circuit, inFlight) = (status.verdict, status.circuit.rawValue, status.inFlight)
        (delivered, undeliverable, retries) = (status.delivered, status.undeliverable, status.retries)
        deleted = status.deleted
        undeliverableReasons = status.undeliverableReasons
        lastError = status.lastError
        lastErrorTime = status.lastErrorTime?.text
        trouble = status.trouble
        hasAnswered = status.hasAnswered ? true : nil
        nextAttempt = status.nextAttempt.map(\.text)
        (traffic, concurrency, deliveryTimes) = (status.traffic, status.concurrency, status.deliveryTimes)
        lookups = status.lookups
        oldestLookupAge = status.oldestLookupAge.map { Double($0) / 1e9 }
    }
}
