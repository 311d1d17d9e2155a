import ArgumentParser
import Kymograph
import KymographCore

/// `kymo tap`: what goes through a running instance.
struct Tap: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tap",
        abstract: "Payloads, readings or resources that go through a running instance, as they come.",
        discussion: """
            Each event is a line of JSON on standard output: 'payload' is what a source received, with its size and \
            the names of its JSON members, 'measurement' a reading as its mapping made it, 'observation' a resource on \
            its way to the sinks. At most --rate events a second are shown; standard error says how many more there \
            were ('# 1,234 more'). Nothing waits for a tap, and one that is read slowly shows less.

            Identifiers of devices, patients and encounters are masked: the same one has the same name for as long as \
            the connection lasts. Texts and the content of payloads are left out. --reveal shows everything, and the \
            instance logs who asked.

            It asks the instance by the socket control.sock in its data directory, as the user who runs it, and exits \
            with status 66 when none runs. When the instance ends, it waits for the next one. Ctrl-C ends it.

            Example: kymo tap --data /var/lib/kymo --stage measurement --type heartRate --limit 3
            """)

    @OptionGroup var store: StoreOptions

    @Option(help: ArgumentHelp("Where in the pipeline.", valueName: "payload|measurement|observation"))
    var stage: TapRequest.Stage

    @Option(
        help: ArgumentHelp(
            "json: with the stage, the source and what the pipeline knows besides. events: readings as normalised "
                + "events of iomt-fhir, with --stage measurement.", valueName: "json|events"))
    var format = TapRequest.Format.json

    @Option(help: ArgumentHelp("Only events of this device, compared byte by byte and in full.", valueName: "id"))
    var device: String?

    @Option(help: ArgumentHelp("Only events of this type of measurement.", valueName: "name"))
    var type: String?

    @Option(help: ArgumentHelp("Most events per second, 1 to 1000.", valueName: "n"))
    var rate = 10

    @Option(help: ArgumentHelp("End after this many events.", valueName: "n"))
    var limit: Int?

    @Flag(help: "Show identifiers, texts and contents. The instance logs it.")
    var reveal = false

    func validate() throws {
        guard (1...TapRequest.mostRate).contains(rate) else {
            throw ValidationError("--rate is 1 to \(TapRequest.mostRate) events per second")
        }
        if format == .events, stage != .measurement {
            throw ValidationError("--format events goes with --stage measurement: only readings are such events")
        }
        if let limit, limit < 1 { throw ValidationError("--limit is at least 1") }
    }

    func run() throws {
        let directory = try store.directory()
        let signals = try Run.watchSignals()
        var request = TapRequest(
            stage, device: device.map { IdentifierText($0) }, type: type, rate: rate, reveals: reveal)
        request.format = format
        var session = TapSession(request, directory, limit: limit)
        guard try session.connect() else { throw Top.noInstance(directory) }
        while try session.follow(signals) {
            StandardError.write("kymo: the instance has ended; waiting for the instance that comes next\n")
            repeat {
                if StandardDescriptors.waitForEnd(signals, keys: false, milliseconds: 200) { return }
            } while try !session.connect()
        }
    }
}

extension TapRequest.Stage: ExpressibleByArgument {}
extension TapRequest.Format: ExpressibleByArgument {}

/// Taps the instances of a data directory, one after the other.
struct TapSession {
    private let request: TapRequest
    private let directory: String
    private var connection: TapConnection?
    /// How many events may be shown yet; nil for any number.
    private var left: Int?

    /// Milliseconds without an event after which a hint says what may be the reason.
    private static let patience = 3_000

    init(_ request: TapRequest, _ directory: String, limit: Int?) {
        (self.request, self.directory, left) = (request, directory, limit)
    }

    /// Connects; false when no instance runs.
    ///
    /// - Throws: exit status 1 when the instance refuses.
    mutating func connect() throws -> Bool {
        switch TapConnection.open(request, directory) {
        case .missing: return false
        case .refused(let reason): throw StandardError.exit(reason, code: ExitStatus.failure)
        case .opened(let opened):
            connection = opened
            StandardError.write("kymo: tapping process \(opened.opening.process)\n")
            noteType(opened.opening.types)
            return true
        }
    }

    private func noteType(_ known: [String]) {
        guard let type = request.type, !known.contains(where: { $0.utf8.elementsEqual(type.utf8) }) else { return }
        StandardError.write(
            "kymo: no mapping in use has the type '\(type)', there are \(known.joined(separator: ", ")); waiting\n")
    }

    /// Shows events. True when the instance has ended, false when the command is to end.
    ///
    /// - Throws: exit status 74 when standard output takes nothing.
    mutating func follow(_ signals: SignalWatcher) throws -> Bool {
        let start = ContinuousClock.now
        var isQuiet = true
        while let lines = connection?.lines(or: signals.fileDescriptor, milliseconds: 500) {
            for line in lines where try !show(line, &isQuiet) { return false }
            if signals.next() != nil { return false }
            if isQuiet, start.duration(to: .now) > .milliseconds(Self.patience) {
                isQuiet = false
                StandardError.write("kymo: no event yet: \(hint)\n")
            }
        }
        connection = nil
        return true
    }

    /// Writes one line; false when it was the last.
    private mutating func show(_ line: [UInt8], _ isQuiet: inout Bool) throws -> Bool {
        guard line.first != UInt8(ascii: "#") else {
            StandardError.write(String(decoding: line, as: UTF8.self) + "\n")
            return true
        }
        isQuiet = false
        try StandardOutput.write(line + [0x0A])
        guard let left else { return true }
        self.left = left - 1
        return left > 1
    }

    private var hint: String {
        var reasons: [String] = []
        if request.device != nil { reasons.append("--device must be the whole identifier, byte by byte") }
        if request.type != nil { reasons.append("--type must be the name of a type in the mappings") }
        if request.stage == .observation { reasons.append("a resource is written when its window closes") }
        reasons.append("'kymo top' shows whether anything is received")
        return reasons.joined(separator: "; ")
    }
}
