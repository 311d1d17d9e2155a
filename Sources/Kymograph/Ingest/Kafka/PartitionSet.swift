import KymographCore

/// Numbers of partitions, as `0-31, 40` writes them.
package struct PartitionSet: Hashable, Sendable {
    /// In rising order, apart from each other.
    private var ranges: [ClosedRange<Int32>]

    /// Reads numbers and ranges with commas between them.
    ///
    /// - Throws: ``SettingProblem`` when one is none, or is there twice.
    package init(parsing text: String) throws(SettingProblem) {
        var found: [ClosedRange<Int32>] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let range = Self.range(part) else {
                throw SettingProblem(
                    message: "'\(text)' names no partitions",
                    advice: "write numbers and ranges, such as 0-31 or 0,2,4-7")
            }
            found.append(range)
        }
        found.sort { $0.lowerBound < $1.lowerBound }
        for (first, second) in zip(found, found.dropFirst()) where first.upperBound >= second.lowerBound {
            throw SettingProblem(
                message: "'\(text)' names partition \(second.lowerBound) twice", advice: "name each once")
        }
        ranges = found
    }

    private static func range(_ text: Substring) -> ClosedRange<Int32>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map(number)
        guard let first = ends[0], ends.count <= 2, let last = ends[ends.count - 1], first <= last else { return nil }
        return first...last
    }

    private static func number(_ text: Substring) -> Int32? {
        let digits = text.drop { $0 == " " }.reversed().drop { $0 == " " }
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int32(String(digits.reversed())).flatMap { TopicPartition.numbers.contains($0) ? $0 : nil }
    }

    /// Whether `number` is one of them.
    func has(_ number: Int32) -> Bool { ranges.contains { $0.contains(number) } }

    /// The numbers, in rising order.
    var numbers: [Int32] { ranges.flatMap(Array.init) }

    /// As it is written.
    package var text: String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ", ")
    }
}
