import CommandSupport
import Testing
import TrialSupport

/// Readings as `kymo simulate` writes them: all kinds of measurements, late and twice in places.
enum SimulatedReadings {
    /// Ten minutes of four devices, on a day of March 2026.
    static func tenMinutes(seed: UInt64, day: Int = 1) throws -> [UInt8] {
        let done = try Kymo.run([
            "simulate", "--stdout", "--devices", "4", "--duration", "10m", "--rate", "0.5", "--speed", "max", "--seed",
            "\(Trials.seed(seed))", "--start", "2026-03-0\(day)T08:00:00Z", "--late", "0.1", "--max-late", "3m",
            "--duplicates",
            "0.05", "--out-of-order", "0.1",
        ])
        #expect(done.end == .exit(0) && done.lines.count > 1_000)
        return done.output
    }
}
