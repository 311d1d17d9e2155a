/// Partitions of which brokers are to say which records they have.
struct PartitionQuestions {
    /// One of them.
    struct Question {
        /// What is known of where it is to be read; of no use where the partition was read before.
        var known: PartitionStart.Known
        /// Since when brokers say that it ends before that.
        fileprivate var shortSince: ContinuousClock.Instant?
        /// When it is asked for again, and how long that was put off.
        fileprivate var due: ContinuousClock.Instant?
        fileprivate var wait = Duration.zero
    }

    /// Shortest and longest time between two attempts.
    private static let (firstWait, longestWait) = (Duration.seconds(5), Duration.seconds(60))

    /// How long a partition that ends before its position is asked for again: the end that brokers tell is that of the
    /// last transaction which is complete, and tools set positions behind that.
    private static let patience = Duration.seconds(15)

    private var all: [Int32: Question] = [:]

    /// Whether there are none.
    var isEmpty: Bool { all.isEmpty }
    /// Their partitions, in rising order.
    var numbers: [Int32] { all.keys.sorted() }

    /// Whether `partition` is one of them.
    func has(_ partition: Int32) -> Bool { all[partition] != nil }

    /// That of `partition`.
    subscript(partition: Int32) -> Question? { all[partition] }

    /// Adds that of `partition`.
    mutating func add(_ partition: Int32, _ known: PartitionStart.Known = PartitionStart.Known()) {
        all[partition] = Question(known: known)
    }

    /// Whether `partition`, which ends before its position, has done so for long enough.
    mutating func hasWaited(_ partition: Int32, _ now: ContinuousClock.Instant) -> Bool {
        let since = all[partition]?.shortSince ?? now
        all[partition]?.shortSince = since
        return now - since >= Self.patience
    }

    /// The one that has been due for longest; nil when none is.
    func due(_ now: ContinuousClock.Instant) -> Int32? {
        all.filter { $0.value.due ?? now <= now }.min { ($0.value.due ?? now, $0.key) < ($1.value.due ?? now, $1.key) }?
            .key
    }

    /// Puts off that of `partition`, longer each time.
    mutating func postpone(_ partition: Int32, _ now: ContinuousClock.Instant) {
        guard var question = all[partition] else { return }
        let isShort = question.shortSince != nil
        question.wait = isShort ? Self.firstWait : min(max(Self.firstWait, question.wait * 2), Self.longestWait)
        question.due = now + question.wait
        all[partition] = question
    }

    /// Forgets that of `partition`.
    mutating func remove(_ partition: Int32) { all[partition] = nil }
}
