/// Whether an instance works, and whether it is ready to take readings.
struct InstanceHealth {
    /// For how long no sink may take anything.
    static let patience = Duration.seconds(60)

    let facts: InstanceFacts
    let downSince: ContinuousClock.Instant?
    let now: ContinuousClock.Instant

    /// Why it does not work; nil when it does.
    var failure: String? { facts.failure }

    /// Why it is not ready, empty when it is.
    var obstacles: [String] {
        var found: [String] = []
        if let failure = facts.failure { found.append("failed: \(failure)") }
        if facts.isStopping { found.append("stopping: it takes no readings any more") }
        if facts.isStarting { found.append("recovering: it takes what an earlier run has left") }
        if facts.isStoreFull { found.append("store full: make room on its disk, or raise store.maxBytes") }
        if let downSince, downSince.duration(to: now) > InstanceHealth.patience {
            // Not the server's own words, which may name a patient.
            let errors = facts.deliveries.map { "\($0.sink) (\($0.summary.trouble?.reason ?? $0.summary.circuit))" }
                .joined(separator: ", ")
            found.append("all sinks down for more than 60 s: \(errors)")
        }
        return found
    }
}
