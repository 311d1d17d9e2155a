import ArgumentParser
import Kymograph
import KymographCore
import KymographTemplates

/// `kymo patients check`.
struct PatientsCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a patient map, or say whose a device is at a time.",
        discussion: """
            Prints how many periods and devices there are. With --device, it prints the periods of the device and what \
            is between them; with --at, too, whose it is then: the patient and, behind a tab, the encounter. Errors \
            are printed as file:line:column, and exit with status 78. Exits with status 65 when the device is \
            unassigned.

            Example: kymo patients check patients.csv --device pump-3 --at 2026-03-01T09:30:00Z
            """)

    @Argument(help: "The patient map (CSV or YAML).", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("Show the periods of this device.", valueName: "id"))
    var device: String?

    @Option(help: ArgumentHelp("Say whose it is at this time, in ISO 8601 with its offset.", valueName: "time"))
    var at: String?

    @Option(help: ArgumentHelp("For people, or for programs.", valueName: "text|json"))
    var format = TextFormat.text

    /// What there is, for programs.
    private struct Report: Encodable {
        struct Period: Encodable {
            var from: String?
            var to: String?
            var patient: String
            var encounter: String?
            var tags: [String]?
        }

        var devices: Int
        var periods: Int
        /// Those of the device that was asked for, or the one of the time.
        var assigned: [Period]?
    }

    func validate() throws {
        if at != nil, device == nil { throw ValidationError("--at needs --device") }
    }

    func run() throws {
        let instant = try at.map(Self.time)
        let (map, errors) = PatientsFile.check(file)
        guard errors.isEmpty else {
            Diagnostics.write(errors)
            throw ExitCode(ExitStatus.config)
        }
        guard let device else {
            if format == .json { return try write(map, nil) }
            return try write("\(CountText.of(map.count, "period")) of \(CountText.of(map.deviceCount, "device"))")
        }
        let periods = Array(device.utf8).withByteView { map.periods(of: $0) }
        guard let instant else { return format == .json ? try write(map, periods) : try write(periods) }
        guard let period = periods.first(where: { $0.contains(instant) }) else {
            throw StandardError.exit("the device is assigned to no patient at that time", code: ExitStatus.dataError)
        }
        if format == .json { return try write(map, [period]) }
        try write(Self.owner(period))
    }

    private func write(_ map: PatientMap, _ periods: [PatientMap.Period]?) throws {
        guard periods?.isEmpty != true else { return try write([]) }
        let assigned = periods?.map { period in
            Report.Period(
                from: period.from == .distantPast ? nil : period.from.text,
                to: period.to == .distantFuture ? nil : period.to.text,
                patient: String(decoding: period.patient, as: UTF8.self),
                encounter: period.encounter.map { String(decoding: $0, as: UTF8.self) },
                tags: period.tags.isEmpty ? nil : period.tags.withByteView(ReadingTags.texts))
        }
        let report = Report(devices: map.deviceCount, periods: map.count, assigned: assigned)
        try StandardOutput.write(try PrettyText.pretty(report))
    }

    private static func time(_ text: String) throws -> Instant {
        let bytes = PaddedBytes(copying: Array(text.utf8))
        guard let time = TimestampParser.iso8601(bytes.view), !time.isLocal else {
            throw StandardError.exit(
                "--at: '\(text)' is no time with its offset; write it as 2026-03-01T08:00:00+01:00",
                code: ExitStatus.config)
        }
        return time.instant
    }

    /// The periods, and what is between them.
    private func write(_ periods: [PatientMap.Period]) throws {
        guard !periods.isEmpty else {
            throw StandardError.exit("the map has no such device", code: ExitStatus.dataError)
        }
        var lines: [String] = []
        for (place, period) in periods.enumerated() {
            if place > 0, periods[place - 1].to < period.from {
                lines.append(Self.span(periods[place - 1].to, period.from) + "\tunassigned")
            }
            lines.append(Self.span(period.from, period.to) + "\t" + Self.owner(period))
        }
        try write(lines.joined(separator: "\n"))
    }

    private func write(_ text: String) throws { try StandardOutput.write(Array((text + "\n").utf8)) }

    private static func span(_ from: Instant, _ to: Instant) -> String {
        let (begin, end) = (from == .distantPast ? "" : from.text, to == .distantFuture ? "" : to.text)
        return "\(begin)\t\(end)"
    }

    private static func owner(_ period: PatientMap.Period) -> String {
        let encounter = period.encounter.map { "\t\(String(decoding: $0, as: UTF8.self))" } ?? ""
        return String(decoding: period.patient, as: UTF8.self) + encounter
    }
}
