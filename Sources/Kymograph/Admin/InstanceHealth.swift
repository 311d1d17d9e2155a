import KymographCore

/// Whether an instance works, and whether it is ready to take readings.
struct InstanceHealth {
    /// Why it is not ready.
    enum Obstacle: Hashable {
        case failed(String)
        case stopping
        /// It passes by itself.
        case recovering
        case storeFull
        /// With what keeps each of them from taking anything.
        case sinksDown(String)

        /// In a few words.
        var title: String {
            switch self {
            case .failed: "failed"
            case .stopping: "stopping"
            case .recovering: "recovering"
            case .storeFull: "store full"
            case .sinksDown: "all sinks down for more than 60 s"
            }
        }

        /// What it means, and what to do.
        var detail: String {
            switch self {
            case .failed(let failure): failure
            case .stopping: "it takes no readings any more"
            case .recovering: "it takes what an earlier run has left"
            case .storeFull: "make room on its disk, or raise store.maxBytes"
            case .sinksDown(let errors): errors
            }
        }

        /// A line for whoever asks whether it is ready.
        var text: String { "\(title): \(detail)" }
    }

    /// What an operator should mend while it is ready all the same.
    enum Remark: Equatable {
        case patientMap
        case paused(Int)

        /// A line for whoever asks whether it is ready.
        var text: String {
            switch self {
            case .patientMap: "the file of the patient map has errors: the former map stays in use, see the log"
            case .paused(let count):
                "paused: \(CountText.of(count, one: "type or source", many: "types or sources")), see 'kymo status'"
            }
        }
    }

    /// For how long no sink may take anything.
    static let patience = Duration.seconds(60)

    let facts: InstanceFacts
    let downSince: ContinuousClock.Instant?
    let now: ContinuousClock.Instant

    /// Why it does not work; nil when it does.
    var failure: String? { facts.failure }

    /// What to mend while it is ready.
    var remarks: [Remark] {
        var found: [Remark] = []
        if facts.run.patients?.isRefused ?? false { found.append(.patientMap) }
        if facts.run.paused > 0 { found.append(.paused(facts.run.paused)) }
        return found
    }

    /// Why it is not ready, empty when it is.
    var obstacles: [Obstacle] {
        var found: [Obstacle] = []
        if let failure = facts.failure { found.append(.failed(failure)) }
        if facts.isStopping { found.append(.stopping) }
        if facts.isStarting { found.append(.recovering) }
        if facts.isStoreFull { found.append(.storeFull) }
        if let downSince, downSince.duration(to: now) > InstanceHealth.patience {
            // Not the server's own words, which may name a patient.
            let servers = facts.deliveries.map { "\($0.sink) (\($0.summary.trouble?.reason ?? $0.summary.circuit))" }
            let outputs = facts.run.outputs.map { "\($0.name) (cannot be written to, see the log)" }
            found.append(.sinksDown((outputs + servers).joined(separator: ", ")))
        }
        return found
    }
}
