import CommandSupport
import FoundationEssentials
import Glibc
import KymographCore
import KymographTemplates
import Synchronization
import Testing

@testable import Kymograph

/// What is written of a mapping that is saved, and what is not.
@Suite struct MappingSavingTests {
    private typealias Files = CommandSupport.Files
    private let folder = TemporaryFolder()
    private let deeds = Deeds()
    private let session: ConsoleSessions.Session
    private var name: String { folder.file("mine") + "/" }

    /// What was written to the log.
    private final class Deeds: Sendable {
        let entries = Mutex<[LogEntry]>([])
    }

    private let device = """
        {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":{"typeName":"pulse",
        "typeMatchExpression":"$..[?(@pulse)]","deviceIdExpression":"$.device","timestampExpression":"$.time",
        "values":[{"required":true,"valueExpression":"$.pulse","valueName":"pulse"}]}}]}
        """
    private let fhir = """
        {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{"typeName":"pulse",
        "codes":[{"system":"http://loinc.org","code":"8867-4"}],
        "value":{"valueType":"Quantity","valueName":"pulse","unit":"/min","code":"/min"}}}]}
        """

    init() throws {
        let sessions = ConsoleSessions()
        session = try sessions.open(sessions.issue(.edit).code).session
        folder.write("mine/device.json", device)
        folder.write("mine/fhir.json", fhir)
    }

    private func subject(edits: Bool = true, isTaken: Bool = true, besides other: String? = nil) -> ConsoleSubject {
        var settings = PipelineSettings()
        settings.console.edits = edits
        settings.mappings = [name] + (other.map { [$0] } ?? [])
        settings.sources = [PipelineSettings.Source(.standardInput(descriptor: 0))]
        var actions = ConsoleActions()
        actions.trial = { _ in ConsoleActions.Tested(findings: [], examples: []) }
        return ConsoleSubject(
            directory: "/nowhere", present: { [settings] in settings }, started: WallClock.now(),
            view: InstanceView(facts: { InstanceFacts() }, stored: { nil }, disks: { [] }),
            seen: { InstanceWatch.Seen() }, actions: actions,
            mappingChanges: MappingChanges(check: { _ in (isTaken, []) }, reload: { _ in true }),
            notes: { [deeds] entry in deeds.entries.withLock { $0.append(entry) } })
    }

    private func save(
        _ deviceText: String, _ subject: ConsoleSubject, digest: String? = nil, mapping: String? = nil
    ) throws(ConsoleRefusal) -> MappingSaving.Outcome {
        return try MappingSaving(.named(mapping ?? name), subject, session).save(
            MappingSaving.Asked(
                name: mapping ?? name, deviceText: deviceText, fhirText: fhir,
                deviceDigest: digest ?? Digest256.hex(of: Files.read(folder.file("mine/device.json"))),
                fhirDigest: Digest256.hex(of: Array(fhir.utf8))))
    }

    private func refusal(_ body: () throws(ConsoleRefusal) -> MappingSaving.Outcome) -> String {
        do throws(ConsoleRefusal) {
            _ = try body()
            return "none"
        } catch {
            return error.code
        }
    }

    private var content: String { Files.text(folder.file("mine/device.json")) }

    @Test func modeStaysAndTheOtherFileIsLeftAlone() throws {
        let path = folder.file("mine/device.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        let before = FileSystem.status(folder.file("mine/fhir.json"))?.st_ino
        let outcome = try save(device + "\n", subject())
        #expect(outcome.isSaved && outcome.isInUse == true && content == device + "\n")
        #expect(FileSystem.status(path).map { $0.st_mode & 0o777 } == 0o640)
        #expect(FileSystem.status(folder.file("mine/fhir.json"))?.st_ino == before)
        #expect(outcome.deviceDigest == Digest256.hex(of: Array((device + "\n").utf8)))
        let said = deeds.entries.withLock { $0.map(\.text) }
        #expect(said.count == 1 && said[0].contains(outcome.deviceDigest) && !said[0].contains("fhir.json"), "\(said)")
    }

    /// Of an export the templates are a part, and the rest of it would go.
    @Test func exportsAreLeftAlone() throws {
        folder.write("mine/device.json", "{\"name\":\"hub\",\"properties\":\(device)}")
        let refused = refusal { () throws(ConsoleRefusal) in try save(device, subject()) }
        #expect(refused == "export")
        #expect(content.contains("hub"))
    }

    /// The check would see the new text in one of them alone.
    @Test func filesOfSeveralMappingsAreLeftAlone() throws {
        let refused = refusal { () throws(ConsoleRefusal) in
            try save(device + "\n", subject(besides: folder.file(".") + "/mine/"))
        }
        #expect(refused == "shared" && content == device)
    }

    @Test func whatChangesMeanwhileIsNotOverwritten() throws {
        var subject = subject()
        let theirs = device + "\n\n"
        subject.actions.trial = { [folder] _ in
            folder.write("mine/device.json", theirs)
            return ConsoleActions.Tested(findings: [], examples: [])
        }
        #expect(refusal { () throws(ConsoleRefusal) in try save(device + "\n", subject) } == "unwritable")
        #expect(content == theirs)
    }

    /// Good only beside others: its examples say nothing.
    @Test func examplesThatCannotBeRunAreNoPass() throws {
        folder.write("mine/examples/one.in.json", "{}")
        folder.write("mine/examples/one.out.json", "{}")
        let outcome = try save(device + "\n", subject())
        #expect(!outcome.isSaved && content == device)
    }

    /// A browser gives lines without carriage returns.
    @Test func carriageReturnsStay() throws {
        let lines = device.replacing("\n", with: "\r\n")
        folder.write("mine/device.json", lines)
        #expect(try save(device, subject()).isSaved && content == lines)
        #expect(deeds.entries.withLock { $0.isEmpty }, "nothing has changed")
        #expect(try save(device + "\n", subject()).isSaved && content == lines + "\r\n")
    }

    @Test func whatIsNotGoodIsNotWritten() throws {
        let outcome = try save("{}", subject(isTaken: false))
        #expect(!outcome.isSaved && content == device)
        var failing = subject()
        folder.write("mine/examples/one.in.json", "{}")
        folder.write("mine/examples/one.out.json", "{}")
        failing.actions.trial = { _ in
            ConsoleActions.Tested(findings: [], examples: [.init(name: "one", differences: ["other"])])
        }
        #expect(try save(device + "\n", failing).failures.count == 1 && content == device)
        #expect(deeds.entries.withLock { $0.isEmpty })
    }

    @Test func refusals() throws {
        let subject = subject()
        #expect(refusal { () throws(ConsoleRefusal) in try save("x", self.subject(edits: false)) } == "notEdited")
        #expect(refusal { () throws(ConsoleRefusal) in try save("x", subject, mapping: "reading") } == "ofCatalogue")
        #expect(refusal { () throws(ConsoleRefusal) in try save("x", subject, digest: "0") } == "changed")
        #expect(content == device)
        // A link is managed by somebody else, whichever it is.
        try FileManager.default.linkItem(atPath: folder.file("mine/device.json"), toPath: folder.file("other.json"))
        #expect(refusal { () throws(ConsoleRefusal) in try save("x", subject) } == "unwritable")
        folder.write("theirs.json", device)
        try FileManager.default.removeItem(atPath: folder.file("mine/device.json"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("mine/device.json"), withDestinationPath: folder.file("theirs.json"))
        #expect(refusal { () throws(ConsoleRefusal) in try save("x", subject) } == "unwritable")
        #expect(Files.text(folder.file("theirs.json")) == device)
        #expect(FileSystem.names(in: folder.file("mine")).filter { $0.contains("kymo-") }.isEmpty)
    }
}
