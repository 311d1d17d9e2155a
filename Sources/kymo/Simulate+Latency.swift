import ArgumentParser
import Glibc
import KymographCore
import KymographTestKit

/// `kymo simulate --latency`: how long readings take through a pipeline.
extension Simulate {
    func validateLatency() throws {
        guard latency else {
            if window != nil { throw ValidationError("--window belongs to --latency") }
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
        var text = "\(plan.measuredCount) readings, one every \(plan.interval) ns; \(run.latency.count) "
        text += window == nil ? "came out\n" : "windows came out\n"
        text += [LatencyFigures.header, run.latency.row("latency"), run.lateness.row("sent late")]
            .joined(separator: "\n")
        StandardDescriptors.write(Array((text + "\n").utf8), to: STDOUT_FILENO)
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
