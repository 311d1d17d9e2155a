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

    /// What a record is that has come.
    enum Taking: Equatable {
        /// One that was not read yet.
        case new
        /// One that was not read yet; that before it, by which the partition would be known again, is not there.
        case newUnproven
        /// One that was read before, or is not to be read.
        case passed
        /// Another one than was read at this offset.
        case another
    }

    /// A position, and the record before it, if that was seen.
    private struct Mark {
        var next: Int64
        var print: RecordPrint?
    }

    /// Its number.
    let number: Int32
    /// The record that is to be read next.
    private(set) var next: Int64
    /// Before this one, all is durable.
    private(set) var done: Int64
    /// The last position up to ``done`` that can be known again: this is told.
    private var mark: Mark
    /// Those that become the mark when they are durable, in rising order.
    private var coming: [Mark] = []
    /// The last record that was taken.
    private var latest: TopicRecord?
    /// The record before ``next``, which is read first and must be the one that it was.
    private var proof: RecordPrint?
    /// What the store was told last.
    private var kept: TopicPosition?
    /// What the group has, and has been told.
    var telling: GroupTelling
    /// Where it was looked into last, though its brokers have what is to be read.
    private var doubt: Int64?
    /// Whether it is read no more: what comes may not be what was to come.
    private(set) var isHalted = false

    /// A partition that begins at `start`, by what is `known`.
    init(_ number: Int32, _ start: PartitionStart, _ known: PartitionStart.Known, at now: ContinuousClock.Instant) {
        self.number = number
        // Where it began holds from then on: what comes while kymo is away is behind that.
        (next, done, proof) = (start.next, start.next, start.proof)
        mark = Mark(next: start.next, print: start.proof)
        kept = known.store
        telling = GroupTelling(known.group, at: start.next, isContested: start.isContested, now)
    }

    /// The first record that is to be read.
    var from: Int64 { proof == nil ? next : next - 1 }

    /// Looks whether the partition, which has the records `offsets`, still has what is to be read.
    mutating func compare(with offsets: Range<Int64>) -> Outcome {
        guard next <= offsets.upperBound else { return .isShort }
        guard next < offsets.lowerBound else { return .goesOn }
        let missed = offsets.lowerBound - max(next, done)
        // Else what is on its way is not durable yet.
        if done >= next { (done, mark) = (max(done, offsets.lowerBound), Mark(next: offsets.lowerBound)) }
        (next, proof) = (offsets.lowerBound, nil)
        return missed > 0 ? .hasMissed(missed) : .goesOn
    }

    /// Whether the record by which it would be known again is before all that it has, `offsets`; it is not asked for
    /// then.
    mutating func losesProof(_ offsets: Range<Int64>) -> Bool {
        guard proof != nil, next - 1 < offsets.lowerBound else { return false }
        proof = nil
        return true
    }

    /// Notes that brokers, which have `offsets`, would not give what is to be read next; whether they have it, and that
    /// is so for the second time.
    mutating func isDoubtedAgain(_ offsets: Range<Int64>) -> Bool {
        guard offsets.contains(from) else { return false }
        defer { doubt = from }
        return doubt == from
    }

    /// Ends its reading.
    mutating func halt() { isHalted = true }

    /// Takes a record that has come, unless it was read before.
    mutating func take(_ offset: Int64, _ record: TopicRecord) -> Taking {
        guard !isHalted, offset >= from else { return .passed }
        let expected = proof
        proof = nil
        guard offset >= next else { return expected == RecordPrint(record) ? .passed : .another }
        (next, latest) = (offset + 1, record)
        return expected == nil ? .new : .newUnproven
    }

    /// Makes the last record that was taken one that can be known again. For each one, the digest would cost as much as
    /// all the rest of reading.
    mutating func close() {
        guard let record = latest else { return }
        latest = nil
        coming.append(Mark(next: next, print: RecordPrint(record)))
        advance()
    }

    /// Notes that all before `offset` is durable.
    mutating func finish(before offset: Int64) {
        done = max(done, offset)
        advance()
    }

    private mutating func advance() {
        let count = coming.prefix { $0.next <= done }.count
        guard count > 0 else { return }
        if coming[count - 1].next > mark.next { mark = coming[count - 1] }
        coming.removeFirst(count)
    }

    /// What the store is to have, unless it was told.
    mutating func takeUnkept() -> TopicPosition? {
        let position = TopicPosition(
            next: mark.next, told: min(telling.least, mark.next), telling: telling.isContested ? .contested : .own,
            print: mark.print)
        guard !isHalted, kept != position else { return nil }
        kept = position
        return position
    }

    /// Where the group is to be, unless it is there; to be asked when the store has what it was told.
    mutating func takeUntold() -> RecordPosition? {
        guard let kept, telling.take(kept.next) else { return nil }
        return RecordPosition(partition: number, offset: kept.next)
    }

    /// Goes on with another consumer: what was read behind the last position is read again, and what the group was told
    /// without an answer is told again.
    mutating func rewind() {
        (next, proof, latest, coming, kept) = (mark.next, mark.print, nil, [], nil)
        telling.rewind()
    }
}
