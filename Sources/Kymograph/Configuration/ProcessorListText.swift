/// Numbers of processors as taskset(1) takes them: `0-3,8`.
enum ProcessorListText {
    /// The highest number that the system's set of processors can hold.
    private static let highest = 1_023
    private static let advice = "write numbers from 0 to \(highest) and ranges, such as 0-3,8"

    /// The numbers in the order of `text`, each of them once.
    static func parse(_ text: String) throws(SettingProblem) -> [Int] {
        var numbers: [Int] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            for number in try range(part) {
                guard !numbers.contains(number) else {
                    throw SettingProblem(message: "processor \(number) is named twice", advice: "name it once")
                }
                numbers.append(number)
            }
        }
        return numbers
    }

    private static func range(_ text: Substring) throws(SettingProblem) -> ClosedRange<Int> {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard ends.count <= 2, let first = ends.first.flatMap({ $0 }), let last = ends.last.flatMap({ $0 }),
            (0...highest).contains(first), (first...max(first, highest)).contains(last)
        else {
            throw SettingProblem(message: "'\(text)' is no processor, nor a range of them", advice: advice)
        }
        return first...last
    }

    /// `numbers` as one would write them.
    static func text(_ numbers: [Int]) -> String { numbers.map(String.init).joined(separator: ",") }
}
