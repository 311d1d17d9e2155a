import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Mappings that are exchanged while one lane has filled the rings by the former mapping, and another has gone on to the
/// new one. A mutation that lets a shard follow the first lane for all rings is found by this.
@Suite struct RunLaneReloadTests {
    /// The two versions of a mapping: each takes only readings that name it.
    private struct Version {
        var name: String
        var unit: String

        func write(to folder: TemporaryFolder) {
            folder.write(
                "m/device.json",
                MappingText.device.replacing("(@pulse)", with: "(@pulse && @v == '\(name)')")
                    .replacing("\"$.at\",", with: "\"$.at\", \"timestampFormat\": \"epoch-ms\","))
            folder.write(
                "m/fhir.json",
                MappingText.fhir.replacing("/min", with: unit)
                    .replacing("\"code\": \"pulse\"", with: "\"code\": \"\(name)\""))
        }

        func line(_ device: String, _ number: Int) -> String {
            #"{"id":"\#(device)\#(number % 7)","at":\#(1_770_000_000_000 + number),"v":"\#(name)","pulse":61}"#
        }
    }

    @Test func readingsOfAnotherLaneInTheRings() throws {
        let found = try exchange(
            Version(name: "v0", unit: "/min"), Version(name: "v1", unit: "/min"), until: "loaded the mappings")
        // Those that came after their lane had followed are rejected.
        #expect(found.flood > 1_000 && found.others > 0 && found.wrong == 0, "\(found)")
    }

    @Test func aUnitIsNotExchanged() throws {
        let found = try exchange(
            Version(name: "v0", unit: "mg/dL"), Version(name: "v1", unit: "mmol/L"), until: "the former ones stay")
        #expect(found.flood == 60_000 && found.others == 0 && found.wrong == 0, "\(found)")
    }

    /// Observations of the device that floods the rings with readings of `first`, of the other device, which sends
    /// readings of `second`, and such that state the code of the version that did not take them.
    private func exchange(
        _ first: Version, _ second: Version, until message: String
    ) throws -> (flood: Int, others: Int, wrong: Int) {
        let folder = TemporaryFolder()
        first.write(to: folder)
        let run = try Kymo.start([
            "run", "--unix", folder.file("a.sock"), "--unix", folder.file("b.sock"), "--mapping", folder.file("m/"),
            "--no-watch", "--ephemeral", "--lanes", "2", "--shards", "1", "--format", "ndjson",
        ])
        let trickle = try run.addresses(2)[0]
        let lines = folder.write("flood.ndjson", (0..<60_000).map { first.line("flood", $0) + "\n" }.joined())
        let flood = try Kymo.start(["replay", lines, "--rate", "40000", "--unix", folder.file("b.sock")])
        // A second of the flood has 40,000 readings, so that the rings are full of them by then.
        try Waiting.until("Observations of the flood") { run.output.count > 1_000_000 }
        second.write(to: folder)
        run.signal(SIGHUP)
        var number = 0
        var left = 400
        while left > 0 {
            if run.errorText.contains(message) { left -= 1 }
            try Sending.send(lines: [second.line("other", number)], to: trickle)
            number += 1
        }
        #expect(try flood.wait() == .exit(0))
        let done = try run.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
        let (flooded, others) = (
            done.lines.filter { $0.contains("\"flood") }, done.lines.filter { $0.contains("\"other") }
        )
        let wrong =
            flooded.filter { !$0.contains("\"code\":\"\(first.name)\"") }
            + others.filter { !$0.contains("\"code\":\"\(second.name)\"") }
        return (flooded.count, others.count, wrong.count)
    }
}
