public import KymographCore

/// What became of everything that was received: `received = accepted + duplicate + conflict + retractions
/// + rejected + inFlight`.
///
/// After a run that ended well, ``inFlight`` is 0: a difference is an error of the run.
public struct EngineSummary: Sendable {
    /// Readings received by all sources: mapped ones, and payloads that gave none.
    public let received: Int
    /// Readings that are in a window.
    public let accepted: Int
    /// Readings that were there already.
    public let duplicate: Int
    /// Readings whose values differed from what was there.
    public let conflict: Int
    /// Retractions that have taken a reading out, or had done so before.
    public let retractions: Int
    /// Rejected readings by reason; each was also given to ``EngineConfiguration/onRejection``.
    public let rejections: [Rejection: Int]
    /// Observations written, further versions of one among them.
    public let observations: Int
    /// Other resources written.
    public let resources: Int
    /// Datagrams that the kernel dropped before anybody could read them: not among those received.
    public let kernelDropped: Int
    /// Bundles, or hand-overs to sinks, that were not taken before the end. With a store they wait there.
    public let undelivered: Int
    /// All of it for people, as `kymo run` prints it at its end.
    public let lines: [String]

    /// Readings rejected for whatever reason.
    public var rejected: Int { rejections.values.reduce(0, +) }

    /// Readings that entered and have not ended anywhere: on their way while the engine runs.
    public var inFlight: Int { received - accepted - duplicate - conflict - retractions - rejected }
}

extension EngineSummary {
    init(_ summary: PipelineSummary) {
        received = summary.received
        accepted = summary.shards.accepted
        duplicate = summary.shards.duplicate
        conflict = summary.shards.conflict
        retractions = summary.shards.retractions
        var rejections: [Rejection: Int] = [:]
        for reason in Rejection.allCases where summary.shards.rejected[Int(reason.rawValue)] > 0 {
            rejections[reason] = summary.shards.rejected[Int(reason.rawValue)]
        }
        self.rejections = rejections
        observations = summary.shards.observations
        resources = summary.shards.resources
        kernelDropped = summary.kernelDropped
        undelivered = summary.undeliveredBundles
        lines = summary.lines
    }
}
