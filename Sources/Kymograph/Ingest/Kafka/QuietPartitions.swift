/// Partitions that give nothing, one after the other.
struct QuietPartitions {
    /// Where each was when it was looked at last.
    private var places: [Int32: Int64] = [:]
    private var last: Int32 = -1

    /// The next one, in turn, that is where it was when it was looked at last; the others before it are looked at, too.
    /// `positions` are those that are read, in rising order.
    mutating func next(of positions: [RecordPosition]) -> RecordPosition? {
        let turn = positions.filter { $0.partition > last } + positions.filter { $0.partition <= last }
        for position in turn {
            let former = places.updateValue(position.offset, forKey: position.partition)
            guard former == position.offset else { continue }
            last = position.partition
            return position
        }
        return nil
    }

    /// Has the one that was given last given again.
    mutating func repeatLast() { last -= 1 }
}
