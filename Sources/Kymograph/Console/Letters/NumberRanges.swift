/// Numbers in few words.
enum NumberRanges {
    /// `numbers`, which ascend, as ranges: `3-9, 12`.
    static func text(of numbers: [Int64]) -> String {
        var ranges: [(first: Int64, last: Int64)] = []
        for number in numbers {
            if let last = ranges.last?.last, number - last == 1 {
                ranges[ranges.count - 1].last = number
            } else {
                ranges.append((number, number))
            }
        }
        return ranges.map { $0.first == $0.last ? "\($0.first)" : "\($0.first)-\($0.last)" }.joined(separator: ", ")
    }
}
