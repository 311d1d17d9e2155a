package import KymographCore

/// The balance of what was received: where every reading is, and whether a span is complete. For people and, as JSON,
/// for programs. Times are RFC 3339 texts in UTC.
package struct LedgerReport: Encodable, Sendable {
    /// What one source gave in the hours of the span.
    package struct Source: Codable, Sendable {
        /// Its name.
        package var name: String
        /// Readings that it gave, by the time of receipt.
        package var received = 0
        /// Readings that were rejected before their device was known, by reason, without those that were replayed.
        package var rejected: [String: Int] = [:]
        /// Datagrams that the kernel dropped.
        package var kernelDropped = 0
        /// Readings of the windows below that came from it.
        package var inWindows = 0
    }

    /// Readings of one device and type.
    package struct Series: Codable, Sendable {
        /// Name of the type.
        package var type: String
        /// Device.
        package var device: IdentifierText
        /// Patient, if the readings name one.
        package var patient: IdentifierText?
        /// Encounter, if the readings name one.
        package var encounter: IdentifierText?
        /// Closed windows.
        package var windows = 0
        /// Readings of the windows.
        package var readings = 0
        /// Readings that added values to one of the same instant.
        package var merged = 0
        /// Readings that were there already.
        package var duplicate = 0
        /// Readings whose values differed from what was there.
        package var conflict = 0
        /// Readings of windows that are still open.
        package var open = 0
        /// Rejected readings by reason, whose own times are in the hours of the span; of reason `clockAhead`, whose
        /// times of receipt are. Without those that were replayed.
        package var rejected: [String: Int] = [:]
        /// Readings of windows that the archive has dropped, in the hours of the span.
        package var dropped = 0
    }

    /// One closed window.
    package struct Window: Codable, Sendable {
        /// Name of the type.
        package var type: String
        /// Device.
        package var device: IdentifierText
        /// Start.
        package var start: String
        /// First instant after it.
        package var end: String
        /// Readings in it.
        package var readings: Int
        /// Readings by source.
        package var sources: [String: Int]
        /// Readings that added values to one of the same instant.
        package var merged: Int
        /// Readings that were there already.
        package var duplicate: Int
        /// Readings whose values differed from what was there.
        package var conflict: Int
        /// How often its Observation was written: more than once means that it was amended.
        package var revision: Int
        /// When it was written last.
        package var modified: String
        /// Whether each sink has taken its latest Observation. Empty when it gave none, and when there was one sink of
        /// files or standard output only: windows are archived when that has them.
        package var delivered: [String: Bool]
        /// Sinks that it was for, and that were ended before they got it.
        package var givenUp: [String]
        /// What servers answered for the bundle that it left with, by status; empty when its readings were Observations
        /// of their own, which left with many.
        package var receipts: [String: Int]
    }

    /// What never came of one device. A list, not members named for devices: programs take names of members that look
    /// the same for one.
    package struct DeviceGap: Codable, Sendable, Equatable {
        /// Device.
        package var device: IdentifierText
        /// How many never came.
        package var missing: Int

        /// What is missing of each device, in the order of devices.
        static func list(_ missing: [IdentifierText: Int]) -> [DeviceGap] {
            missing.sorted { $0.key < $1.key }.map { DeviceGap(device: $0.key, missing: $0.value) }
        }
    }

    /// The span that was asked about, if any.
    package var from: String?
    /// Its end.
    package var to: String?
    /// The whole store.
    package var balance = LedgerBalance()
    /// Rejections of ``balance`` whose dead letters were replayed, by reason: what came of these is counted besides,
    /// and they are missing no more.
    package var replayed: [String: Int] = [:]
    /// Sources.
    package var sources: [Source] = []
    /// Topics that the instance reads, and up to where the store has them.
    package var topics: [Topic] = []
    /// Series in the span.
    package var series: [Series] = []
    /// By device whose mapping gives sequence numbers: how many of them, in the span, never came.
    package var sequenceGaps: [DeviceGap] = []
    /// By device: frames that never came, by the numbers of its bridge, in the hours of the span.
    package var missingFrames: [DeviceGap] = []
    /// By sink: resources of which the server has kept an earlier version, and lacks the latest.
    package var lacking: [String: [String]] = [:]
    /// Their windows; left out when the whole store was asked about.
    package var windows: [Window] = []
    /// Readings whose place others have taken, or that were refused for others, and whose own times are in the hours of
    /// the span: each is a dead letter. Nothing is missing, but somebody should know.
    package var superseded = 0
    /// Readings that their senders have taken back, and those that came again after that, in the same way.
    package var retracted = 0
    /// By reason: values that Observations lack, as the running instance has counted them since its start; nil when
    /// none runs. The readings are there, and nothing is missing.
    package var unwrittenValues: [String: Int]?
    /// What is open or missing; empty when the span is complete.
    package var missing: [String] = []

    /// Whether everything that is known to have been sent has been delivered.
    package var isComplete: Bool { missing.isEmpty }
    /// Whether nothing was superseded or retracted, either.
    package var isPlainlyComplete: Bool { isComplete && superseded == 0 && retracted == 0 }

    /// Notes what the running instance with `status` has counted.
    package mutating func note(_ status: InstanceStatus?) {
        guard let samples = status?.counters else { return }
        let counts = UnwrittenText.counts(samples).map { ($0.reason, $0.count) }
        unwrittenValues = Dictionary(counts, uniquingKeysWith: +)
    }
    /// The same in words: `complete`, `complete, 2 superseded, 1 retracted` or `not complete`.
    package var completeness: String {
        guard isComplete else { return "not complete" }
        return "complete" + (superseded > 0 ? ", \(superseded) superseded" : "")
            + (retracted > 0 ? ", \(retracted) retracted" : "")
    }

    private enum CodingKeys: String, CodingKey {
        case from, to, balance, replayed, sources, topics, series, sequenceGaps, missingFrames, lacking, windows
        case superseded, retracted, unwrittenValues, missing
        case isComplete, completeness
    }

    /// Writes ``isComplete`` and ``completeness``, too.
    ///
    /// - Throws: What the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(from, forKey: .from)
        try container.encodeIfPresent(to, forKey: .to)
        try container.encode(balance, forKey: .balance)
        try container.encode(replayed, forKey: .replayed)
        try container.encode(sources, forKey: .sources)
        try container.encode(topics, forKey: .topics)
        try container.encode(series, forKey: .series)
        try container.encode(sequenceGaps, forKey: .sequenceGaps)
        try container.encode(missingFrames, forKey: .missingFrames)
        try container.encode(lacking, forKey: .lacking)
        try container.encode(windows, forKey: .windows)
        try container.encode(superseded, forKey: .superseded)
        try container.encode(retracted, forKey: .retracted)
        try container.encodeIfPresent(unwrittenValues, forKey: .unwrittenValues)
        try container.encode(missing, forKey: .missing)
        try container.encode(isComplete, forKey: .isComplete)
        try container.encode(completeness, forKey: .completeness)
    }

    init() {}
}
