import Glibc
import Synchronization

/// Places where a test can have the process killed, as a power cut would: `KYMO_CRASH_POINT=before-commit:3` sends
/// SIGKILL to the process when it comes to this place for the third time. Without the variable a place costs one
/// comparison.
enum CrashPoint: String, CaseIterable, Sendable {
    /// A transaction is about to begin.
    case beforeWrite = "before-write"
    /// Everything is written, and nothing is committed.
    case beforeCommit = "before-commit"
    /// The transaction is durable, and nobody knows.
    case afterCommit = "after-commit"
    /// A bundle is about to go to a sink.
    case beforeSend = "before-send"
    /// A sink has taken a bundle, and nobody knows.
    case afterSend = "after-send"
    /// What a sink has taken is about to be noted.
    case beforeReceipt = "before-receipt"
    /// Receipts are in their file, and the store does not know.
    case receiptsWritten = "receipts-written"
    /// The journal is about to be trimmed.
    case beforeTrim = "before-trim"
    /// The journal has been trimmed, and it is not committed.
    case afterTrim = "after-trim"
    /// What an earlier version has left is about to be migrated.
    case beforeMigration = "before-migration"
    /// A row of it is about to be migrated.
    case duringMigration = "during-migration"
    /// All of it is migrated, and it is not committed.
    case afterMigration = "after-migration"
    /// A step of the migration of tables is about to be made.
    case duringTables = "during-tables"
    /// All tables are made, and it is not committed.
    case afterTables = "after-tables"
    /// The migration is durable, and nothing else is done.
    case migrated = "migrated"
    /// A list of data keys is durable, and not in its place.
    case keysWritten = "keys-written"
    /// A list of data keys is in its place.
    case keysReplaced = "keys-replaced"
    /// The folder is there in which a store is sealed anew, and its keys.
    case sealingBegun = "sealing-begun"
    /// The sealed copy is written, and not durable.
    case sealingCopied = "sealing-copied"
    /// It is durable, and nothing refers to it.
    case sealingDurable = "sealing-durable"
    /// Its keys are those of the store, and it is not the store's database.
    case sealingKeyed = "sealing-keyed"
    /// It is, and the folder is still there.
    case sealingPlaced = "sealing-placed"
    /// The folder of a reset is complete, and the store still in its place.
    case resetLinked = "reset-linked"
    /// A file of the store has left its place, and others have not.
    case resetBegun = "reset-begun"

    private static let wanted: (point: CrashPoint, passes: Int)? = {
        guard let value = unsafe getenv("KYMO_CRASH_POINT") else { return nil }
        let parts = unsafe String(cString: value).split(separator: ":")
        guard let point = parts.first.flatMap({ CrashPoint(rawValue: String($0)) }) else { return nil }
        return (point, parts.count > 1 ? Int(parts[1]) ?? 1 : 1)
    }()

    private static let passes = Atomic<Int>(0)

    /// Ends the process here if it is wanted.
    func pass() {
        guard let wanted = CrashPoint.wanted, wanted.point == self else { return }
        if CrashPoint.passes.add(1, ordering: .relaxed).newValue == wanted.passes { kill(getpid(), SIGKILL) }
    }
}
