import GRDB

/// Why a store cannot be opened or go on.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong.
    package enum Kind: Hashable, Sendable {
        /// The directory or its files cannot be made or used.
        case unusable
        /// The process may not write there.
        case permission
        /// Another process uses the directory.
        case inUse
        /// The data were written by a newer version.
        case tooNew
        /// The data were written by an earlier version, and whoever wants them only reads.
        case tooOld
        /// The disk, the quota or the store's own limit is reached: it may be tried again.
        case full
        /// Another program writes to the database, or keeps it from being written: it may be tried again.
        case locked
        /// What was written may not be on the disk, and trying again would prove nothing: the process must end.
        case syncFailed
        /// What was written cannot be read back: the process must end, and the next start repairs.
        case damaged
        /// The store is encrypted, and its key is not at hand; or a key is, and it is not.
        case sealed
        /// The mappings do not fit what is stored.
        case mappings

        /// Whether what failed may be tried again: nothing is wrong with the store.
        var mayPass: Bool { self == .full || self == .locked }
    }

    /// What went wrong.
    package var kind: Kind
    /// What could not be done, why, and what to do.
    package var message: String

    /// An error.
    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The error for `error` of the keys of a store, of which `kind` says what follows.
    init(_ error: SealError, _ kind: Kind = .sealed) { self.init(error.isOfDisk ? .full : kind, error.message) }

    /// SQLITE_IOERR_DATA: a page has another checksum than it was written with.
    private static let wrongChecksum = ResultCode(rawValue: 10 | 32 << 8)

    /// The error for a failure of SQLite while doing `action` to the store in `directory`.
    init(_ error: any Error, _ action: String, _ directory: String) {
        guard let error = error as? DatabaseError ?? (error as? SalvageFailure)?.error else {
            // What a row holds is not what the tables say.
            self.init(.damaged, "cannot \(action) the store in \(directory): \(error); the next start repairs it")
            return
        }
        let reason = error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
        let text = "cannot \(action) the store in \(directory): \(reason)"
        switch error.extendedResultCode {
        case .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC:
            self.init(.syncFailed, text + "; the disk failed to make data durable: check it before starting again")
        case .SQLITE_IOERR_WRITE, .SQLITE_IOERR_SHMSIZE: self.init(.full, text + "; make room")
        case .SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ, StoreError.wrongChecksum, .SQLITE_IOERR_CORRUPTFS:
            self.init(.damaged, text + "; the next start repairs it")
        default:
            switch error.resultCode {
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: self.init(.damaged, text + "; the next start repairs it")
            case .SQLITE_BUSY: self.init(.locked, text + "; another program keeps it from being written: end that")
            case .SQLITE_FULL: self.init(.full, text + "; make room")
            case .SQLITE_AUTH:
                // Only sealed pages give it (`sealed_lacks_key`): no damage.
                self.init(
                    .sealed,
                    "cannot \(action) the store in \(directory): it needs a data key that "
                        + "\(KeyList.path(in: directory)) lacks: put back the newest copy of that list; or, if it was "
                        + "just changed, try again")
            case .SQLITE_READONLY, .SQLITE_PERM:
                self.init(.permission, text + "; change its permissions or choose another with --data")
            default: self.init(.unusable, text)
            }
        }
    }

    /// The message.
    package var description: String { message }
}

extension PipelineError {
    init(_ error: StoreError) {
        message = error.message
        exitCode =
            switch error.kind {
            case .permission: ExitStatus.noPermission
            case .inUse, .unusable, .full, .locked: ExitStatus.cannotCreate
            case .tooNew, .tooOld, .sealed, .mappings: ExitStatus.config
            case .syncFailed, .damaged: ExitStatus.ioError
            }
    }
}
