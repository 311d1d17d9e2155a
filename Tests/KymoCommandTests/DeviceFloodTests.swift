import CommandSupport
import KymographTestKit
import Testing
import TrialSupport

/// Devices that nobody has met before, far more than `limits.devices`, come on the lane of devices that are known: those go
/// on as if the others were not there, and what is refused is counted.
@Suite struct DeviceFloodTests {
    private static let isFull = Trials.isTorture
    private static let known = 100
    private static let unknown = isFull ? 1_000_000 : 20_000
    /// The default, or less of it.
    private static let limit = isFull ? 100_000 : 2_000
    /// Unknown devices between two readings of each known one.
    private static let together = 1_000
    /// What the process may grow by from when the limit is reached, in KiB.
    private static let growth = 64 << 10

    private let folder = TemporaryFolder()

    private func start() throws -> ChildProcess {
        folder.write(
            "kymo.yaml",
            """
            sources: [{unix: known.sock}, {unix: unknown.sock}]
            data: data
            output: {to: out, format: ndjson}
            http: {admin: "127.0.0.1:0"}
            window: 10s
            lanes: 1
            shards: 1
            drain: 300s
            limits: {devices: \(Self.limit)}

            """)
        let run = try Kymo.start(["run", "--config", "kymo.yaml"], directory: folder.path)
        _ = try run.addresses(2)
        return run
    }

    private func memory(_ run: ChildProcess, _ member: String) -> Int {
        let line = Files.text("/proc/\(run.pid)/status").split(separator: "\n").first { $0.hasPrefix("\(member):") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// Sends everything; gives the longest that a reading of a known device waited until it was durable, and the memory
    /// when the limit was reached, in KiB.
    private func flood(_ run: ChildProcess) throws -> (longest: Duration, atLimit: Int) {
        let flood = try OpenConnection("unix \(folder.file("unknown.sock"))")
        let beds = try AckClient(folder.file("known.sock"))
        let clock = ContinuousClock()
        var (longest, atLimit) = (Duration.zero, 0)
        for second in 0..<(Self.unknown / Self.together) {
            if second > 0 {
                let devices = (0..<Self.together).map { "stranger-\((second - 1) * Self.together + $0)" }
                try flood.send(devices.map { Readings.heartRate(second: second, device: $0) + "\n" }.joined())
            }
            let began = clock.now
            beds.send(
                Readings.ndjson((0..<Self.known).map { Readings.heartRate(second: second, device: "bed-\($0)") }))
            try Waiting.until("second \(second): \(run.errorText.suffix(600))") {
                beds.receive()
                return beds.acknowledged == (second + 1) * Self.known
            }
            longest = max(longest, clock.now - began)
            // With some that were refused, too.
            if second * Self.together == Self.limit * 3 / 2 { atLimit = memory(run, "VmHWM") }
        }
        let rest = (Self.unknown - Self.together..<Self.unknown).map { "stranger-\($0)" }
        try flood.send(rest.map { Readings.heartRate(second: 0, device: $0) + "\n" }.joined())
        return (longest, atLimit)
    }

    @Test func knownDevicesGoOn() throws {
        let run = try start()
        let admin = try AdminClient(run)
        let (longest, atLimit) = try flood(run)
        let refused = Self.unknown + Self.known - Self.limit
        try Waiting.until("\(refused) refused", seconds: 300) {
            try admin.value("kymo_rejected_total{reason=\"tooManyDevices\"}") == Double(refused)
        }
        for name in ["kymo_lane_devices{lane=\"0\"}", "kymo_devices{shard=\"0\"}", "kymo_devices_limit"] {
            #expect(try admin.value(name) == Double(Self.limit), "\(name)")
        }
        let peak = memory(run, "VmHWM")
        print(
            "\(Self.unknown) unknown devices, limit \(Self.limit): known ones waited \(longest) at most; "
                + "\(atLimit) KiB when the limit was reached, \(peak) KiB at most")
        #expect(atLimit > 0 && peak - atLimit < Self.growth)
        let seconds = Self.unknown / Self.together
        let done = try run.terminate(seconds: 300)
        let balance = try #require(done.balance)
        #expect(done.end == .exit(0) && balance.isClosed, "\(done.error.suffix(2_000))")
        #expect(balance.reasons == ["tooManyDevices": refused], "\(balance)")
        #expect(balance.accepted == seconds * Self.known + Self.limit - Self.known, "\(balance)")
        #expect(done.error.contains("\(Self.limit) devices (limits.devices) have been met since the start"))
        try expectWholeWindows(seconds)
    }

    /// The ledger has each reading of the known devices, and calls their hour complete.
    private func expectWholeWindows(_ seconds: Int) throws {
        let data = ["--data", folder.file("data")]
        let span = ["--from", "2026-03-01T08:00:00Z", "--to", "2026-03-01T09:00:00Z"]
        let devices = (0..<Self.known).flatMap { ["--device", "bed-\($0)"] }
        let ledger = try Kymo.run(["ledger"] + devices + span + data)
        #expect(ledger.end == .exit(0) && ledger.lines.last == "complete", "\(ledger.text.suffix(600))")
        let whole = "heartRate: windows \((seconds + 9) / 10), readings \(seconds)"
        let series = ledger.lines.filter { $0.hasPrefix("series bed-") }
        #expect(series.count == Self.known && series.allSatisfy { $0.hasSuffix(whole) }, "\(series.prefix(3))")
        let verified = try Kymo.run(["ledger", "--verify"] + data)
        #expect(verified.end == .exit(0), "\(verified.text.suffix(600)) \(verified.error.suffix(600))")
    }
}
