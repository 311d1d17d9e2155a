import CommandSupport
import KymographTestKit
import Testing

/// Brokers by TLS: a relay that speaks it stands before the cluster, for each broker that the cluster names.
@Suite(.serialized) struct KafkaTLSTests {
    private static let lines = (0..<40).map { Readings.heartRate(second: $0, device: "bed-\($0 % 2)") }

    private func arguments(
        _ authority: TestAuthority, hosts: String = "IP:127.0.0.1", wantsClients: Bool = false
    ) throws -> [String] {
        let (certificate, key) = try authority.issue("broker", hosts: hosts)
        return ["--certificate", certificate, "--key", key]
            + (wantsClients ? ["--authority", authority.certificate] : [])
    }

    private func properties(_ authority: TestAuthority, _ more: String = "") -> String {
        "security.protocol=ssl\nssl.ca.location=\(authority.certificate)\n\(more)"
    }

    private func handshakes(_ run: KafkaRun) throws -> Int {
        let counts = try JSONTree(parsing: Array(run.answer("/handshakes").utf8))
        return Int(counts["taken"]?.digits ?? "") ?? 0
    }

    @Test func sends() throws {
        let authority = try TestAuthority()
        let run = try KafkaRun(arguments(authority))
        run.properties(properties(authority))
        run.configure(", propertiesFile: kafka.properties")
        let done = try run.run(Self.lines)
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(try Set(run.messages().compactMap(\.key)) == ["bed-0", "bed-1"])
        #expect(try handshakes(run) > 0)
    }

    @Test func reads() throws {
        let authority = try TestAuthority()
        let run = try KafkaReadingRun(arguments(authority))
        let lines = KafkaReadingRun.lines(seed: 3, count: 60)
        run.kafka.properties(properties(authority))
        run.configure(", propertiesFile: kafka.properties")
        try run.store(lines)
        let process = try run.start()
        try run.wait(for: KafkaReadingRun.counts(lines), of: process)
        #expect(try process.terminate().end == .exit(0))
        let differences = try run.written().differences(from: KafkaReadingRun.expected(lines), ignoring: ["status"])
        #expect(differences.isEmpty, "\(differences.prefix(5))")
        #expect(try handshakes(run.kafka) > 0)
    }

    /// What stands in the way of trust.
    enum Obstacle: String, CaseIterable {
        /// Brokers have a certificate of an authority that the file does not name.
        case authority
        /// Their certificate is for another host.
        case name
        /// They want a certificate of the client.
        case client
    }

    /// Nothing is sent to brokers that are not who they should be, or that do not know this client; what waits is sent
    /// once the file is right.
    @Test(arguments: Obstacle.allCases) func strangersGetNothing(obstacle: Obstacle) throws {
        let (authority, other) = (try TestAuthority(), try TestAuthority("another authority"))
        let hosts = obstacle == .name ? "DNS:elsewhere.kymograph.test" : "IP:127.0.0.1"
        let run = try KafkaRun(arguments(authority, hosts: hosts, wantsClients: obstacle == .client))
        run.properties(properties(obstacle == .authority ? other : authority))
        run.configure(", propertiesFile: kafka.properties", more: "drain: 2s")
        let done = try run.run(Self.lines)
        // All of it waits in the store.
        #expect(done.end == .exit(0) && done.error.contains("for the next start"), "\(done.end) \(done.error)")
        #expect(try run.messages().isEmpty)
        let own = try authority.issue("kymo")
        let mended =
            switch obstacle {
            case .authority: ""
            case .name: "ssl.endpoint.identification.algorithm=none\n"
            case .client: "ssl.certificate.location=\(own.certificate)\nssl.key.location=\(own.key)\n"
            }
        run.properties(properties(authority, mended))
        let next = try run.run([])
        #expect(next.end == .exit(0), "\(next.error)")
        #expect(try Set(run.messages().compactMap(\.key)) == ["bed-0", "bed-1"])
    }
}
