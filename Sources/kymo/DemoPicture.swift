import Kymograph
import KymographCore
import KymographTestKit
import Synchronization

/// What a demonstration shows: a line for each device and type, with the values of its Observations.
final class DemoPicture: Sendable {
    /// What a line is about.
    private struct Row: Hashable {
        var device: IdentifierText
        var type: String
    }

    private struct State {
        var rows: [(row: Row, observations: [IdentifierText: [Double]], order: [IdentifierText])] = []
        var firstSeries = ""

        mutating func note(_ row: Row, _ observation: IdentifierText, _ values: [Double]) {
            let index = rows.firstIndex { $0.row == row } ?? rows.count
            if index == rows.count { rows.append((row, [:], [])) }
            if rows[index].observations.updateValue(values, forKey: observation) == nil {
                rows[index].order.append(observation)
            }
        }
    }

    private let state = Mutex(State())

    /// Takes Observations; one that comes again replaces the former version.
    func take(_ entries: [ResourceEntry]) {
        for entry in entries {
            guard let device = entry.device?.value, let tree = try? JSONTree(parsing: entry.json),
                let type = tree["code"]?["text"]?.text
            else { continue }
            let values = DemoValues.values(of: tree)
            state.withLock { state in
                state.note(Row(device: device, type: type), entry.identifier.value, values)
                if state.firstSeries.isEmpty, values.count > 1, type == "Heart rate" {
                    state.firstSeries = DemoPicture.shown(entry.json)
                }
            }
        }
    }

    /// The lines, by device and type.
    var lines: [String] {
        state.withLock { state in
            state.rows.map { row, observations, order in
                let values = order.flatMap { observations[$0] ?? [] }
                let name = "  \(row.device)  \(row.type.padded(to: 15))"
                let picture = Sparkline.text(values, width: 40).padded(to: 40)
                return "\(name)\(picture)  \(CountText.of(order.count, "Observation"))"
            }.sorted()
        }
    }

    /// The first Observation of a heart rate with a series, for people.
    var firstSeries: String { state.withLock { $0.firstSeries } }

    /// JSON in lines as long as a terminal is wide.
    private static func shown(_ json: [UInt8]) -> String {
        let lines = String(decoding: PrettyJSON.format(json), as: UTF8.self).split(separator: "\n").map(String.init)
        return CompactLines.joined(lines, width: 98).map { line in
            line.count > 98 ? "  \(line.prefix(97))…\n" : "  \(line)\n"
        }.joined()
    }
}

/// The values of an Observation.
private enum DemoValues {
    /// Those of its series, or else its first quantity.
    static func values(of observation: JSONTree) -> [Double] {
        let series = (try? SeriesDecoder.series(of: observation)) ?? []
        if let first = series.first { return first.values.map { double($0.number) } }
        let holders = [observation] + (observation["component"]?.elements ?? [])
        return holders.compactMap { holder in
            if case .number(let text)? = holder["valueQuantity"]?["value"] { Double(text) } else { nil }
        }.prefix(1).map { $0 }
    }

    private static func double(_ number: Decimal64) -> Double {
        var value = Double(number.mantissa)
        for _ in 0..<abs(Int(number.exponent)) { value = number.exponent < 0 ? value / 10 : value * 10 }
        return value
    }
}

/// Indented JSON with short objects and arrays in one line each.
enum CompactLines {
    /// `lines` with what fits into `width` characters joined, from the inside out.
    static func joined(_ lines: [String], width: Int) -> [String] {
        var output: [String] = []
        var opened: [Int] = []
        for line in lines {
            output.append(line)
            if isOpening(line) {
                opened.append(output.count - 1)
            } else if isClosing(line), let start = opened.popLast() {
                let parts = output[start...].map { $0.trimmingBlanks() }
                let indentation = output[start].prefix { $0 == " " }
                let text = indentation + parts.joined(separator: " ")
                guard text.count <= width else { continue }
                output.replaceSubrange(start..., with: [String(text)])
            }
        }
        return output
    }

    private static func isOpening(_ line: String) -> Bool { line.last == "{" || line.last == "[" }
    private static func isClosing(_ line: String) -> Bool {
        line.first { $0 != " " }.map { $0 == "}" || $0 == "]" } ?? false
    }
}

/// A curve in one line of text.
enum Sparkline {
    private static let bars = Array("▁▂▃▄▅▆▇█")

    /// `values` in at most `width` bars, each the mean of as many values, from the lowest to the highest.
    static func text(_ values: [Double], width: Int) -> String {
        let count = min(width, values.count)
        let means = (0..<count).map { index in
            let part = values[(index * values.count / count)..<((index + 1) * values.count / count)]
            return part.reduce(0, +) / Double(part.count)
        }
        guard let lowest = means.min(), let highest = means.max() else { return "" }
        let range = highest > lowest ? highest - lowest : 1
        return String(means.map { bars[Int(($0 - lowest) / range * Double(bars.count - 1))] })
    }
}

extension String {
    /// The text without blanks before it.
    fileprivate func trimmingBlanks() -> Substring { drop { $0 == " " } }

    /// The text with blanks behind it up to `width` characters.
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
