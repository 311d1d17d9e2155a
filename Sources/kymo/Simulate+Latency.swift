import ArgumentParser
import Glibc
import Kymograph
import KymographCore
import KymographTestKit

/// `kymo simulate --latency`: how long readings take through a pipeline.
extension Simulate {
    func validateLatency() throws {
        guard latency else {
            if window != nil { throw ValidationError("--window belongs to --latency") }
            if format != .text { throw ValidationError("--format belongs to --latency") }
            return
        }
        if sending.stdout { throw ValidationError("--latency sends to a pipeline: name --udp, --unix or --unixgram") }
        guard speed.pace == .speed(1), duplicates == 0, losses == 0, late == 0, outOfOrder == 0, start == nil else {
            throw ValidationError("--latency sends on time and in order: leave out --speed, --start and all faults")
        }
        guard Double(devices) * rate <= 1e6 else {
            throw ValidationError(
                "--latency sends at most 1000000 readings a second: take fewer devices or less --rate")
        }
        if isatty(STDIN_FILENO) == 1 {
            throw ValidationError("--latency reads a pipeline's output: kymo run … | kymo simulate --latency …")
        }
    }

    func measureLatency() throws {
        let plan = LatencyPlan(
            devices: devices, readingsPerSecond: Double(devices) * rate, duration: duration.nanoseconds,
            window: window?.nanoseconds)
        var run = LatencyRun(plan)
        var sender = try connect()
        try run.run(&sender) { StandardDescriptors.readPiece() }
        let report = LatencyReport(
            readings: plan.measuredCount, sent: sender.sent, intervalNanoseconds: plan.interval,
            cameOut: run.latency.count, latency: run.latency, sentLate: run.lateness)
        switch format {
        case .text: try StandardOutput.write(Array(text(report).utf8))
        case .json: try StandardOutput.write(try PrettyText.pretty(report))
        }
    }

    private func text(_ report: LatencyReport) -> String {
        let rows = [LatencyFigures.header, report.latency.row("latency"), report.sentLate.row("sent late")]
        return """
            \(report.readings) readings, one every \(report.intervalNanoseconds) ns; \(report.cameOut) \
            \(window == nil ? "came out" : "windows came out")
            \(rows.joined(separator: "\n"))

            """
    }

    /// Both ends of a shell's pipe start at once: the pipeline's socket may not be there yet.
    private func connect() throws -> ReadingSender {
        let began = ContinuousClock.now
        while true {
            do {
                return try ReadingSender(to: sending.destination)
            } catch let error as SendingError {
                guard ContinuousClock.now - began < .seconds(20) else { throw error }
                usleep(20_000)
            }
        }
    }
}

/// What is printed of a measurement.
private struct LatencyReport: Encodable {
    /// Readings that are measured.
    var readings: Int
    /// All that were sent, those before the measurement among them.
    var sent: Int
    var intervalNanoseconds: Int64
    /// Observations of the measured time: of readings, or of windows.
    var cameOut: Int
    var latency: LatencyFigures
    var sentLate: LatencyFigures
}
