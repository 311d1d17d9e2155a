import Foundation

/// `docs/parity.md`, read: numbers of features by system and state, and a row for each feature.
struct ParityPage {
    /// How far a feature goes here.
    enum State: String, CaseIterable {
        case works
        case partly
        case absent
        case notBuilt = "not built"

        /// Reads the word of a cell, with a reason behind it where the state has one: `partly: no deletions`.
        init?(cell: String) {
            let parts = cell.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard let word = parts.first, let state = State(rawValue: word) else { return nil }
            let reason = parts.dropFirst().first ?? ""
            guard state.hasReason == !reason.isEmpty else { return nil }
            self = state
        }

        /// Whether the cell says what is missing, or why it is not built.
        var hasReason: Bool { self == .partly || self == .notBuilt }

        /// Whether tests show the feature or a part of it.
        var isShown: Bool { self == .works || self == .partly }
    }

    /// A row of a table.
    struct Row {
        /// From 1.
        var line: Int
        var cells: [String]
    }

    /// Rows before the first system's heading that have a name, a number for each state, and a cell more.
    private(set) var counts: [Row] = []
    /// Rows below the heading of a system.
    private(set) var features: [(system: String, row: Row)] = []

    init(_ file: SourceFile) {
        let tables = file.lines.map(Self.cells)
        var system: String?
        for (index, line) in file.lines.enumerated() {
            if line.hasPrefix("## ") { system = String(line.dropFirst(3)) }
            let next = index + 1 < tables.count ? tables[index + 1] : []
            // A header stands above a rule.
            guard !tables[index].isEmpty, !Self.isRule(tables[index]), !Self.isRule(next) else { continue }
            add(Row(line: index + 1, cells: tables[index]), system)
        }
    }

    private mutating func add(_ row: Row, _ system: String?) {
        if let system {
            features.append((system, row))
        } else if row.cells.count == State.allCases.count + 2 {
            counts.append(row)
        }
    }

    /// The cells of a table's row; none of another line.
    private static func cells(_ line: Substring) -> [String] {
        guard line.hasPrefix("|") else { return [] }
        let parts = line.split(separator: "|", omittingEmptySubsequences: false)
        return parts.dropFirst().dropLast().map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Whether the row is the line below a header.
    private static func isRule(_ cells: [String]) -> Bool {
        !cells.isEmpty && cells.allSatisfy { cell in !cell.isEmpty && cell.allSatisfy { $0 == "-" || $0 == ":" } }
    }
}
