import CommandSupport
import KymographTestKit
import Testing

/// The metrics of sources that SIGHUP removes.
@Suite struct RemovedSourceTests {
    /// The series of `/metrics` that name `source`.
    private func series(_ admin: AdminClient, _ source: String) throws -> [String] {
        try admin.get("/metrics").body.split(separator: "\n").map(String.init)
            .filter { !$0.hasPrefix("#") && $0.contains("source=\"\(source)\"") }
    }

    /// One that never brought a byte is gone at once, and with it the alert; of one that did, the counts stay. When it
    /// comes back, all is there again, and counts go on.
    @Test func seriesComeAndGo() throws {
        var scene = SourceReloadTests.Scene()
        let admin = "http: {admin: '127.0.0.1:0'}"
        let (used, spare) = ("{name: used, unix: used.sock}", "{name: spare, unix: spare.sock}")
        func configure(_ sources: [String], drain: Int) { scene.configure(sources, more: "drain: \(drain)s\n\(admin)") }
        configure([used, spare], drain: 31)
        try scene.start(3)
        let instance = try #require(scene.instance)
        let client = try AdminClient(instance)
        try Sending.send(lines: Readings.heartRates(5), to: "unix \(scene.run.folder.file("used.sock"))")
        let bytes = #"kymo_source_received_bytes_total{source="used"}"#
        try Waiting.until("readings of 'used'") { try client.value(bytes) ?? 0 > 0 }
        let before = try client.value(bytes)
        #expect(try series(client, "spare").contains(#"kymo_source_received_bytes_total{source="spare"} 0"#))
        configure([], drain: 32)
        try scene.reload("→ 32s")
        #expect(try series(client, "spare") == [])
        let left = try series(client, "used")
        #expect(try client.value(bytes) == before && left.allSatisfy { !$0.hasSuffix(" 0") }, "\(left)")
        #expect(left.allSatisfy { $0.contains("_total{") }, "\(left)")
        let status = try Kymo.run(["status", "--format", "prometheus", "--data", scene.run.data])
        #expect(!status.text.contains("spare") && status.text.contains(bytes), "\(status.error)")
        configure([used, spare], drain: 33)
        try scene.reload("→ 33s")
        #expect(try series(client, "spare").contains(#"kymo_source_received_bytes_total{source="spare"} 0"#))
        #expect(try client.value(bytes) == before)
        #expect(try client.value(#"kymo_source_connections{source="used"}"#) == 0)
        let end = try scene.end()
        #expect(end.end == .exit(0) && end.balance?.received == 5, "\(end.error)")
    }
}
