import CommandSupport
import KymographTestKit
import Testing

/// An instance with a store, and taps on it.
final class TapScene {
    struct Instance {
        let process: ChildProcess
        let address: String
    }

    static let device = "monitor-4711"
    static let patient = "patient-0815"
    /// What no masked event may have.
    static let secrets = [device, patient, "4711", "0815"]

    private let folder = TemporaryFolder()

    var data: String { folder.file("data") }

    /// Starts an instance whose windows of a minute close as soon as a later one begins.
    func instance() throws -> Instance {
        let process = try Kymo.start([
            "run", "--unix", folder.file("a.sock"), "--data", data, "--out", folder.file("out"), "--window", "1m",
            "--lateness", "0s",
        ])
        let address = try process.addresses()[0]
        return Instance(process: process, address: address)
    }

    /// Starts a tap, and waits until it is open.
    func tap(_ stage: String, _ options: String..., output: ChildProcess.Output = .file) throws -> ChildProcess {
        try tap(stage, options, output: output)
    }

    /// The same.
    func tap(_ stage: String, _ options: [String], output: ChildProcess.Output = .file) throws -> ChildProcess {
        let tap = try Kymo.start(["tap", "--data", data, "--stage", stage] + options, output: output)
        try tap.waitForError("tapping process")
        return tap
    }

    /// A heart rate `second` seconds after eight o'clock.
    static func line(second: Int, device: String = device) -> String {
        Readings.heartRate(second: second, device: device).replacing(
            "\"type\"", with: "\"patientId\":\"\(patient)\",\"type\"")
    }

    /// Sends readings of one minute after the other until `tap` has shown something.
    func sendUntilEnd(of tap: ChildProcess, to instance: Instance) throws {
        var second = 0
        try Waiting.until("an event: \(tap.errorText)") {
            try Sending.send(lines: [Self.line(second: second)], to: instance.address)
            second += 61
            return tap.output.last == 0x0A
        }
    }

    /// The whole lines that `tap` has written.
    func events(_ tap: ChildProcess) throws -> [JSONTree] {
        let output = tap.output
        guard let end = output.lastIndex(of: 0x0A) else { return [] }
        return try output[...end].split(separator: 0x0A).map { try JSONTree(parsing: Array($0)) }
    }

    /// How many events standard error says there were more.
    static func passedOver(_ error: String) -> Int {
        error.split(separator: "\n").reduce(0) { sum, line in
            guard line.hasPrefix("# "), line.hasSuffix(" more") else { return sum }
            return sum + (Int(line.dropFirst(2).dropLast(5).replacing(",", with: "")) ?? 0)
        }
    }

    /// The instance has ended well, with a balanced ledger.
    func expectClosed(_ end: Kymo.Finished, received: Int? = nil) throws {
        #expect(end.end == .exit(0), "\(end.error)")
        let balance = try #require(end.balance)
        #expect(balance.isClosed)
        if let received { #expect(balance.received == received) }
    }
}
