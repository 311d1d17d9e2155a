import KymographCore
import KymographTestKit

/// Random readings of several signals, and what a plain computation expects of their series.
struct WaveformTrial {
    /// A reading: milliseconds after the window's start, and the tokens of each signal.
    struct Block {
        var time: Int64
        var signals: [[String]]
    }

    var rate: Int64
    var dimensions: Int
    /// Whether the signals are in one array, in turn.
    var isInterleaved: Bool
    var isCompact: Bool
    var blocks: [Block] = []
    /// Samples that have no place of their own.
    var overlapping = 0
    /// The tokens of the series.
    var expected: [String] = []

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        rate = [125, 250, 360, 500, 1_000][Int.random(in: 0..<5, using: &random)]
        dimensions = Int.random(in: 1...4, using: &random)
        isInterleaved = Bool.random(using: &random)
        isCompact = Bool.random(using: &random)
        let hasDecimals = Bool.random(using: &random)
        var time: Int64 = Int64.random(in: 0...50, using: &random)
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let count = Int.random(in: 1...120, using: &random)
            let signals = (0..<dimensions).map { _ in
                (0..<count).map { _ -> String in
                    if Int.random(in: 0..<30, using: &random) == 0 { return "E" }
                    let digits = Int.random(in: -2_000...2_000, using: &random)
                    let decimals = String("\(1_000 + abs(digits) % 1_000)".dropFirst())
                    return hasDecimals ? "\(digits < 0 ? "-" : "")\(abs(digits) / 1_000).\(decimals)" : "\(digits)"
                }
            }
            blocks.append(Block(time: time, signals: signals))
            let length = Int64(count) * 1_000 / rate
            // Abutting, with a gap, or overlapping.
            time += max(length + [0, 0, 40, -20][Int.random(in: 0..<4, using: &random)], 1)
        }
        place()
    }

    /// Puts each sample at the nearest place, the first that comes stays.
    private mutating func place() {
        let first = blocks[0].time
        var places: [Int64: [String]] = [:]
        var end: Int64 = -1
        for block in blocks {
            // Half up: (t - first) × rate / 1000.
            let base = (2 * (block.time - first) * rate + 1_000) / 2_000
            for index in block.signals[0].indices {
                let place = base + Int64(index)
                if place <= end { overlapping += dimensions } else { places[place] = block.signals.map { $0[index] } }
            }
            end = max(end, base + Int64(block.signals[0].count) - 1)
        }
        let hole = Array(repeating: "E", count: dimensions)
        expected = (0...end).flatMap { places[$0] ?? hole }
    }

    var template: String {
        let names = (0..<dimensions).map { "\"s\($0)\"" }.joined(separator: ",")
        let signals =
            isInterleaved ? "\"valueName\":\"s\",\"dimensions\":\(dimensions)" : "\"valueNames\":[\(names)]"
        return """
            {"typeName":"ecg","period":"1m","codes":[{"system":"urn:iso:std:iso:11073:10101","code":"131328"}],
             "value":{"valueType":"SampledData",\(signals),"rateName":"rate","unit":"mV","code":"mV",
                      "compact":\(isCompact)}}
            """
    }

    var window: TestWindow {
        var window = TestWindow()
        for block in blocks {
            var arrays: [Int: [String]] = [:]
            if isInterleaved {
                arrays[0] = block.signals[0].indices.flatMap { index in block.signals.map { $0[index] } }
            } else {
                for (slot, signal) in block.signals.enumerated() { arrays[slot] = signal }
            }
            // The rate lies behind the signals, and may be inline before them.
            let rateSlot = isInterleaved ? 1 : dimensions
            window.add(block.time * 1_000_000, [:], rate: (rateSlot, "\(rate)"), arrays: arrays)
        }
        return window
    }
}

extension TestWindow {
    /// Adds a reading of arrays with a number behind or before them.
    mutating func add(
        _ offset: Int64, _ numbers: [Int: String], rate: (slot: Int, text: String), arrays: [Int: [String]]
    ) {
        var numbers = numbers
        if rate.slot < KymographCore.Measurement.inlineValues {
            numbers[rate.slot] = rate.text
            return add(offset, numbers, arrays: arrays)
        }
        // Beyond the inline numbers a text that is one does as well, and its record comes first.
        add(offset, numbers, texts: [rate.slot: rate.text], arrays: arrays)
    }
}
