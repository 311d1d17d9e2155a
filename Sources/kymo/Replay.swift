import ArgumentParser
import FoundationEssentials
import Glibc
import KymographCore
import KymographTestKit

/// `kymo replay`: recorded NDJSON to a socket or to standard output, at recorded, scaled or given speed.
struct Replay: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send recorded readings again, at the recorded speed or another.",
        discussion: """
            The lines are sent as they are, in the order of the file. Lines without a readable time leave with the line
            before them.

            Example: kymo replay night.ndjson --speed 60 --udp 127.0.0.1:5757
            """)

    @Argument(help: "NDJSON, one reading a line.", completion: .file())
    var file: String

    @OptionGroup(title: "Destination")
    var sending: SendingOptions

    @Option(help: ArgumentHelp("Times faster than recorded, or max; default 1.", valueName: "factor"))
    var speed: SpeedArgument?

    @Option(help: ArgumentHelp("Readings per second, whatever their times.", valueName: "per-second"))
    var rate: Double?

    @Option(
        help: ArgumentHelp("Member that holds the time: RFC 3339 text, or milliseconds since 1970.", valueName: "name"))
    var timestampField = "timestamp"

    func validate() throws {
        if speed != nil, rate != nil { throw ValidationError("name --speed or --rate, not both") }
        if let rate, !(rate > 0 && rate.isFinite) { throw ValidationError("--rate must be above 0") }
    }

    func run() throws {
        guard let content = FileManager.default.contents(atPath: file) else {
            throw StandardError.exit("\(file) cannot be read; name a file of NDJSON readings", code: EX_NOINPUT)
        }
        do {
            try play([UInt8](content))
        } catch let error as SendingError {
            throw StandardError.exit(error.description, code: EX_UNAVAILABLE)
        }
    }

    private var pace: Pacer.Pace {
        rate.map { .rate($0) } ?? speed?.pace ?? .speed(1)
    }

    private func play(_ content: [UInt8]) throws {
        var sender = try ReadingSender(to: sending.destination)
        var pacer = Pacer(pace: pace)
        var progress = ProgressBar()
        let reader = TimestampReader(field: timestampField)
        var recorded = Instant.distantPast
        for line in content.split(separator: UInt8(ascii: "\n")) {
            // Only recorded speed needs the times, and finding one costs more than sending the line.
            if case .speed = pace { recorded = reader.time(in: Array(line)) ?? recorded }
            if recorded != .distantPast || rate != nil { try sender.wait(pacer.wait(until: recorded)) }
            try (Array(line) + [UInt8(ascii: "\n")]).withByteView { view in try sender.send(view) }
            progress.show(Double(line.endIndex) / Double(content.count), label: "\(sender.sent) sent")
        }
        try sender.flush()
        progress.finish()
        try sender.report(after: pacer.elapsed)
    }
}
