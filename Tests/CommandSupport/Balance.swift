/// The summary that `kymo run` prints, as numbers.
package struct Balance: Equatable {
    package var received = 0
    package var accepted = 0
    package var duplicate = 0
    package var conflict = 0
    package var rejected = 0
    package var retractions = 0
    package var inFlight = 0
    package var kernelDropped = 0
    package var windows = 0
    package var observations = 0
    package var reasons: [String: Int] = [:]

    /// Reads the summary out of standard error; nil when there is none.
    package init?(_ text: String) {
        let lines = text.split(separator: "\n").map(LogLine.message)
        let words = lines.last { $0.hasPrefix("kymo: received ") }
        guard let words else { return nil }
        received = Balance.number(after: "received", in: words)
        accepted = Balance.number(after: "accepted", in: words)
        duplicate = Balance.number(after: "duplicate", in: words)
        conflict = Balance.number(after: "conflict", in: words)
        rejected = Balance.number(after: "rejected", in: words)
        retractions = Balance.number(after: "retractions", in: words)
        inFlight = Balance.number(after: "flight", in: words)
        for line in lines {
            if line.hasPrefix("kymo: rejected: ") { reasons = Balance.reasons(line.dropFirst(16)) }
            if line.hasPrefix("kymo: kernel-dropped") {
                kernelDropped = Balance.number(after: "kernel-dropped", in: line)
            }
            if line.hasPrefix("kymo: windows") {
                windows = Balance.number(after: "windows", in: line)
                observations = Balance.number(after: "observations", in: line)
            }
        }
    }

    /// Whether what came in has ended somewhere, and no count is below zero.
    package var isClosed: Bool {
        received == accepted + duplicate + conflict + rejected + retractions && inFlight == 0
            && rejected == reasons.values.reduce(0, +)
            && min(received, accepted, duplicate, conflict, rejected, windows, observations) >= 0
    }

    private static func number(after word: String, in line: Substring) -> Int {
        let words = line.split(separator: " ")
        guard let index = words.firstIndex(of: Substring(word)), index + 1 < words.count else { return 0 }
        return Int(words[index + 1].prefix { $0.isNumber || $0 == "-" }) ?? 0
    }

    private static func reasons(_ text: Substring) -> [String: Int] {
        var reasons: [String: Int] = [:]
        for item in text.split(separator: ", ") {
            let parts = item.split(separator: " ")
            if parts.count == 2 { reasons[String(parts[0])] = Int(parts[1]) }
        }
        return reasons
    }
}
