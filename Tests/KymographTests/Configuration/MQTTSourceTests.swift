@testable import Kymograph
import KymographCore
import KymographTemplates
import Testing

/// Brokers as a configuration names them.
@Suite struct MQTTSourceTests {
    @Test(arguments: [
        ("mqtt://broker:1884", "broker:1884"), ("mqtt://broker", "broker:1883"), ("broker:1883", "broker:1883"),
        ("mqtt://[::1]:7", "[::1]:7"), ("mqtt://[::1]", "[::1]:1883"), ("MQTT://10.0.0.1", "10.0.0.1:1883"),
        ("mqtts://broker", "broker:8883"), ("mqtt://b/ward/+/x", "b:1883"),
    ])
    func addresses(text: String, place: String) throws {
        let source = try MQTTSource(parsing: text)
        #expect(source.address.text == place)
        #expect(try MQTTSource(parsing: source.text) == source)
        let named = try #require(IngestKinds.builtIn.address(named: source.name) as? MQTTSource)
        #expect(named.address == source.address && named.isSecure == source.isSecure)
    }

    @Test(arguments: [
        "", "mqtt://", "mqtt://:1883", "mqtt://b:0", "mqtt://b:65536", "mqtt://b:x", "http://b", "mqtt://::1",
        "mqtt://b c", "mqtt://b/a#", "mqtt://b\n",
    ])
    func refused(text: String) {
        #expect(throws: SettingProblem.self) { try MQTTSource(parsing: text) }
    }

    /// A password in the URL is refused, and not repeated.
    @Test func noPasswords() throws {
        let problem = try #require(throws: SettingProblem.self) { try MQTTSource(parsing: "mqtt://u:geheim@b:1") }
        #expect(problem.advice.contains("passwordFile") && !problem.message.contains("geheim"))
    }

    /// What a configuration of one source says is wrong; nil when nothing is.
    private func problems(_ lines: String..., severity: Diagnostic.Severity = .error) -> [String] {
        let source = lines.enumerated().map { "\($0 == 0 ? "- " : "  ")\($1)\n" }.joined()
        let text = "sources:\n\(source)"
        let (_, diagnostics) = ConfigurationLoader.load(
            ConfigurationInput(file: (name: "kymo.yaml", bytes: Array(text.utf8))))
        return diagnostics.filter { $0.severity == severity }.map { "\($0.message); \($0.advice)" }
    }

    @Test func whatGoesTogether() {
        let local = "mqtt: mqtt://127.0.0.1"
        #expect(problems(local, "topics: [w/+, 'h/{patient}']", "qos: 2", "mqttVersion: 3.1.1") == [])
        #expect(problems("mqtt: mqtt://127.0.0.1/w/+", "clientId: a", "user: u", "passwordFile: p") == [])
        #expect(problems(local).first?.contains("no topic is named") == true)
        #expect(problems("mqtt: mqtt://broker/a").first?.contains("insecure: true") == true)
        #expect(problems("mqtt: mqtt://broker/a", "insecure: true") == [])
        #expect(problems("mqtt: mqtt://localhost/a", "topics: [a]").first?.contains("is there twice") == true)
        #expect(problems("mqtt: mqtt://localhost/a", "topics: [$share/g/a]").first?.contains("sharded: true") == true)
        #expect(problems("mqtt: mqtt://localhost/a", "topics: [$share/g/a]", "sharded: true") == [])
        #expect(problems("mqtt: mqtt://localhost/a", "passwordFile: p").first?.contains("write user") == true)
        #expect(problems("mqtt: mqtt://localhost/a", "whenFull: dropNewest").first?.contains("whenFull: block") == true)
        #expect(problems(local, "topics: [a, 'b#']").first?.contains("'b#' is no topic filter") == true)
        #expect(problems(local, "topics: [a]", "statusTopic: a/#").first?.contains("no topic to publish to") == true)
    }

    /// TLS needs no word that others may read along; its files do nothing without it.
    @Test func whatGoesTogetherWithTLS() {
        #expect(problems("mqtt: mqtts://broker/a") == [])
        #expect(problems("mqtt: mqtts://broker/a", "caFile: c", "certificateFile: a", "certificateKeyFile: k") == [])
        #expect(problems("mqtt: mqtts://broker/a", "certificateKeyFile: k").first?.contains("without certif") == true)
        for key in ["caFile", "certificateFile", "certificateKeyFile"] {
            let said = problems("mqtt: mqtt://localhost/a", "\(key): c").first
            #expect(said?.contains("mqtt:// is not encrypted") == true, "\(key)")
            #expect(said?.contains("write mqtts://") == true, "\(key)")
        }
        for key in ["clientCAFile", "clientCRLFile", "connections"] {
            let said = problems("mqtt: mqtts://broker/a", "\(key): 1", severity: .warning).first
            #expect(said?.contains("it has no effect here") == true, "\(key)")
        }
        let elsewhere = problems("tcp: 127.0.0.1:0", "caFile: c", severity: .warning).first
        #expect(elsewhere?.contains("it is for mqtt only") == true)
    }

    /// Two sources of one broker are two sessions, and have two names.
    @Test func severalSessions() {
        let text = { (first: String, second: String) in
            """
            sources:
            - mqtt: mqtt://localhost/a
            \(first)
            - mqtt: mqtt://localhost/b
            \(second)
            """
        }
        func messages(_ text: String) -> [String] {
            let (_, diagnostics) = ConfigurationLoader.load(
                ConfigurationInput(file: (name: "kymo.yaml", bytes: Array(text.utf8))))
            return diagnostics.filter { $0.severity == .error }.map(\.message)
        }
        #expect(messages(text("", ""))[0].contains("two sources are called mqtt localhost:1883"))
        #expect(messages(text("  name: one", "")) == [])
        let same = messages(text("  name: one\n  clientId: c", "  clientId: c"))
        #expect(same.count == 1 && same[0].contains("two sources have this client id"))
    }
}
