import KymographCore
import Synchronization

/// The audit trail of a data directory: who has asked for data of patients, has seen or changed them, or was refused.
/// For any thread.
package final class AuditTrail: Sendable {
    /// Deeds that nobody waits for, and that are still to be written.
    private struct Waiting {
        var folding = LogFolding()
        var deeds: [AuditDeed] = []
    }

    /// Deeds that wait at most; of further ones it is noted how many there were.
    private static let mostWaiting = 4_096

    /// Locked while it is written to.
    private let folder: Mutex<AuditFolder>
    private let waiting = Mutex(Waiting())

    /// The trail of `dataDirectory`. Nothing is made before the first deed.
    package init(dataDirectory: String) {
        folder = Mutex(AuditFolder(dataDirectory: dataDirectory))
    }

    /// Writes `deeds`, and what waits before them; durably when it returns. Returns the last record.
    ///
    /// - Throws: ``AuditError`` when that cannot be; nothing is written then, and what waits goes on waiting.
    @discardableResult
    package func append(_ deeds: [AuditDeed]) throws(AuditError) -> AuditHead? {
        try folder.withLock { folder throws(AuditError) -> AuditHead? in
            let waited = waiting.withLock { $0.deeds }
            let all = waited + deeds
            guard !all.isEmpty else { return nil }
            let head = try folder.append { head in Self.lines(all, after: head) }
            waiting.withLock { $0.deeds.removeFirst(waited.count) }
            return head
        }
    }

    private static func lines(_ deeds: [AuditDeed], after head: AuditHead) -> (bytes: [UInt8], head: AuditHead) {
        var (bytes, head): ([UInt8], AuditHead) = ([], head)
        for deed in deeds {
            let record = AuditRecord(deed, after: head, at: WallClock.now())
            let (line, digest) = record.line
            bytes += line + [0x0A]
            head = AuditHead(sequence: record.sequence, digest: digest)
        }
        return (bytes, head)
    }

    /// Notes what an entry of the log says, if it is one for the audit. What senders could repeat without end is folded
    /// as in the log and written by the next ``append(_:)``, since nobody who moves readings may wait for a disk.
    ///
    /// - Throws: ``AuditError`` as ``append(_:)``.
    func note(_ entry: LogEntry) throws(AuditError) -> AuditHead? {
        guard entry.isAudit else { return nil }
        guard entry.isFolded else { return try append([AuditDeed(entry)]) }
        waiting.withLock { waiting in
            Self.collect(&waiting, isLast: false)
            if waiting.folding.admits(entry, at: .now) { Self.wait(AuditDeed(entry), &waiting) }
        }
        return nil
    }

    /// Writes what waits, and repeats whose time is up; all of them at the end (`isLast`).
    ///
    /// - Throws: ``AuditError`` as ``append(_:)``.
    func settle(isLast: Bool = false) throws(AuditError) {
        waiting.withLock { Self.collect(&$0, isLast: isLast) }
        try append([])
    }

    private static func collect(_ waiting: inout Waiting, isLast: Bool) {
        for entry in waiting.folding.ended(at: .now, isLast: isLast) { wait(AuditDeed(entry), &waiting) }
    }

    private static func wait(_ deed: AuditDeed, _ waiting: inout Waiting) {
        guard waiting.deeds.count < mostWaiting else {
            waiting.deeds[mostWaiting - 1].text = "more was refused than could be written: see the log"
            return
        }
        waiting.deeds.append(deed)
    }
}
