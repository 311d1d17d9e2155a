/// Where one partition is read, and up to where all of it is durable.
struct PartitionReader {
    /// What is to be done with a partition, now that brokers say which records it has.
    enum Outcome: Equatable {
        /// It is read on, from where it is.
        case goesOn
        /// The records before the first one that it has are no longer there; so many offsets are left out.
        case hasMissed(Int64)
        /// It ends before the place up to which it was read.
        case isShort
    }

    /// Its number.
    let number: Int32
    /// The record that is to be read next.
    private(set) var next: Int64
    /// Before this one, all is durable.
    private(set) var done: Int64
    /// The position that the group was last told, and has not refused; nil when it has none, or another.
    private var told: Int64?
    /// Where it was looked into last, though its brokers have what is to be read.
    private var doubt: Int64?
    /// Whether it is read no more: what comes may not be what was to come.
    private(set) var isHalted = false

    /// A partition of which the group has the position `known`, or none: then it begins as `beginning` says. `offsets`
    /// are those that it has.
    init(_ number: Int32, known: Int64?, offsets: Range<Int64>, beginning: KafkaReading.Beginning) {
        self.number = number
        let start = known ?? (beginning == .earliest ? offsets.lowerBound : offsets.upperBound)
        (next, done) = (start, start)
        // Where it began holds from then on: what comes while kymo is away is behind that.
        told = known
    }

    /// Looks whether the partition, which has the records `offsets`, still has what is to be read.
    mutating func compare(with offsets: Range<Int64>) -> Outcome {
        guard next <= offsets.upperBound else { return .isShort }
        guard next < offsets.lowerBound else { return .goesOn }
        let missed = offsets.lowerBound - next
        // Else what is on its way is not durable yet.
        if done == next { done = offsets.lowerBound }
        next = offsets.lowerBound
        return .hasMissed(missed)
    }

    /// Notes that brokers, which have `offsets`, would not give what is to be read next; whether they have it, and that
    /// is so for the second time.
    mutating func isDoubtedAgain(_ offsets: Range<Int64>) -> Bool {
        guard offsets.contains(next) else { return false }
        defer { doubt = next }
        return doubt == next
    }

    /// Ends its reading.
    mutating func halt() { isHalted = true }

    /// Whether the record at `offset` is one that was not read yet; it is read now.
    mutating func take(_ offset: Int64) -> Bool {
        guard !isHalted, offset >= next else { return false }
        next = offset + 1
        return true
    }

    /// Notes that all before `offset` is durable.
    mutating func finish(before offset: Int64) { done = max(done, offset) }

    /// Where the group is to be, unless it is there.
    mutating func takeUntold() -> RecordPosition? {
        guard told != done else { return nil }
        told = done
        return RecordPosition(partition: number, offset: done)
    }

    /// Notes that the group has not taken the position `offset`.
    mutating func refused(_ offset: Int64) { if told == offset { told = nil } }

    /// Has the group told where it is, also if it knows.
    mutating func tellAgain() { told = nil }

    /// Goes on with another consumer: what was read and is not durable is read again, and what the group was told
    /// without an answer is told again.
    mutating func rewind() { (next, told) = (done, nil) }
}
