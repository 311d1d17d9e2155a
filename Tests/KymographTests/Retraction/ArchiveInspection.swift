@testable import Kymograph
import KymographCore
import KymographTestKit

/// What a store shows of open and closed windows together, against what must be there, at many moments of a sequence.
struct ArchiveInspection {
    /// Whether open windows are asked for: without them, something must be missing.
    private let isWithOpen: Bool
    private(set) var differences: [String] = []
    /// Windows of each sort that were seen.
    private(set) var (open, closed, reopened) = (0, 0, 0)

    init(isWithOpen: Bool = true) { self.isWithOpen = isWithOpen }

    /// A reading.
    private struct Seen: Hashable, CustomStringConvertible {
        var kind: String
        var device: String
        var patient: String?
        var second: Int
        var value: String

        var description: String { "\(kind) \(value) of \(device) and \(patient ?? "nobody") at \(second)" }
    }

    /// Compares the store at `path` with the readings `present`.
    mutating func look(_ path: String, _ present: [RetractionItem]) {
        do {
            let found = try seen(StoreReader(directory: path))
            let wanted = present.map { item in
                Seen(
                    kind: item.kind.rawValue, device: item.device, patient: item.patient, second: item.second ?? 0,
                    value: "\(item.value ?? 0)")
            }
            // Two cards of one time may have the same value.
            let counts = [found, wanted].map { Dictionary($0.map { ($0, 1) }, uniquingKeysWith: +) }
            for reading in Set(found + wanted) where counts[0][reading] != counts[1][reading] {
                let (there, due) = (counts[0][reading] ?? 0, counts[1][reading] ?? 0)
                differences.append("\(reading) is there \(there) times, and not \(due)")
            }
        } catch {
            differences.append("\(error)")
        }
    }

    private mutating func seen(_ reader: StoreReader) throws -> [Seen] {
        let types = try reader.types()
        var selection = OpenSelection(isAsked: isWithOpen)
        var windows: [ArchivedWindow] = []
        // Small pages: windows of both sorts are on each.
        while true {
            let page = try reader.windows(ArchiveFilter(), with: &selection, after: windows.last?.cursor, limit: 3)
            if page.isEmpty { break }
            windows += page
        }
        let count = try reader.count(ArchiveFilter(), with: &selection)
        if count.windows != windows.count || count.readings != windows.reduce(0, { $0 + $1.readings }) {
            differences.append("\(count) were counted, and \(windows.count) windows shown")
        }
        if !zip(windows, windows.dropFirst()).allSatisfy({ $0.cursor.comes(before: $1.cursor) }) {
            differences.append("windows are out of order")
        }
        if selection.damagedBlocks > 0 { differences.append("the journal is damaged") }
        return windows.flatMap { window in
            if window.isOpen { open += 1 } else { closed += 1 }
            if window.isOpen, window.revision > 0 { reopened += 1 }
            return readings(of: window, types)
        }
    }

    private mutating func readings(of window: ArchivedWindow, _ types: [MeasurementType]) -> [Seen] {
        let type = types[window.series.type]
        func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
        var found: [Seen] = []
        let isWhole = window.forEachReading { reading, payload in
            let slot = type.valueNames.firstIndex(of: "x") ?? 0
            found.append(
                Seen(
                    kind: type.name, device: text(window.series.device) ?? "", patient: text(window.series.patient),
                    second: Int(reading.instant.nanoseconds / 1_000_000_000),
                    value: MeasurementJSON.text(of: slot, reading, payload) ?? ""))
        }
        if !isWhole || found.count != window.readings { differences.append("a window is damaged") }
        return found
    }
}
