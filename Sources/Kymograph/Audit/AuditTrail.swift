import Synchronization

/// The audit trail of a data directory: who has asked for data of patients, has seen or changed them, or was refused.
/// For any thread.
package final class AuditTrail: Sendable {
    /// Deeds that are still to be written.
    private struct Waiting {
        var folding = LogFolding()
        var deeds: [AuditDeed] = []
        /// How many more there were than may wait.
        var lost = 0

        mutating func add(_ more: some Collection<AuditDeed>) {
            let room = max(0, AuditTrail.mostWaiting - deeds.count)
            deeds += more.prefix(room)
            lost += max(0, more.count - room)
        }
    }

    /// Deeds that wait at most. Of further ones the trail says how many there were.
    private static let mostWaiting = 4_096

    /// Locked while it is written to.
    private let folder: Mutex<AuditFolder>
    private let waiting = Mutex(Waiting())

    /// The trail of `dataDirectory`. Nothing is made before the first deed.
    package init(dataDirectory: String) {
        folder = Mutex(AuditFolder(dataDirectory: dataDirectory))
    }

    /// Writes `deeds`, and what waits before them; durably when it returns. Returns the last record, nil when there was
    /// nothing to write.
    ///
    /// - Throws: ``AuditError`` when that cannot be; all of them wait then.
    @discardableResult
    package func append(_ deeds: [AuditDeed]) throws(AuditError) -> AuditHead? {
        guard !deeds.isEmpty || isWaitedFor else { return nil }
        return try folder.withLock { folder throws(AuditError) -> AuditHead? in
            let (waited, lost) = waiting.withLock { waiting in
                defer { (waiting.deeds, waiting.lost) = ([], 0) }
                return (waiting.deeds, waiting.lost)
            }
            do throws(AuditError) {
                let all = waited + Self.gap(lost) + deeds
                return all.isEmpty ? nil : try folder.append { head in Self.lines(all, after: head) }
            } catch {
                waiting.withLock { waiting in
                    let since = waiting.deeds
                    (waiting.deeds, waiting.lost) = ([], waiting.lost + lost)
                    waiting.add(waited + deeds + since)
                }
                throw error
            }
        }
    }

    private static func gap(_ lost: Int) -> [AuditDeed] {
        lost == 0 ? [] : [AuditDeed(.auditLost, "\(lost) deeds are not here, but in the log alone")]
    }

    private static func lines(_ deeds: [AuditDeed], after head: AuditHead) -> (bytes: [UInt8], head: AuditHead) {
        var (bytes, head): ([UInt8], AuditHead) = ([], head)
        for deed in deeds {
            let record = AuditRecord(deed, after: head)
            let (line, digest) = record.line
            bytes += line + [0x0A]
            head = AuditHead(sequence: record.sequence, digest: digest)
        }
        return (bytes, head)
    }

    /// Whether anything waits to be written. Repeats that are still counted do not: ``collect(isLast:)`` has them wait
    /// when their time is up. Without it there would be a folder, a lock and a thread each time somebody looks, for
    /// nothing.
    var isWaitedFor: Bool { waiting.withLock { !$0.deeds.isEmpty || $0.lost > 0 } }

    /// Notes what an entry of the log says, if it is one for the audit; the record, when it was written at once.
    /// Entries that nobody may wait for are written by the next ``append(_:)``: those of threads that move readings or
    /// serve everybody. What senders could repeat without end is folded as in the log.
    ///
    /// - Throws: ``AuditError`` as ``append(_:)``.
    func note(_ entry: LogEntry) throws(AuditError) -> AuditHead? {
        guard let deed = AuditDeed(entry) else { return nil }
        guard entry.isFolded || entry.isDeferred else { return try append([deed]) }
        waiting.withLock { waiting in
            Self.collect(&waiting, isLast: false)
            if !entry.isFolded || waiting.folding.admits(entry, at: .now) { waiting.add([deed]) }
        }
        return nil
    }

    /// Lets what was folded wait to be written, if its time is up, or in any case (`isLast`).
    func collect(isLast: Bool = false) { waiting.withLock { Self.collect(&$0, isLast: isLast) } }

    private static func collect(_ waiting: inout Waiting, isLast: Bool) {
        waiting.add(waiting.folding.ended(at: .now, isLast: isLast).compactMap { AuditDeed($0) })
    }
}

extension AuditTrail {
    /// Notes what this process does to `directory` by itself. Who can read its files needs no command to see what is in
    /// them: where the trail cannot be written, `warn` is told so, and the command goes on.
    package static func note(_ deeds: [AuditDeed], in directory: String, warn: (LogEntry) -> Void) {
        do throws(AuditError) {
            try AuditTrail(dataDirectory: directory).append(deeds)
        } catch {
            warn(.warning("\(error.message); this command is not in it"))
        }
    }

    /// Notes what this process is about to change in `directory`.
    ///
    /// - Throws: ``PipelineError`` when it cannot; then the change is not to be made, or nobody would know of it.
    static func noteChange(_ deeds: [AuditDeed], in directory: String) throws(PipelineError) {
        do throws(AuditError) {
            try AuditTrail(dataDirectory: directory).append(deeds)
        } catch {
            throw PipelineError(message: "\(error.message); nothing was changed", exitCode: ExitStatus.ioError)
        }
    }
}
