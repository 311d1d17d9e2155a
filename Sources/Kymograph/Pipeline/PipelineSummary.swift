import KymographCore

/// What became of everything that was received: the balance that `kymo run` prints.
public struct PipelineSummary: Sendable {
    /// Readings received: mapped ones, and payloads that gave none.
    public var received = 0
    /// Readings in windows.
    public var accepted = 0
    /// Readings that were there already.
    public var duplicate = 0
    /// Readings whose values replaced, or were replaced by, others of the same instant.
    public var conflict = 0
    /// Rejected readings by reason, indexed by raw value.
    public var rejected: [Int] = Array(repeating: 0, count: Rejection.placeCount)
    /// What happened to readings that are not rejected.
    public var notes = MappingNotes()
    /// Datagrams that the kernel dropped before anybody could read them.
    public var kernelDropped = 0
    /// The same for each socket that has any.
    public var kernelDropsBySource: [(source: String, count: Int)] = []
    /// Frames of bridges that never came, by their numbers.
    public var missingFrames = 0
    /// Windows, or in instance grouping readings, that were emitted.
    public var windows = 0
    /// Emissions that replaced an earlier one of the same identity.
    public var amended = 0
    /// Windows that changed after they were emitted and could not be written again.
    public var withheld = 0
    /// Emissions of windows that no sink wants.
    public var filtered = 0
    /// Observations written, replacements included.
    public var observations = 0
    /// Other resources written, replacements included.
    public var resources = 0
    /// Values that SampledData series have less than readings, because readings share a slot as their template asks.
    public var condensed = 0
    /// Readings with no number, and values that could not be written, in Observations that say something else.
    public var losses = ObservationLosses()
    /// Bytes of output before compression.
    public var bytes = 0
    /// Bundles, or blocks of NDJSON.
    public var bundles = 0
    /// Bundles that could not be delivered before the end.
    public var undeliveredBundles = 0

    /// How often the mappings were loaded again.
    public var reloads = ReloadCounts()

    /// Nothing received.
    public init() {}

    /// Readings of an earlier run's journal that this run has rejected: they are not among ``received``.
    public var withdrawn = 0

    /// Readings rejected for whatever reason.
    public var rejectedTotal: Int { rejected.reduce(0, +) }

    /// Readings that entered and have not ended anywhere: on their way while the pipeline runs, lost when it has ended.
    public var inFlight: Int { received - accepted - duplicate - conflict - rejectedTotal }

    /// The balance, with the part `inFlight` that must be zero at the end.
    public var balance: String {
        var text =
            "received \(received) = accepted \(accepted) + duplicate \(duplicate) + conflict \(conflict)"
            + " + rejected \(rejectedTotal)"
        if inFlight != 0 { text += " + in flight \(inFlight)" }
        return text
    }

    /// All lines of the summary.
    public var lines: [String] {
        var lines = [balance]
        let reasons = Rejection.allCases.filter { rejected[Int($0.rawValue)] > 0 }
        if !reasons.isEmpty {
            lines.append(
                "rejected: " + reasons.map { "\($0.name) \(rejected[Int($0.rawValue)])" }.joined(separator: ", "))
        }
        if withdrawn > 0 { lines.append("rejected \(withdrawn) readings of an earlier run: see the dead letters") }
        let drops = kernelDropsBySource.map { "\($0.source) \($0.count)" }.joined(separator: ", ")
        lines.append("kernel-dropped \(kernelDropped)\(drops.isEmpty ? "" : " (\(drops))")")
        if missingFrames > 0 { lines.append("missing frames \(missingFrames), by the numbers of bridges") }
        lines.append(outputLine)
        if withheld > 0 { lines.append("withheld \(withheld): changed windows whose numbers no longer fit 18 digits") }
        if filtered > 0 { lines.append("filtered \(filtered): windows that no sink is to get") }
        if losses.passedOver > 0 {
            lines.append(
                "passed over \(losses.passedOver): readings without a number among others of their Observation")
        }
        if losses.unwritten > 0 {
            lines.append("unwritten \(losses.unwritten): values that could not be written, beside others that were")
        }
        if notes.leftOut > 0 {
            lines.append("left out \(notes.leftOut): optional values whose expression selected several tokens")
        }
        if notes.wrapped > 0 { lines.append("wrapped \(notes.wrapped): integer results beyond 64 bits") }
        if reloads.succeeded + reloads.failed > 0 {
            lines.append("reloads \(reloads.succeeded), failed \(reloads.failed)")
        }
        if undeliveredBundles > 0 { lines.append("undelivered bundles \(undeliveredBundles)") }
        return lines
    }

    private var outputLine: String {
        var text = "windows \(windows), observations \(observations)"
        if resources > 0 { text += ", other resources \(resources)" }
        if amended > 0 { text += " (\(amended) amended)" }
        if condensed > 0 { text += ", condensed readings \(condensed)" }
        text += ", bundles \(bundles), bytes \(bytes)"
        guard accepted > 0 else { return text }
        let tenths = (bytes * 10 + accepted / 2) / accepted
        return text + ", \(tenths / 10).\(tenths % 10) bytes per reading"
    }

    /// One line for a terminal that is watched.
    public var liveLine: String {
        "received \(received), rejected \(rejectedTotal), kernel-dropped \(kernelDropped), windows \(windows),"
            + " observations \(observations)"
    }
}
