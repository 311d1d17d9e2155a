import KymographCore
import KymographTemplates

/// Both files of a mapping in use, mended in a browser: checked with all others, its examples run, and put in the place
/// of the files that the browser had. What is not good is not written.
struct MappingSaving {
    /// What a page sends.
    struct Asked: Decodable {
        var name: String
        var deviceText: String
        var fhirText: String
        /// SHA-256 of the files that the texts were made from, in hexadecimal.
        var deviceDigest: String
        var fhirDigest: String
    }

    /// What became of it.
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

    let subject: ConsoleSubject
    let session: ConsoleSessions.Session
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
        guard former.deviceFile != former.fhirFile else {
            throw ConsoleRefusal(409, "oneFile", "both parts of this mapping are in one file: edit that file itself")
        }
    }

    /// Saves what was asked for.
    func save(_ asked: Asked) throws(ConsoleRefusal) -> Outcome {
        guard asked.deviceDigest == Self.digest(former.device), asked.fhirDigest == Self.digest(former.fhir) else {
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
        outcome.failures = trial(next).examples.filter { !$0.differences.isEmpty }
        guard outcome.failures.isEmpty else { return outcome }
        try write(next)
        outcome.isSaved = true
        (outcome.deviceDigest, outcome.fhirDigest) = (Self.digest(next.device), Self.digest(next.fhir))
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
            for replacement in replacements { try replacement.commit() }
        } catch {
            for replacement in replacements { replacement.abandon() }
            throw ConsoleRefusal(
                503, "unwritable",
                error.message + "; the instance must be allowed to write there (ReadWritePaths= of its unit)")
        }
    }

    /// Which files become which, by their digests.
    private static func changes(_ former: MappingFiles, _ next: MappingFiles) -> String {
        [(next.deviceFile, former.device, next.device), (next.fhirFile, former.fhir, next.fhir)]
            .filter { $0.1 != $0.2 }
            .map { "\($0.0) sha256 \(digest($0.1)) is now \(digest($0.2))" }
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

    /// SHA-256 of `bytes` in hexadecimal.
    static func digest(_ bytes: [UInt8]) -> String {
        var writer = ByteWriter(capacity: 64)
        writer.appendHex(bytes.withByteView { Digest256.openSSL.of($0) })
        return writer.view.string
    }
}
