import KymographCore

/// Rows under headings, in columns as wide as their longest text.
struct TextTable {
    private var rows: [[String]]

    init(_ headings: [String]) {
        rows = [headings.map { $0.uppercased() }]
    }

    /// Adds a row with as many texts as there are headings.
    mutating func add(_ row: [String]) { rows.append(row.map(PrintableText.line)) }

    /// The table as lines of text.
    var bytes: [UInt8] {
        var widths = rows[0].map { _ in 0 }
        for row in rows { for (index, text) in row.enumerated() { widths[index] = max(widths[index], text.count) } }
        var output: [UInt8] = []
        for row in rows {
            var line = ""
            for (index, text) in row.enumerated() {
                line += text + String(repeating: " ", count: widths[index] - text.count + 2)
            }
            while line.last == " " { line.removeLast() }
            output += Array((line + "\n").utf8)
        }
        return output
    }
}
