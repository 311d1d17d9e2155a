import Glibc
import KymographCore
import KymographTemplates

/// Both files of a mapping in use, mended in a browser: checked with all others, its examples run, and put in the place
/// of the files that the browser had. What is not good is not written.
struct MappingSaving {
    /// Request body of `POST mappings/save`.
    struct Asked: Decodable {
        var name: String
        var deviceText: String
        var fhirText: String
        /// SHA-256 of the files that the texts were made from, in hexadecimal.
        var deviceDigest: String
        var fhirDigest: String
    }

    /// Outcome of a save.
    struct Outcome: Encodable {
        /// Whether the files are written.
        var isSaved: Bool
        /// Whether readings are mapped by them now; absent when that takes longer than the answer may.
        var isInUse: Bool?
        /// What is wrong, or doubtful, as `kymo check` says it.
        var findings: [String]
        /// Examples that give something else than they expect.
        var failures: [ConsoleActions.Example]
        /// Of the files as they are now.
        var deviceDigest: String
        var fhirDigest: String
    }

    private let subject: ConsoleSubject
    private let session: ConsoleSessions.Session
    /// The mapping as its files are now.
    private let former: MappingFiles

    /// To save `reference`, which a source uses.
    init(
        _ reference: MappingReference, _ subject: ConsoleSubject, _ session: ConsoleSessions.Session
    ) throws(ConsoleRefusal) {
        (self.subject, self.session) = (subject, session)
        guard subject.settings.console.edits else {
            throw ConsoleRefusal(403, "notEdited", "mappings are not saved in this console: set console.edit to true")
        }
        guard !reference.watchedFiles.isEmpty else {
            throw ConsoleRefusal(
                409, "ofCatalogue",
                "this mapping is compiled into kymo: copy it with 'kymo mappings export', and name the copy in the "
                    + "configuration")
        }
        do throws(MappingFilesError) { former = try reference.files() } catch {
            throw ConsoleRefusal(503, "unreadable", error.description)
        }
        try checkFiles(besides: reference)
    }

    /// Refuses files that hold more than this mapping: exports of Azure, of which the templates are a part, and files
    /// of several mappings, of which only one would be checked.
    private func checkFiles(besides reference: MappingReference) throws(ConsoleRefusal) {
        for (path, bytes) in [(former.deviceFile, former.device), (former.fhirFile, former.fhir)]
        where (try? MappingFiles.read(path)) != bytes {
            throw ConsoleRefusal(409, "export", "\(path) holds more than these templates: edit that file itself")
        }
        let settings = subject.settings
        let others = settings.listeningSources.flatMap { settings.references(of: $0) }.filter { $0 != reference }
        let theirs = Set(others.flatMap(\.watchedFiles).compactMap(Self.place))
        let own = [former.deviceFile, former.fhirFile].compactMap(Self.place)
        guard Set(own).count == 2, theirs.isDisjoint(with: own) else {
            throw ConsoleRefusal(
                409, "shared",
                "a file of this mapping is also one of another mapping in use, or has both parts: edit "
                    + "that file itself")
        }
    }

    /// Which file `path` leads to.
    private static func place(_ path: String) -> [UInt64]? {
        FileSystem.target(path).map { [UInt64($0.st_dev), UInt64($0.st_ino)] }
    }

    /// Saves what was asked for.
    func save(_ asked: Asked) throws(ConsoleRefusal) -> Outcome {
        guard asked.deviceDigest == Digest256.hex(of: former.device), asked.fhirDigest == Digest256.hex(of: former.fhir)
        else {
            throw ConsoleRefusal(
                409, "changed",
                "the files have changed since they were opened here, and nothing was saved: choose the mapping again")
        }
        var next = former
        next.device = try Self.content(asked.deviceText, former.device, former.deviceFile)
        next.fhir = try Self.content(asked.fhirText, former.fhir, former.fhirFile)
        let (isTaken, findings) = subject.mappingChanges?.check(next) ?? (false, [])
        var outcome = Outcome(
            isSaved: false, findings: findings.map(\.text), failures: [], deviceDigest: asked.deviceDigest,
            fhirDigest: asked.fhirDigest)
        guard isTaken, let trial = subject.actions.trial else { return outcome }
        let tested = trial(next)
        outcome.failures = tested.examples.filter { !$0.differences.isEmpty }
        // A mapping that is good only beside others has examples that cannot be run.
        guard tested.examples.count == next.examples.count else {
            outcome.findings += tested.findings
            return outcome
        }
        guard outcome.failures.isEmpty else { return outcome }
        try write(next)
        outcome.isSaved = true
        (outcome.deviceDigest, outcome.fhirDigest) = (Digest256.hex(of: next.device), Digest256.hex(of: next.fhir))
        outcome.isInUse = subject.mappingChanges?.reload("console: \(next.name) was saved")
        return outcome
    }

    /// Both files are written before one takes its place, so that a full disk changes none.
    private func write(_ next: MappingFiles) throws(ConsoleRefusal) {
        var replacements: [FileReplacement] = []
        do throws(SystemError) {
            if next.device != former.device { replacements.append(try .init(of: next.deviceFile, next.device)) }
            if next.fhir != former.fhir { replacements.append(try .init(of: next.fhirFile, next.fhir)) }
            guard !replacements.isEmpty else { return }
            // Before anything changes.
            subject.audit(.consoleSave, session, "saves the mapping \(next.name): \(Self.changes(former, next))")
        } catch {
            for replacement in replacements { replacement.abandon() }
            throw refusal(error)
        }
        try commit(replacements)
    }

    /// Puts the files in their places; when one cannot be, the others get their former content back.
    private func commit(_ replacements: [FileReplacement]) throws(ConsoleRefusal) {
        var done: [FileReplacement] = []
        do throws(SystemError) {
            for replacement in replacements {
                guard (try? MappingFiles.read(replacement.path)) == content(of: replacement.path) else {
                    throw SystemError(ESTALE, "replace", replacement.path)
                }
                // It may have taken the place although it fails, such as when that is not durable.
                done.append(replacement)
                try replacement.commit()
            }
        } catch {
            for replacement in replacements { replacement.abandon() }
            for replacement in done {
                try? FileReplacement(of: replacement.path, content(of: replacement.path)).commit()
            }
            subject.audit(.consoleSave, session, "could not save the mapping \(former.name): \(error.message)")
            throw refusal(error)
        }
    }

    /// What the file at `path` had when it was checked.
    private func content(of path: String) -> [UInt8] { path == former.deviceFile ? former.device : former.fhir }

    private func refusal(_ error: SystemError) -> ConsoleRefusal {
        let advice =
            switch error.code {
            case EROFS: "; name its folder in ReadWritePaths= of the unit"
            case EACCES, EPERM: "; the folder must belong to the user of the instance"
            case ELOOP, EMLINK: "; it is a link, which something else manages: edit it there"
            case ESTALE: "; the file has changed meanwhile: open it again"
            default: ""
            }
        return ConsoleRefusal(503, "unwritable", error.message + advice)
    }

    /// Which files become which, by their digests.
    private static func changes(_ former: MappingFiles, _ next: MappingFiles) -> String {
        [(next.deviceFile, former.device, next.device), (next.fhirFile, former.fhir, next.fhir)]
            .filter { $0.1 != $0.2 }
            .map { "\($0.0) sha256 \(Digest256.hex(of: $0.1)) is now \(Digest256.hex(of: $0.2))" }
            .joined(separator: ", ")
    }

    /// The bytes of `text`. Browsers give lines without carriage returns: those that `former` has are put back, so that
    /// a file that nobody has changed stays as it is.
    private static func content(
        _ text: String, _ former: [UInt8], _ path: String
    ) throws(ConsoleRefusal) -> [UInt8] {
        guard String(validating: former, as: UTF8.self) != nil else {
            throw ConsoleRefusal(409, "notUTF8", "\(path) is not UTF-8: edit that file itself")
        }
        let bytes = Array(text.utf8).filter { $0 != 0x0D }
        guard former.contains(0x0D) else { return bytes }
        guard bytes != former.filter({ $0 != 0x0D }) else { return former }
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        return Array(lines.joined(separator: [0x0D, 0x0A]))
    }
}
