/// Lines of the log of `kymo run`.
package enum LogLine {
    /// A line without the time and level that those of a daemon have.
    package static func message(_ line: Substring) -> Substring {
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count == 3, words[2].hasPrefix("kymo: "), words[0].hasSuffix("Z"),
            ["error", "warning", "info", "debug"].contains(words[1])
        else { return line }
        return words[2]
    }
}
