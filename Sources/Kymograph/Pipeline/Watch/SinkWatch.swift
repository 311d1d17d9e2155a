import KymographCore

/// Tells when delivery to a sink that takes entries by itself comes into trouble and out of it, each once.
struct SinkWatch {
    private let name: String
    /// What was told of, and since when there has been trouble of one kind or another.
    private var told: (cause: DeliveryTrouble.Cause, began: ContinuousClock.Instant)?
    private var isLeftAlone = false
    /// The time of the last failure that was told of.
    private var lastError: String?

    init(_ name: String) { self.name = name }

    /// What has changed since the last look.
    mutating func entries(_ summary: DeliverySummary, at now: ContinuousClock.Instant) -> [LogEntry] {
        var entries = attempt(summary)
        guard let trouble = summary.trouble else {
            // One that has not been asked by its present settings is in no known trouble either.
            if summary.isUp, let recovery = recovery(at: now) { entries.append(recovery) }
            return entries
        }
        if told?.cause != trouble.cause {
            let began = told?.began ?? now.advanced(by: .seconds(-trouble.seconds))
            told = (trouble.cause, began)
            entries.append(entry(trouble))
        }
        let isOpen = ["open", "halfOpen"].contains(summary.circuit)
        if isOpen, !isLeftAlone {
            isLeftAlone = true
            entries.append(circuitOpen(summary))
        }
        return entries
    }

    private func entry(_ trouble: DeliveryTrouble) -> LogEntry {
        .change(
            trouble.isDefinite ? .error : .warning, "sink.\(trouble.cause.rawValue)", ("sink", name),
            "\(name): \(trouble.reason), since \(trouble.since)\(SinkWatch.advice(trouble.cause)); what is for it "
                + "waits in the store", fields: [("since", .text(trouble.since))])
    }

    private func circuitOpen(_ summary: DeliverySummary) -> LogEntry {
        let next = summary.nextAttempt.map { ", the next at \($0)" } ?? ""
        return .change(
            .warning, "sink.circuitOpen", ("sink", name),
            "\(name): circuit open: too many requests in a row have failed; single requests find out whether it is back"
                + next)
    }

    private mutating func recovery(at now: ContinuousClock.Instant) -> LogEntry? {
        defer { (told, isLeftAlone) = (nil, false) }
        guard let told else { return nil }
        let lasted = told.began.duration(to: now)
        let circuit = isLeftAlone ? ", circuit closed" : ""
        return .change(
            .info, "sink.recovered", ("sink", name),
            "\(name): recovered after \(lasted.inWholeSeconds)\(circuit): it takes what it is sent",
            fields: [("seconds", .number(Int(lasted.components.seconds)))])
    }

    /// Each failure of an attempt, as far as looks are frequent enough to see it; without what the server has said.
    private mutating func attempt(_ summary: DeliverySummary) -> [LogEntry] {
        guard summary.lastErrorTime != lastError else { return [] }
        lastError = summary.lastErrorTime
        let reason = summary.trouble.map { ": \($0.reason)" } ?? ""
        return [
            .change(
                .debug, "sink.attemptFailed", ("sink", name),
                "\(name): an attempt has failed\(reason); retries \(summary.retries)")
        ]
    }

    private static func advice(_ cause: DeliveryTrouble.Cause) -> String {
        switch cause {
        case .unreachable: "; check that it runs, its address and the network"
        case .refusing: "; see the server's own log"
        case .credentialsRefused: "; check the credentials, what they permit on the server, and the clock"
        case .noToken: "; check the client, its secret or key, and the token endpoint"
        case .insecure: "; check the certificates of both sides"
        case .unfit: ""
        }
    }
}

extension Duration {
    /// As settings are written: `45s`, `3m20s`; less than a second as `1s`.
    var inWholeSeconds: String { DurationText.text(max(1, components.seconds) * 1_000_000_000) }
}
