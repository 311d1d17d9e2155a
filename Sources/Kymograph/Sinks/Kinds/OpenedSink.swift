package import KymographCore

/// What a sink may use of the pipeline that opens it.
package struct SinkOpening {
    /// The sink's name.
    package var name: String
    /// How Observations and bundles are written.
    package var output: ObservationOptions
    /// Whose rules are followed.
    package var compatibility: Compatibility
    /// Most entries of a bundle.
    package var bundleEntries: Int
    /// Most bytes of a bundle of more than one Observation.
    package var bundleBytes: Int
    /// When files are completed, and how they are compressed.
    package var rotation: RotationOptions
    /// File of the zstd dictionary for compressed files, or nil.
    package var dictionary: String?
    /// Whether files of receipts are kept.
    package var keepsReceipts = false
    /// Tells the operator something.
    package var note: @Sendable (String) -> Void
    /// Whether the pipeline is ended by force: a sink that waits for something stops waiting then.
    package var isForced: @Sendable () -> Bool
}

/// A sink that entries can go to.
package enum OpenedSink {
    /// Blocks are brought to it. One that is `slow` compresses, or else takes longer than shards should wait.
    case writer(any BlockSink, isSlow: Bool = false)
    /// It takes entries from the outbox of a store at its own pace. Opened when there is one.
    case delivery(@Sendable (any OutboxQueue) throws(PipelineError) -> any SinkDelivery)
}

/// Brings entries from the outbox to one sink, on threads of its own.
package protocol SinkDelivery: AnyObject, Sendable {
    /// Begins.
    func start()

    /// Has it end when the outbox is empty.
    func finish()

    /// Whether something is still to be delivered, and will be soon: an end waits for that.
    var isWorthWaitingFor: Bool { get }

    /// Has it send nothing more, and end when what it has sent is answered.
    func cease()

    /// Whether it has ended.
    var hasEnded: Bool { get }

    /// Ends delivery, finished or not: what was not delivered stays in the outbox.
    func end()

    /// How it goes, for `kymo status` and counters.
    var summary: DeliverySummary { get }

    /// Forgets what it has learnt of Devices, Patients and Encounters by asking; false where it never asks. Default:
    /// false.
    func forgetLookups() -> Bool
}

extension SinkDelivery {
    /// Never asks.
    package func forgetLookups() -> Bool { false }
}
