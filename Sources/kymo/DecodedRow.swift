import Kymograph
import KymographCore
import KymographTestKit

/// A value of an Observation with its time: a row of `kymo decode`.
struct DecodedRow {
    /// A value as it is written.
    enum Value {
        /// Digits, exact.
        case number(String)
        case text(String)
        /// None; the flag says why.
        case none
    }

    /// Names of the columns.
    static let columns = [
        "observation", "identifier", "patient", "device", "code", "component", "time", "end", "dimension", "value",
        "flag", "unit",
    ]

    /// What the row is of: the first five columns.
    var head: [String?]
    /// `system|code` of the component; nil where the value is the Observation's own.
    var component: String?
    var time: String
    /// The last moment of a period that the value is of; nil where it is of ``time``.
    var end: String?
    /// Which of a series' signals it belongs to; nil for what is no series.
    var dimension: Int?
    var value: Value
    /// `belowLimit`, `aboveLimit`, `missing`, the comparator, or why there is no value.
    var flag: String?
    var unit: String?

    private var cells: [String?] {
        let text: String? =
            switch value {
            case .number(let text), .text(let text): text
            case .none: nil
            }
        return head + [component, time, end, dimension.map(String.init), text, flag, unit]
    }

    /// A line of CSV.
    var csv: [UInt8] { ReadingTable.csv(cells) }

    /// An object on a line, in which what is not there is left out, and numbers are numbers.
    var ndjson: [UInt8] {
        var writer = ByteWriter(capacity: 256)
        for (name, cell) in zip(Self.columns, cells) {
            guard let cell else { continue }
            writer.append(writer.count == 0 ? "{\"" : ",\"")
            writer.append(Array("\(name)\":".utf8))
            if isNumber(name) {
                writer.append(Array(cell.utf8))
            } else {
                writer.append("\"")
                writer.appendJSON(cell)
                writer.append("\"")
            }
        }
        writer.append("}\n")
        return writer.view.array
    }

    private func isNumber(_ column: String) -> Bool {
        guard column == "value" else { return column == "dimension" }
        return if case .number = value { true } else { false }
    }
}
