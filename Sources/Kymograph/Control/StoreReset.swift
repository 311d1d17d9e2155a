import GRDB
import Glibc
package import KymographCore

/// Takes the store out of a data directory, so that the next run begins with nothing. The directory is locked
/// meanwhile.
///
/// The files get second names in a folder that is a data directory itself; once that is durable, their own names go.
/// So whenever the process ends, one of the two has the whole store. The audit trail stays, and so does the list of
/// keys, of which the folder gets a copy: the trail is sealed with them, and what was moved needs them wherever it is.
package struct StoreReset {
    /// What a store has that nothing else may have.
    package struct Contents: Sendable {
        /// Readings in windows that are still open: no sink has seen them.
        package var openReadings = 0
        /// By sink, bundles that it has not taken; of a name that is empty, all that wait while no sink has taken any.
        package var waiting: [(sink: String, bundles: Int)] = []
        /// Dead letters that were not replayed.
        package var letters = 0
        /// Payloads as they came (`store.keepRaw`).
        package var payloads = 0
        /// Closed windows, by which late readings find what they amend.
        package var windows = 0

        /// Whether all of it has reached its sinks, and no letter waits.
        package var isDelivered: Bool { openReadings == 0 && waiting.isEmpty && letters == 0 }
    }

    /// The data directory.
    package let path: String
    /// What its store has; or why that cannot be told: it is damaged, of another version, or what a reset has left.
    package let contents: Result<Contents, PipelineError>
    private let directory: StoreDirectory

    /// The files of a store but for its keys, in the order in which they go. The mark goes first: a store does without,
    /// and a mark without its store would be taken for one that has lost everything. So would what repairs leave.
    private static let names = [
        "kymo.mark", "kymo.damaged", "kymo.sqlite.damaged", "kymo.sqlite.damaged-wal", "kymo.sqlite.damaged-shm",
        "kymo.sqlite.repair", "kymo.sqlite.repair-wal", "kymo.sqlite.repair-shm", "kymo.sqlite.repair-journal",
        "kymo.sqlite", "kymo.sqlite-wal", "kymo.sqlite-shm", "kymo.sqlite-journal",
    ]

    /// Looks at the store in `path`, which nothing else uses from here on. Changes nothing.
    ///
    /// - Throws: ``PipelineError`` when there is none, an instance uses it, it is another user's or needs its key.
    package init(_ path: String) throws(PipelineError) {
        self.path = path
        guard !StoreReset.files(in: path).isEmpty else {
            _ = try StoreReader(directory: path)
            throw PipelineError(message: "there is no store in \(path)", exitCode: ExitStatus.noInput)
        }
        try StoreReset.refuse(path)
        do throws(StoreError) {
            directory = try StoreDirectory(path, onlyLooks: true)
        } catch {
            guard error.kind == .inUse else { throw PipelineError(error) }
            throw PipelineError(
                message: "an instance uses \(path): stop it first, so that nothing comes in between",
                exitCode: ExitStatus.cannotCreate)
        }
        // To look changes nothing: a store that is moved aside needs no repair, and one that stays is as it was.
        contents = Result { () throws(PipelineError) in
            try StoreReader(directory: path, notesDamage: false).read { try Contents($0) }
        }
    }

    /// Refuses what would go wrong halfway.
    private static func refuse(_ path: String) throws(PipelineError) {
        // Its owner could put a link where something is about to be written.
        if geteuid() == 0, let owner = FileSystem.target(path)?.st_uid, owner != 0 {
            throw PipelineError(
                message: "\(path) belongs to the user \(owner): run this command as that user (sudo -u)",
                exitCode: ExitStatus.noPermission)
        }
        if FileSystem.status(StoreSealing.folder(in: path)) != nil {
            throw PipelineError(
                message: "the keys of the store in \(path) are being changed, or that was interrupted: give the same "
                    + "'kymo keys' command again, or start 'kymo run' once", exitCode: ExitStatus.config)
        }
        // Without the key, the audit trail could not note it.
        guard KeyList.exists(in: path) else { return }
        do throws(SealError) {
            _ = try Store.unlock(path, EncryptionSettings())
        } catch {
            throw PipelineError(StoreError(error))
        }
    }

    /// Moves the store into a new folder, whose path is given; or removes it (`isDeleting`), and gives nil.
    ///
    /// - Throws: ``PipelineError`` when it cannot be moved, or the audit trail cannot note it, and nothing is changed
    ///   then; or when not all of it could be removed from its place, which the message says.
    package func run(isDeleting: Bool, at now: Instant) throws(PipelineError) -> String? {
        directory.removeUnfinishedResets()
        let names = StoreReset.files(in: path)
        let folder = isDeleting ? nil : "\(path)/\(StoreDirectory.resetPrefix)\(StoreReset.stamp(now))"
        let what = (try? contents.get())?.audited ?? "what it had cannot be told"
        let done = isDeleting ? "'kymo reset' deletes the store" : "'kymo reset' moves the store aside"
        if let folder { try fill(folder, names) }
        do throws(PipelineError) {
            try AuditTrail.noteChange([AuditDeed(.reset, "\(done): \(what)")], in: path)
        } catch {
            if let folder { abandon(folder, names) }
            throw error
        }
        CrashPoint.resetLinked.pass()
        for name in names {
            let code = FileSystem.remove("\(path)/\(name)")
            guard code >= 0 || code == -ENOENT else { throw failure(code, "remove", name, folder) }
            if name == "kymo.sqlite" { CrashPoint.resetBegun.pass() }
        }
        do throws(StoreError) { try directory.synchronise() } catch { throw PipelineError(error) }
        return folder
    }

    /// Folders that earlier resets have made, and that nobody has removed.
    package var earlier: [String] {
        FileSystem.names(in: path).filter { $0.hasPrefix(StoreDirectory.resetPrefix) }.sorted()
    }

    /// What belongs to the store in `path`, by name.
    private static func files(in path: String) -> [String] {
        names.filter { FileSystem.status("\(path)/\($0)") != nil }
    }

    /// Names of what is in the folder of a reset, but for the copy of the keys.
    package static func moved(in folder: String) -> [String] { files(in: folder) }

    /// Makes `folder`, and durable in it second names of the files and a copy of the keys.
    private func fill(_ folder: String, _ names: [String]) throws(PipelineError) {
        var code = FileSystem.createDirectory(folder, mode: 0o700)
        guard code >= 0 else { throw failure(code, "create", folder, nil) }
        for name in names {
            let isFile = FileSystem.status("\(path)/\(name)").map { $0.st_mode & S_IFMT == S_IFREG } ?? false
            code = isFile ? FileSystem.link("\(path)/\(name)", to: "\(folder)/\(name)") : -ELOOP
            guard code >= 0 else {
                abandon(folder, names)
                throw failure(code, "link", name, nil)
            }
        }
        code = copyKeys(to: folder)
        if code >= 0 { code = FileSystem.synchronise(folder: folder) }
        if code >= 0 { code = FileSystem.synchronise(folder: path) }
        guard code >= 0 else {
            abandon(folder, names)
            throw failure(code, "write", folder, nil)
        }
    }

    /// Copies the list of keys, if there is one; a negative number of the system's error when that fails.
    private func copyKeys(to folder: String) -> Int32 {
        guard KeyList.exists(in: path) else { return 0 }
        let raw = FileSystem.open(KeyList.path(in: path), O_RDONLY | O_NOFOLLOW)
        guard raw >= 0 else { return raw }
        let list = Descriptor(raw)
        guard let keys = FileSystem.read(list.raw, limit: 1 << 20) else { return -errno }
        let new = FileSystem.open(KeyList.path(in: folder), O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        guard new >= 0 else { return new }
        let copy = Descriptor(new)
        let count = keys.withByteView { FileSystem.writeAll(copy.raw, $0) }
        guard count == keys.count else { return count < 0 ? Int32(count) : -ENOSPC }
        return fsync(copy.raw) == 0 ? 0 : -errno
    }

    /// Removes a folder whose files are all in their place, too.
    private func abandon(_ folder: String, _ names: [String]) {
        for name in names + [KeyList.name] { FileSystem.remove("\(folder)/\(name)") }
        FileSystem.removeDirectory(folder)
    }

    private func failure(_ code: Int32, _ action: String, _ file: String, _ folder: String?) -> PipelineError {
        let rest = folder.map { "; all of the store is in \($0), and the command given again removes the rest" }
        return PipelineError(
            message: "cannot \(action) \(file): \(ErrorText.of(-code))\(rest ?? "; nothing was changed")",
            exitCode: folder == nil ? ExitStatus.cannotCreate : ExitStatus.ioError)
    }

    /// `20261129T101500Z`.
    private static func stamp(_ now: Instant) -> String {
        let seconds = Instant(nanoseconds: now.nanoseconds / 1_000_000_000 * 1_000_000_000)
        return seconds.text.filter { $0 != "-" && $0 != ":" }
    }
}

extension StoreReset.Contents {
    /// Reads what the database says.
    fileprivate init(_ db: Database) throws {
        func count(_ sql: String) throws -> Int { try Int.fetchOne(db, sql: sql) ?? 0 }
        openReadings = try LedgerTotals(db).balance.open
        letters = try count("SELECT count(*) - count(replayed) FROM dead")
        payloads = try count("SELECT coalesce(sum(payloads), 0) FROM raw")
        windows = try count("SELECT count(*) FROM window")
        waiting = try StoreReset.Contents.waiting(db)
    }

    /// What each sink has not taken that has progress, or is named in the outbox. Bundles that are for whoever comes
    /// wait for none while there is none.
    private static func waiting(_ db: Database) throws -> [(sink: String, bundles: Int)] {
        var sinks = try Row.fetchAll(db, sql: "SELECT name, through FROM sink").map {
            (name: $0[0] as String, through: $0[1] as Int64)
        }
        let named = try String.fetchAll(db, sql: "SELECT DISTINCT sinks FROM outbox WHERE sinks IS NOT NULL")
        for name in named.flatMap({ $0.split(separator: "\n") }) where !name.hasPrefix(OutboxRow.givenUp) {
            if !sinks.contains(where: { $0.name == name }) { sinks.append((String(name), 0)) }
        }
        let bundles = try Int.fetchOne(db, sql: "SELECT count(*) FROM outbox") ?? 0
        guard !sinks.isEmpty else { return bundles > 0 ? [("", bundles)] : [] }
        return try sinks.sorted { $0.name < $1.name }.compactMap { name, through in
            let bundles = try OutboxRow.waiting(for: name, after: through, db)
            return bundles > 0 ? (name, bundles) : nil
        }
    }

    /// The same without names: for the audit trail.
    fileprivate var audited: String {
        let bundles = waiting.map(\.bundles).reduce(0, +)
        return [
            "\(CountText.of(openReadings, "reading")) of open windows", CountText.of(bundles, "undelivered bundle"),
            CountText.of(letters, "dead letter"), CountText.of(payloads, "kept payload"),
            CountText.of(windows, "closed window"),
        ].joined(separator: ", ")
    }
}
