/// A ring of a shard, and the machine's numbers of the series that its lane has introduced.
struct ShardInput: ~Copyable {
    var ring: RingConsumer
    /// The set that its lane has mapped what comes next by, as far as marks tell; nil where mappings never change.
    var set: MappingSet?
    /// Of ``set``.
    var generation = 0
    /// What became of its readings since its lane ended the last count.
    var outcomes = ReadingOutcomes()
    /// The machine's number of each series of the ring; negative when it was refused.
    private var numbers = RawArray<Int32>(capacity: 1_024)
    /// The first so many series have the same number there and here. All have where there is one lane, and then nothing
    /// waits for a table of numbers that are scattered over megabytes.
    private var same = 0

    /// Reads `ring`, whose lane begins with `set`.
    init(_ ring: Ring, _ set: MappingSet?) {
        self.ring = RingConsumer(ring)
        self.set = set
    }

    /// The machine's number of series `number` of the ring, which was introduced; negative when it was refused.
    @inline(__always)
    func series(_ number: Int) -> Int { number < same ? number : Int(numbers[number]) }

    /// The next series of the ring is the machine's `number`; negative when it was refused.
    mutating func introduce(_ number: Int) {
        if same == numbers.count && number == same { same += 1 }
        numbers.append(Int32(number))
    }

    /// The series of the ring that were refused, and their negative numbers.
    var refused: [(place: Int, number: Int)] {
        (same..<numbers.count).map { ($0, Int(numbers[$0])) }.filter { $0.1 < 0 }
    }

    /// The series `place` of the ring, which was refused, is the machine's `number` from here on.
    mutating func admit(_ place: Int, as number: Int) { numbers[place] = Int32(number) }

    /// Writes what the records from `place` on are to the front of `records`, with the machine's numbers of series that
    /// are known, moves `place` behind them, and returns how many there are.
    @inline(__always)
    mutating func lookAhead(from place: inout UInt64, _ records: inout RawArray<NextRecord>) -> Int {
        let count = ring.lookAhead(from: &place, &records)
        for index in 0..<count {
            let number = Int(records[index].series)
            if number < same { continue }
            // A series may be introduced by a record that was not taken yet.
            records[index].series = number < numbers.count ? numbers[number] : -1
        }
        return count
    }
}
