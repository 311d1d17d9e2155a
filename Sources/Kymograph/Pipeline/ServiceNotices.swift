/// What a service manager is told of a running pipeline (sd_notify(3)): that it receives, loads mappings again, stops,
/// how it goes, and that it makes progress.
package struct ServiceNotices {
    private enum Phase {
        case starting
        case running
        case reloading
        case stopping
    }

    /// What a pipeline says of itself.
    struct Look {
        var summary: PipelineSummary
        /// Whether all lanes and shards receive.
        var isReady: Bool
        /// Whether no reload is asked for or under way.
        var isReloaded: Bool
        var threads: [ThreadProgress]
    }

    /// Time between two status lines.
    private static let statusInterval = Duration.seconds(5)
    /// Least time for which a thread is given for one round: the store's thread looks up once a second.
    private static let leastLimit = Duration.seconds(2)

    private let socket: NotifySocket
    private let notes: @Sendable (String) -> Void
    /// Half of what the manager allows, as sd_watchdog_enabled(3) asks for; nil without a watchdog.
    private let pingInterval: Duration?
    private var watch: ProgressWatch
    private var phase = Phase.starting
    private var lastPing: ContinuousClock.Instant?
    private var lastStatus: (at: ContinuousClock.Instant, received: Int, observations: Int)?
    private var hanging: [String] = []
    private var hasFailed = false

    /// Notices to the manager that `environment` names; nil when it names none, or none that can be reached, which
    /// `notes` is told.
    package init?(
        environment: ServiceEnvironment = .ofProcess, notes: @escaping @Sendable (String) -> Void
    ) {
        do throws(SystemError) {
            guard let socket = try NotifySocket(environment) else { return nil }
            self.socket = socket
        } catch {
            notes("\(error.message); name a path or @name in NOTIFY_SOCKET; the service manager hears nothing")
            return nil
        }
        self.notes = notes
        pingInterval = environment.watchdog.map { $0 / 2 }
        watch = ProgressWatch(limit: max(pingInterval ?? .zero, Self.leastLimit))
    }

    /// Tells what is new in `look`. To be called a few times a second.
    mutating func tell(_ look: Look, now: ContinuousClock.Instant = .now) {
        var assignments: [String] = []
        switch phase {
        case .starting, .reloading:
            // Again next time, when the manager's queue is full.
            if look.isReady, look.isReloaded, send(["READY=1"]) { phase = .running }
        case .running, .stopping: break
        }
        // Until it is ready, the manager has its own limit for the start.
        guard phase != .starting else { return }
        if let status = status(look.summary, now), phase != .stopping { assignments.append("STATUS=\(status)") }
        if isAlive(look.threads, now) { assignments.append("WATCHDOG=1") }
        _ = send(assignments)
    }

    /// Tells that the mappings are about to be loaded again. ``tell(_:now:)`` tells the end of it.
    mutating func reloading() {
        guard phase == .running else { return }
        phase = .reloading
        _ = send(["RELOADING=1", "MONOTONIC_USEC=\(MonotonicClock.microseconds)"])
    }

    /// Tells that nothing more is received; once.
    mutating func stopping() {
        guard phase != .stopping else { return }
        phase = .stopping
        _ = send(["STOPPING=1", "STATUS=delivering what was received"])
    }

    /// Whether a sign of life is due, and deserved: none while a thread hangs.
    private mutating func isAlive(_ threads: [ThreadProgress], _ now: ContinuousClock.Instant) -> Bool {
        guard let pingInterval else { return false }
        let former = hanging
        hanging = watch.hanging(threads, now: now)
        if !hanging.isEmpty, former.isEmpty {
            notes(
                "\(hanging.joined(separator: ", ")) made no progress for \(watch.limit.components.seconds) s; "
                    + "the service manager's watchdog hears nothing until it does")
        }
        if hanging.isEmpty, !former.isEmpty { notes("\(former.joined(separator: ", ")) makes progress again") }
        guard hanging.isEmpty, lastPing.map({ $0.duration(to: now) >= pingInterval }) ?? true else { return false }
        lastPing = now
        return true
    }

    /// Counts and rates since the last status, when it is due.
    private mutating func status(_ summary: PipelineSummary, _ now: ContinuousClock.Instant) -> String? {
        let last = lastStatus
        if let last, last.at.duration(to: now) < Self.statusInterval { return nil }
        lastStatus = (now, summary.received, summary.observations)
        let seconds = last.map { $0.at.duration(to: now) / .seconds(1) } ?? 0
        let received = Self.rate(summary.received - (last?.received ?? 0), seconds)
        let written = Self.rate(summary.observations - (last?.observations ?? 0), seconds)
        var text = "received \(summary.received)\(received), rejected \(summary.rejectedTotal), "
        text += "Observations \(summary.observations)\(written)"
        if summary.kernelDropped > 0 { text += ", dropped by the kernel \(summary.kernelDropped)" }
        if summary.reloads.failed > 0 { text += ", failed reloads \(summary.reloads.failed)" }
        return text
    }

    /// ` (12/s)`; empty when no time has passed.
    private static func rate(_ count: Int, _ seconds: Double) -> String {
        seconds > 0 ? " (\(Int((Double(count) / seconds).rounded()))/s)" : ""
    }

    /// Sends `assignments`; whether the manager has them.
    private mutating func send(_ assignments: [String]) -> Bool {
        guard !assignments.isEmpty else { return true }
        do throws(SystemError) {
            try socket.send(assignments)
            hasFailed = false
            return true
        } catch {
            if !hasFailed { notes("\(error.message): the service manager may take this process for hung") }
            hasFailed = true
            return false
        }
    }
}
