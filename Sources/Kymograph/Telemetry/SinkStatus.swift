import KymographCore

/// One sink, as `kymo status` and counters show it.
package struct SinkStatus: Codable, Sendable {
    /// Its name.
    package var name: String
    /// The last row of the outbox that it has taken.
    package var settledThrough: Int64
    /// Rows that it has not taken yet.
    package var waiting: Int
    /// Resources of which a FHIR server has kept an earlier version, and lacks the latest.
    package var lacking = 0
    /// How old the oldest of the rows is that it has not taken, in seconds; nil when none waits.
    package var oldestAge: Double?
    /// Of a running instance, how delivery goes to a sink that takes entries by itself.
    package var delivery: DeliverySummary?

    /// What people read of it; `age` writes a length of time in seconds.
    package func lines(age: (Double) -> String) -> [String] {
        var lines = ["sink \(name): settled through \(settledThrough), \(waiting) wait"]
        if lacking > 0 {
            let resources = CountText.of(lacking, "resource")
            lines.append("  lacks the latest version of \(resources): see 'kymo ledger'")
        }
        return lines + (delivery?.lines(age: age) ?? [])
    }
}

/// How delivery goes to a sink that takes entries by itself, such as a FHIR server.
package struct DeliverySummary: Codable, Sendable {
    /// What the server can do, or why nothing is sent; empty until it has answered.
    package var verdict = ""
    /// `probing`, `closed` (healthy), `open` (left alone for a while), `halfOpen` or `refused`.
    package var circuit = "closed"
    /// Requests under way.
    package var inFlight = 0
    /// Entries stored in this run.
    package var delivered = 0
    /// Entries in this run whose resources the server has deleted; nil from an earlier version.
    package var deleted: Int?
    /// Entries in this run that the server will not take.
    package var undeliverable = 0
    /// How many of them there are for each reason.
    package var undeliverableReasons = ReasonCounts()
    /// Attempts after the first of their request.
    package var retries = 0
    /// What went wrong last, empty when nothing did.
    package var lastError = ""
    /// When that was; nil when nothing did.
    package var lastErrorTime: String?
    /// Why the sink takes nothing at present, if that has lasted or will not pass by itself.
    package var trouble: DeliveryTrouble?
    /// Whether it has answered as one does where nothing is wrong, though it was sent nothing; else nil.
    package var hasAnswered: Bool?
    /// When something is sent next, if it waits.
    package var nextAttempt: String?
    /// Answers about Devices, Patients and Encounters that are used at present.
    package var lookups = 0
    /// How long ago the oldest of them was given, in seconds.
    package var oldestLookupAge: Double?

    /// What it was asked, and how it answered; nil from an earlier version.
    package var traffic: SinkTraffic?
    /// Requests that may be under way now; nil from an earlier version.
    package var concurrency: Int?
    /// When the first of its client certificates ends, in seconds since 1970; nil without one.
    package var certificateExpiry: Double?
    /// When the first of its servers' own certificates ends, in seconds since 1970; nil without one.
    package var serverCertificateExpiry: Double?
    /// Times from the making of entries to when the sink had them; nil from an earlier version.
    package var deliveryTimes: DurationCounts?

    /// Adds what was counted in this run before the sink had other settings. Until it has answered by these, what was
    /// wrong with it counts as going on.
    mutating func add(_ earlier: DeliverySummary) {
        // A circuit that is closed says nothing: brokers and event hubs are asked nothing before there is something.
        let isKnown = hasAnswered == true || traffic?.lastSuccess != nil
        if !isKnown, trouble == nil { trouble = earlier.trouble }
        hasAnswered = isKnown || earlier.hasAnswered == true && trouble == nil ? true : nil
        if lastErrorTime == nil { (lastError, lastErrorTime) = (earlier.lastError, earlier.lastErrorTime) }
        delivered += earlier.delivered
        deleted = (deleted ?? 0) + (earlier.deleted ?? 0)
        undeliverable += earlier.undeliverable
        undeliverableReasons.add(earlier.undeliverableReasons)
        retries += earlier.retries
        earlier.traffic.map { traffic?.add($0) }
        earlier.deliveryTimes.map { deliveryTimes?.add($0) }
    }

    /// Entries in this run that the server has done what was asked with.
    var taken: Int { delivered + (deleted ?? 0) }

    /// Whether the sink takes what there is.
    var isUp: Bool { circuit == "closed" }

    /// Nothing yet.
    package init() {}

    /// How many were deleted, for people; empty when none was.
    var deletedText: String {
        let count = deleted ?? 0
        return count > 0 ? ", deleted \(count)" : ""
    }

    /// What people read of it, without the sink's name; `age` writes a length of time in seconds.
    func lines(age: (Double) -> String) -> [String] {
        var lines = verdict.isEmpty ? [] : ["  \(verdict)"]
        lines.append(
            "  circuit \(circuit), in flight \(inFlight), delivered \(delivered)\(deletedText), undeliverable "
                + "\(undeliverableReasons.text), retries \(retries)")
        if let trouble { lines.append("  \(trouble.cause.rawValue) since \(trouble.since): \(trouble.reason)") }
        let next = nextAttempt.map { "; next attempt \($0)" } ?? ""
        if !lastError.isEmpty { lines.append("  last error: \(lastError)\(next)") }
        if let oldestLookupAge { lines.append("  lookups \(lookups), the oldest \(age(oldestLookupAge)) old") }
        return lines
    }
}
