import KymographCore

/// Reads an audit trail, and checks its chain.
package struct AuditReader {
    /// What a check has found.
    package struct Report {
        /// Files read.
        package fileprivate(set) var files = 0
        /// Records that hold.
        package fileprivate(set) var records = 0
        /// The number of the first record; more than 1 when older files were taken away.
        package fileprivate(set) var first = 0
        /// The last record.
        package fileprivate(set) var head = AuditHead.origin
        /// Parts of lines, as `file:line`, such as a crash leaves. The chain goes on behind them.
        package fileprivate(set) var torn: [String] = []
        /// What is wrong, as `file:line: what`.
        package fileprivate(set) var faults: [String] = []
    }

    private let folder: AuditFolder
    private var report = Report()
    /// The record before the first one, as that one has it.
    private var before: AuditHead?
    /// Places of lines that are no records, until it is known whether the chain goes on behind them.
    private var doubtful: [String] = []

    /// Of the trail in `dataDirectory`.
    package init(dataDirectory: String) { folder = AuditFolder(dataDirectory: dataDirectory) }

    /// The folder that is read.
    package var path: String { folder.path }

    /// Calls `body` with each record that holds, in order, and reports what was found. Records in `heads`, which were
    /// noted elsewhere, must be in the trail, or be the one right before its first: anything else that is said to be
    /// older could be so of a trail that was made from scratch.
    ///
    /// - Throws: ``AuditError`` when a file cannot be read, and what `body` throws.
    package mutating func check(
        heads: [AuditHead] = [], _ body: (AuditRecord, _ line: [UInt8]) throws -> Void = { _, _ in }
    ) throws -> Report {
        var missing = heads
        let files = try folder.opened()
        for (name, first) in try files?.names() ?? [] {
            guard let bytes = try files?.content(name) else { continue }
            report.files += 1
            var expected: Int? = first
            let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            for (number, line) in lines.enumerated() where !line.isEmpty {
                let line = Array(line)
                guard let record = take(line, at: "\(name):\(number + 1)", expected: expected) else { continue }
                expected = nil
                try body(record, line)
                missing.removeAll { $0 == report.head }
            }
        }
        report.torn += doubtful
        for head in missing where head != before {
            let older = head.sequence < report.first ? "; it begins with record \(report.first)" : ""
            report.faults.append("the trail has no record \(head.text), which was noted\(older)")
        }
        return report
    }

    /// The record of `line`, if it holds; `expected` is the number that the first record of a file must have.
    private mutating func take(_ line: [UInt8], at place: String, expected: Int?) -> AuditRecord? {
        guard let (record, digest) = AuditRecord.read(line) else {
            if AuditRecord.isWhole(line) {
                report.faults.append("\(place): the record was changed")
            } else {
                doubtful.append(place)
            }
            return nil
        }
        let isFirst = report.records == 0
        let follows = record.previous == report.head.digest && record.sequence == report.head.sequence + 1
        // The first file that is left may go on from ones that were taken away.
        let begins = isFirst && record.sequence == expected && (record.sequence > 1 || follows)
        if !begins, !follows || expected.map({ $0 != record.sequence }) ?? false {
            report.faults.append(
                "\(place): record \(record.sequence) does not follow record \(report.head.sequence): "
                    + "records are missing or were changed")
        }
        report.torn += doubtful
        doubtful = []
        if isFirst {
            report.first = record.sequence
            before = AuditHead(sequence: record.sequence - 1, digest: record.previous)
        }
        report.records += 1
        report.head = AuditHead(sequence: record.sequence, digest: digest)
        return record
    }
}
