import GRDB
import Glibc
package import KymographCore

/// Takes the store out of a data directory, so that the next run begins with nothing. The directory is locked
/// meanwhile.
///
/// What belongs together is renamed into a folder that is a data directory itself: commands read it there, and it can
/// be renamed back. The audit trail stays, and so does the list of keys, of which the folder gets a copy: the trail is
/// sealed with them, and what was moved needs them wherever it is.
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
    /// What its store has; or why that cannot be told, when it is damaged.
    package let contents: Result<Contents, PipelineError>
    private let directory: StoreDirectory

    /// Looks at the store in `path`, which nothing else uses from here on.
    ///
    /// - Throws: ``PipelineError`` when there is none, an instance uses it, or it needs a key or another version.
    package init(_ path: String) throws(PipelineError) {
        self.path = path
        guard StoreDirectory.hasStore(in: path) else {
            _ = try StoreReader(directory: path)
            throw PipelineError(message: "there is no store in \(path)", exitCode: ExitStatus.noInput)
        }
        do throws(StoreError) {
            directory = try StoreDirectory(path)
        } catch {
            guard error.kind == .inUse else { throw PipelineError(error) }
            throw PipelineError(
                message: "an instance uses \(path): stop it first, so that nothing comes in between",
                exitCode: ExitStatus.cannotCreate)
        }
        contents = Result { () throws(PipelineError) in
            try StoreReader(directory: path).read { try Contents($0) }
        }
        // Without the key, the audit trail could not note it; and what another version can read is no case for this.
        if case .failure(let error) = contents, error.exitCode == ExitStatus.config { throw error }
    }

    /// Moves the store into a new folder, whose path is given; or removes it (`isDeleting`), and gives nil.
    ///
    /// - Throws: ``PipelineError`` when the audit trail cannot note it, and nothing is changed then; or when not all of
    ///   it could be moved, which the message says.
    package func run(isDeleting: Bool, at now: Instant) throws(PipelineError) -> String? {
        let names = files
        let folder = isDeleting ? nil : "\(path)/reset-\(StoreReset.stamp(now))"
        let what = (try? contents.get())?.audited ?? "what it had cannot be told"
        let done = isDeleting ? "'kymo reset' deletes the store" : "'kymo reset' moves the store aside"
        if let folder { try make(folder) }
        do throws(PipelineError) {
            try AuditTrail.noteChange([AuditDeed(.reset, "\(done): \(what)")], in: path)
        } catch {
            if let folder { abandon(folder) }
            throw error
        }
        for name in names {
            let file = "\(path)/\(name)"
            let code = folder.map { FileSystem.rename(file, to: "\($0)/\(name)") } ?? FileSystem.remove(file)
            guard code >= 0 || code == -ENOENT else { throw failure(code, file, folder) }
        }
        if let folder {
            let code = FileSystem.synchronise(folder: folder)
            guard code >= 0 else { throw failure(code, folder, folder) }
        }
        do throws(StoreError) { try directory.synchronise() } catch { throw PipelineError(error) }
        return folder
    }

    /// What belongs to the store besides its keys. The mark goes last: as long as it is there, a start says what is
    /// missing, so that a reset that was interrupted between two files is told of.
    private var files: [String] {
        let names = FileSystem.names(in: path).filter { $0.hasPrefix("kymo.sqlite") || $0 == "kymo.damaged" }.sorted()
        return names + (FileSystem.target("\(path)/kymo.mark") == nil ? [] : ["kymo.mark"])
    }

    /// Names of what is in the folder of a reset, but for the copy of the keys.
    package static func moved(in folder: String) -> [String] {
        FileSystem.names(in: folder).filter { $0.hasPrefix("kymo.") && $0 != KeyList.name }.sorted()
    }

    private func make(_ folder: String) throws(PipelineError) {
        let code = FileSystem.createDirectory(folder, mode: 0o700)
        guard code >= 0 else {
            throw PipelineError(
                message: "cannot create \(folder): \(ErrorText.of(-code)); nothing was changed",
                exitCode: ExitStatus.cannotCreate)
        }
        guard let keys = FileSystem.content(KeyList.path(in: path)) else { return }
        let raw = FileSystem.open(KeyList.path(in: folder), O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        guard raw >= 0 else { throw failure(raw, KeyList.path(in: folder), nil) }
        let copy = Descriptor(raw)
        let count = keys.withByteView { FileSystem.write(copy.raw, $0) }
        guard count == keys.count, fsync(copy.raw) == 0 else {
            throw failure(count < 0 ? Int32(count) : -EIO, KeyList.path(in: folder), nil)
        }
    }

    /// Removes a folder in which nothing is but a copy of the keys.
    private func abandon(_ folder: String) {
        FileSystem.remove(KeyList.path(in: folder))
        FileSystem.removeDirectory(folder)
    }

    private func failure(_ code: Int32, _ file: String, _ folder: String?) -> PipelineError {
        let rest = folder.map { "; what was moved before it is in \($0): give the command again for the rest" } ?? ""
        return PipelineError(
            message: "cannot write \(file): \(ErrorText.of(-code))\(rest)", exitCode: ExitStatus.ioError)
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
        return "\(openReadings) readings of open windows, \(bundles) undelivered bundles, \(letters) dead letters, "
            + "\(payloads) kept payloads, \(windows) closed windows"
    }
}
