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
        /// Parts of lines that a crash has left, as `file:line`. The chain goes on behind them.
        package fileprivate(set) var torn: [String] = []
        /// What is wrong, as `file:line: what`.
        package fileprivate(set) var faults: [String] = []
    }

    private let folder: AuditFolder
    private var report = Report()
    /// The place of a line that is no record, until it is known whether the chain goes on behind it.
    private var doubtful: String?

    /// Of the trail in `dataDirectory`.
    package init(dataDirectory: String) { folder = AuditFolder(dataDirectory: dataDirectory) }

    /// The folder that is read.
    package var path: String { folder.path }

    /// Calls `body` with each record that holds, in order, and reports what was found. Records in `heads`, which were
    /// noted elsewhere, must be in the trail.
    ///
    /// - Throws: ``AuditError`` when a file cannot be read, and what `body` throws.
    package mutating func check(
        heads: [AuditHead] = [], _ body: (AuditRecord, _ line: [UInt8]) throws -> Void = { _, _ in }
    ) throws -> Report {
        var missing = heads
        var endsWithinLine = false
        for name in folder.files {
            guard let bytes = FileSystem.content("\(folder.path)/\(name)") else {
                throw AuditError(message: "\(folder.path)/\(name) cannot be read")
            }
            report.files += 1
            let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            for (number, line) in lines.enumerated() where !line.isEmpty {
                let line = Array(line)
                guard let record = take(line, at: "\(name):\(number + 1)") else { continue }
                try body(record, line)
                missing.removeAll { $0 == report.head }
            }
            endsWithinLine = !bytes.isEmpty && bytes.last != 0x0A
        }
        // A writer that dies leaves a line without its end; whoever changes one does not.
        if let doubtful {
            if endsWithinLine { report.torn.append(doubtful) } else { report.faults.append(Self.changed(doubtful)) }
        }
        for head in missing { report.faults.append("the trail has no record \(head.text), which was noted") }
        return report
    }

    private static func changed(_ place: String) -> String { "\(place): the record was changed" }

    /// The record of `line`, if it holds.
    private mutating func take(_ line: [UInt8], at place: String) -> AuditRecord? {
        guard let (record, digest) = AuditRecord.read(line) else {
            if let doubtful { report.faults.append(Self.changed(doubtful)) }
            doubtful = place
            return nil
        }
        let isFirst = report.records == 0
        let follows = record.previous == report.head.digest && record.sequence == report.head.sequence + 1
        // The first file that is left may go on from ones that were taken away.
        let begins = isFirst && doubtful == nil && report.faults.isEmpty
        if follows || begins {
            if let doubtful { report.torn.append(doubtful) }
        } else if let doubtful {
            report.faults.append(Self.changed(doubtful))
        } else {
            report.faults.append(
                "\(place): record \(record.sequence) does not follow record \(report.head.sequence): "
                    + "records are missing or were changed")
        }
        doubtful = nil
        if isFirst { report.first = record.sequence }
        report.records += 1
        report.head = AuditHead(sequence: record.sequence, digest: digest)
        return record
    }
}
