import ArgumentParser
import FoundationEssentials
import Glibc
import Kymograph
import KymographCore
import KymographTestKit

/// `kymo replay`: recorded NDJSON to a socket or to standard output, at recorded, scaled or given speed.
struct Replay: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Send recorded readings again, at the recorded speed or another.",
        discussion: """
            The lines are sent as they are, in the order of the file. Lines without a readable time leave with the line
            before them. Of a btsnoop file, and with --capture of what gatttool, bluetoothctl, btmon or nRF Connect \
            have written, the Bluetooth packets are sent as frames of a bridge.

            Example: kymo replay night.ndjson --speed 60 --udp 127.0.0.1:5757
            """)

    @Argument(help: "NDJSON, one reading a line; or a recording of Bluetooth packets.", completion: .file())
    var file: String

    @Flag(help: "The file is what gatttool, bluetoothctl, btmon or nRF Connect have written.")
    var capture = false

    @Option(help: ArgumentHelp("Device of recorded packets that name none.", valueName: "id"))
    var device: String?

    // A negative offset begins as an option does.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Offset of device clocks from UTC, which frames tell; default +00:00.", valueName: "±hh:mm"))
    var utcOffset: OffsetArgument?

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
        let content = try InputFile.read(file, "name a file of NDJSON readings")
        do {
            try play(try lines(of: content))
        } catch let error as SendingError {
            throw StandardError.exit(error.description, code: ExitStatus.unavailable)
        }
    }

    private var pace: Pacer.Pace {
        rate.map { .rate($0) } ?? speed?.pace ?? .speed(1)
    }

    /// What is to be sent, and the member that holds its time.
    private func lines(of content: [UInt8]) throws -> (lines: [ArraySlice<UInt8>], field: String) {
        let isSnoop = content.starts(with: SnoopCapture.magic)
        if !isSnoop, !capture, isCalledSnoop {
            throw StandardError.exit(
                "\(file): this is no btsnoop file, though it is called one: name one that 'btmon -w' or Android has "
                    + "written; give --capture for the text of a tool, or NDJSON another name",
                code: ExitStatus.dataError)
        }
        guard isSnoop || capture else {
            return (content.split(separator: UInt8(ascii: "\n")), timestampField)
        }
        do throws(SnoopCapture.Failure) {
            let packets = isSnoop ? try SnoopCapture.packets(of: content) : TextCapture.packets(of: content)
            let offset = utcOffset?.minutes ?? 0
            return (
                packets.map { $0.frame(device: device.map { IdentifierText($0) }, offsetMinutes: offset)[...] }, "time"
            )
        } catch {
            throw StandardError.exit("\(file): \(error.description)", code: ExitStatus.dataError)
        }
    }

    /// Whether the file has the name of a recording: `night.btsnoop`, or Android's `btsnoop_hci.log`.
    private var isCalledSnoop: Bool {
        file.split(separator: "/").last?.lowercased().contains("btsnoop") ?? false
    }

    private func play(_ recorded: (lines: [ArraySlice<UInt8>], field: String)) throws {
        let lines = recorded.lines
        var sender = try ReadingSender(to: sending.destination)
        var pacer = Pacer(pace: pace)
        var progress = ProgressBar()
        let reader = TimestampReader(field: recorded.field)
        var time = Instant.distantPast
        for (index, line) in lines.enumerated() {
            // Only recorded speed needs the times, and finding one costs more than sending the line.
            if case .speed = pace { time = reader.time(in: Array(line)) ?? time }
            if time != .distantPast || rate != nil { try sender.wait(pacer.wait(until: time)) }
            try (Array(line) + [UInt8(ascii: "\n")]).withByteView { view in try sender.send(view) }
            progress.show(Double(index + 1) / Double(lines.count), label: "\(sender.sent) sent")
        }
        try sender.flush()
        progress.finish()
        try sender.report(after: pacer.elapsed)
    }
}

/// An offset from UTC as ISO 8601 writes it.
struct OffsetArgument: ExpressibleByArgument {
    let minutes: Int16

    init?(argument: String) {
        guard let minutes = UTCOffsetText.minutes(of: argument) else { return nil }
        self.minutes = minutes
    }
}
