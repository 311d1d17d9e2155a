package import KymographCore
package import KymographTemplates
import Synchronization

/// Maps payloads by mappings that somebody is writing, and says why (docs/explain.md). It touches no pipeline: what is
/// given to it is read, mapped and forgotten, on a thread of its own and of the lowest priority.
///
/// Limits: a payload of 64 KiB, two mapping files of 256 KiB, 4 requests a second, and three seconds each, in which
/// requests wait for each other. Whoever asks is never kept waiting longer: the explanation ends then, and what maps is
/// bounded by the work that a payload may give (patterns run in linear time, expressions have caps on steps, templates
/// times values of the payload are few, and so are the bytes that matches may have to be copied into). While work whose
/// time is over goes on, everybody is told so. Of readings and of rejections, 2,000 are kept.
package final class Playground: Sendable {
    /// What is to be tried.
    package struct Request: Sendable {
        /// The payload's bytes.
        package var payload: [UInt8] = []
        /// Content of `device.json`, or of a resource of the MedTech service that holds a device mapping.
        package var device: [UInt8] = []
        /// Content of `fhir.json`, or of a resource of the MedTech service that holds a FHIR mapping.
        package var fhir: [UInt8] = []
        /// What messages call the mapping.
        package var name = "mapping"
        /// Whose rules apply.
        package var compatibility = Compatibility.none
        /// The version of FHIR that is written.
        package var fhirVersion = FHIRVersion.r4
        /// The device and patient of payloads that name none, and the time zone of times without an offset.
        package var context = SourceContext()

        /// Nothing.
        package init() {}
    }

    /// What came out.
    package struct Answer: Sendable {
        /// What `kymo map --explain --format json` writes of it, byte by byte; nil when the mapping cannot be used.
        package var document: [UInt8]?
        /// What is wrong with the mapping, or doubtful.
        package var findings: [Diagnostic]
    }

    /// Why there is no answer.
    package enum Refusal: Error, Equatable {
        /// A part of the request is larger than this many bytes.
        case tooLarge(part: String, most: Int)
        /// There were too many requests; one is taken after this many milliseconds.
        case tooMany(milliseconds: Int)
        /// The mapping took more than ``Playground/time`` for the payload.
        case tooSlow
        /// As many requests as may be wait already, or this one has waited for so long.
        case busy
        /// A mapping that takes longer is at work still.
        case slow
        /// The system gave no event for waiting.
        case unavailable
    }

    /// Bytes of a payload at most.
    package static let mostPayload = 64 << 10
    /// Bytes of each mapping file at most.
    package static let mostMapping = 256 << 10
    /// Requests a second.
    package static let rate = 4
    /// What one may take. Its thread has the lowest priority: on a busy machine even a small mapping needs a second.
    package static let time = Duration.seconds(3)
    /// Readings, and rejections, of an answer.
    static let mostReadings = 2_000
    /// Templates of a mapping, times values of a payload.
    static let mostWork = 400_000
    /// Bytes that matches are copied into for expressions that look at the whole payload.
    static let mostCopied = 2 << 30

    private let bucket = Mutex(PlaygroundRate(Playground.rate))
    /// Made when it is first needed.
    private let queue = Mutex<PlaygroundQueue?>(nil)
    /// Stands in for the work in tests of what is slow.
    private let work: @Sendable (Request, ContinuousClock.Instant) -> Answer

    /// What one request may take.
    private let limit: Duration

    /// Makes a playground whose requests may take `limit` each.
    package convenience init(within limit: Duration = Playground.time) {
        self.init(within: limit) { Playground.answer(to: $0, received: WallClock.now(), until: $1) }
    }

    /// Makes a playground whose work is `work`, which is given the deadline.
    package init(
        within limit: Duration = Playground.time,
        work: @escaping @Sendable (Request, ContinuousClock.Instant) -> Answer
    ) {
        (self.limit, self.work) = (limit, work)
    }

    /// What comes out of `request`. The calling thread waits no longer than a request may take.
    ///
    /// - Throws: ``Refusal``.
    package func answer(to request: Request, now: ContinuousClock.Instant = .now) throws(Refusal) -> Answer {
        try Self.check(request)
        if let wait = bucket.withLock({ $0.take(at: now) }) { throw .tooMany(milliseconds: wait) }
        let (queue, job) = try place(request)
        try queue.add(job)
        if let answer = job.wait() { return answer }
        throw queue.giveUp(job) ? .tooSlow : .busy
    }

    private func place(_ request: Request) throws(Refusal) -> (PlaygroundQueue, PlaygroundJob) {
        do throws(SystemError) {
            let queue = try queue.withLock { queue throws(SystemError) in
                if let queue { return queue }
                let made = try PlaygroundQueue()
                queue = made
                return made
            }
            let work = work
            return (queue, try PlaygroundJob(until: .now + limit) { work(request, $0) })
        } catch {
            throw .unavailable
        }
    }

    deinit { queue.withLock { $0?.close() } }

    private static func check(_ request: Request) throws(Refusal) {
        let parts = [
            ("payload", request.payload, mostPayload), ("device mapping", request.device, mostMapping),
            ("FHIR mapping", request.fhir, mostMapping),
        ]
        for (part, bytes, most) in parts where bytes.count > most { throw .tooLarge(part: part, most: most) }
    }

    // MARK: The work

    /// What comes out of `request`, received at `received`, without limits but for the explanation, which ends at
    /// `deadline`.
    package static func answer(
        to request: Request, received: Instant, until deadline: ContinuousClock.Instant? = nil
    ) -> Answer {
        let files: MappingFiles
        do throws(MappingFilesError) {
            files = try mapping(request)
        } catch {
            let finding = Diagnostic(.error, file: request.name, position: .start, message: error.description)
            return Answer(document: nil, findings: [finding])
        }
        let loaded = MappingSelection.load(
            [files], compatibility: request.compatibility, fhirVersion: request.fhirVersion)
        guard let set = loaded.set else { return Answer(document: nil, findings: loaded.diagnostics) }
        let templates = set.templates(of: [files.name])
        guard templates.count * values(of: request.payload) <= mostWork else {
            return refused(request, "the mapping has too many templates for a payload of so many values")
        }
        let copying = templates.count { set.templates[$0].template.copiesMatches }
        guard copying * values(of: request.payload) * request.payload.count <= mostCopied else {
            return refused(
                request, "expressions look at the whole payload for each match, and this one may give too many matches")
        }
        var options = ObservationOptions()
        options.version = request.fhirVersion
        var preview = PayloadPreview(
            payload: request.payload, set: set, templates: templates, context: request.context,
            received: received, options: options, most: mostReadings)
        guard !preview.isCut else {
            return refused(request, "the payload gives more than \(mostReadings) readings or rejections")
        }
        preview.explanation = PayloadExplanation(
            payload: request.payload, set: set, mappings: [files], context: request.context, received: received,
            until: deadline)
        return Answer(document: PrettyJSON.format(preview.json), findings: loaded.diagnostics)
    }

    private static func refused(_ request: Request, _ message: String) -> Answer {
        let finding = Diagnostic(
            .error, file: request.name, position: .start, message: message,
            advice: "give a part of it; 'kymo map' takes all of it")
        return Answer(document: nil, findings: [finding])
    }

    /// About how many values a payload has: each but the first stands behind one of these bytes.
    private static func values(of payload: [UInt8]) -> Int {
        1
            + payload.count {
                $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "[") || $0 == 0x7C
            }
    }

    /// The mapping of the two texts, each of which may be an export of the MedTech service.
    private static func mapping(_ request: Request) throws(MappingFilesError) -> MappingFiles {
        var files = MappingFiles(name: request.name, device: request.device, fhir: request.fhir)
        files.device = try content(.device, request.device, files.deviceFile)
        files.fhir = try content(.fhir, request.fhir, files.fhirFile)
        return files
    }

    private static func content(
        _ kind: TemplateKind, _ bytes: [UInt8], _ path: String
    ) throws(MappingFilesError) -> [UInt8] {
        let file = TemplateFile(path: path, bytes: bytes)
        if let content = try file.content(kind) { return content }
        if file.has(kind.other) { throw .otherKind(path, kind) }
        // What is wrong in it is told when it is loaded.
        return bytes
    }
}

extension Playground.Answer {
    /// `{"findings": […], "output": …}`, without layout; `output` is ``document`` as a text, so that not a byte of it
    /// changes on the way.
    package var json: [UInt8] {
        var object = JSONMembers()
        object.add("findings", list: findings.map(\.json))
        if let document { object.add("output", String(decoding: document, as: UTF8.self)) }
        return object.finished()
    }
}

extension Playground.Refusal {
    /// What happened, and what to do, in one sentence without a final stop.
    package var message: String {
        switch self {
        case .tooLarge(let part, let most): "the \(part) is longer than \(most >> 10) KiB; give a part of it"
        case .tooMany(let milliseconds):
            "more than \(Playground.rate) requests a second; ask again in \(milliseconds) ms"
        case .tooSlow: "the mapping takes more than 3 s for this payload; shorten the payload, or the expressions"
        case .busy: "other requests are waiting already; ask again in some seconds"
        case .slow: "a mapping that takes more than 3 s is at work still; ask again in some seconds"
        case .unavailable: "the system gives no event for waiting; raise the limit on open files"
        }
    }
}

/// How many requests may come.
struct PlaygroundRate {
    private let perSecond: Int
    /// When the last ones were taken, oldest first; never more than a second's.
    private var taken: [ContinuousClock.Instant] = []

    init(_ perSecond: Int) { self.perSecond = perSecond }

    /// Takes one at `now`; or the milliseconds until one is taken.
    mutating func take(at now: ContinuousClock.Instant) -> Int? {
        taken.removeAll { $0 + .seconds(1) <= now }
        guard taken.count >= perSecond, let oldest = taken.first else {
            taken.append(now)
            return nil
        }
        return Int(now.duration(to: oldest + .seconds(1)).wholeMilliseconds) + 1
    }
}

extension Duration {
    /// Rounded down.
    var wholeMilliseconds: Int32 {
        Int32(clamping: components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000)
    }
}

extension DeviceTemplate {
    /// Whether each of its matches may need a document of its own, with all of the payload.
    fileprivate var copiesMatches: Bool { match.path == nil || expressions.contains(where: \.needsComposition) }
}

extension Diagnostic {
    /// The finding for programs; members that say nothing are left out.
    fileprivate var json: [UInt8] {
        var object = JSONMembers()
        object.add("severity", severity.rawValue)
        object.add("file", file)
        object.add("line", position.line)
        object.add("column", position.column)
        object.add("message", message)
        if !advice.isEmpty { object.add("advice", advice) }
        if !code.isEmpty { object.add("code", code) }
        if !template.isEmpty { object.add("template", template) }
        return object.finished()
    }
}
