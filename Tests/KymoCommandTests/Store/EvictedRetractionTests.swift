import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// What takes back a reading that the archive has dropped.
@Suite struct EvictedRetractionTests {
    private func reading(_ number: Int, device: String = "d-1") -> String {
        """
        {"type":"heartRate","deviceId":"\(device)","timestamp":"2026-03-01T08:00:\(10 + number)Z","unit":"/min",\
        "value":\(60 + number),"id":"i\(number)"}
        """
    }

    /// The process may still have the window: taken back there alone, the reading would be back after a crash.
    @Test func aWindowThatOnlyMemoryHas() throws {
        let run = StoredRun()
        let file = run.folder.write(
            "kymo.yaml", "window: 1m\nlateHold: 0s\nidle: 50ms\nstore: {archiveAge: 1s}\nmappings: [reading]\n")
        let arguments = [
            "run", "--config", file, "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", run.output,
            "--format", "ndjson",
        ]
        let instance = try Kymo.start(arguments)
        let address = try instance.addresses()[0]
        try Sending.send(lines: (0..<3).map { reading($0) }, to: address)
        let series = "SELECT number FROM series WHERE device = 'd-1'"
        let windows = "SELECT count(*) FROM window WHERE series IN (\(series))"
        try Waiting.until("a window in the store") { try run.value(windows) == 1 }
        // Commits drop what is too old.
        try Waiting.until("the store to drop it") {
            try Sending.send(lines: [reading(9, device: "d-2")], to: address)
            return try run.value(windows) == 0
        }
        try Sending.send(lines: [#"{"deviceId":"d-1","deleted":"heartRate","id":"i1"}"#], to: address)
        try Waiting.until("a letter") { try run.command("dead", "list").text.contains("archiveEvicted") }
        instance.signal(SIGKILL)
        _ = try instance.wait()
        let again = try Kymo.start(arguments)
        _ = try again.addresses()
        let done = try again.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
        let letters = try run.command("dead", "list").text
        #expect(letters.contains("archiveEvicted") && !letters.contains(" retracted "), "\(letters)")
    }
}
