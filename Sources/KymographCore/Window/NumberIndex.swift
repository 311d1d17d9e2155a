/// Finds numbers by what they stand for, which is kept elsewhere: open addressing with four bytes a cell. Grows by
/// doubling; never forgets.
struct NumberIndex {
    private static let empty = UInt32.max

    private var cells = [UInt32](repeating: NumberIndex.empty, count: 64)
    /// How many numbers there are.
    private(set) var count = 0

    /// The number for which `isMeant`, among those with `hash`; nil when there is none.
    func find(hash: Int, where isMeant: (Int) -> Bool) -> Int? {
        var cell = hash & (cells.count - 1)
        while cells[cell] != NumberIndex.empty {
            if isMeant(Int(cells[cell])) { return Int(cells[cell]) }
            cell = (cell + 1) & (cells.count - 1)
        }
        return nil
    }

    /// Adds `number`, which stands for what none does that is there: with two for one thing, which of them is found may
    /// change when it grows. `hash` gives the hash of each number that is there, and of this one.
    mutating func insert(_ number: Int, hash: (Int) -> Int) {
        if (count + 1) * 4 > cells.count * 3 { enlarge(hash) }
        place(UInt32(number), hash(number))
        count += 1
    }

    private mutating func place(_ number: UInt32, _ hash: Int) {
        var cell = hash & (cells.count - 1)
        while cells[cell] != NumberIndex.empty { cell = (cell + 1) & (cells.count - 1) }
        cells[cell] = number
    }

    private mutating func enlarge(_ hash: (Int) -> Int) {
        let old = cells
        cells = [UInt32](repeating: NumberIndex.empty, count: old.count * 2)
        for number in old where number != NumberIndex.empty { place(number, hash(Int(number))) }
    }
}
