import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// What is said of `kafka:` sinks that cannot work.
@Suite(.serialized) struct KafkaSettingsTests {
    private func check(_ sink: String, _ more: String = "data: data", properties: String? = nil, mode: mode_t = 0o600)
        throws -> Kymo.Finished
    {
        let folder = TemporaryFolder()
        if let properties {
            // Safe: Swift lends the path for the call.
            unsafe chmod(folder.write("p", properties), mode)
        }
        folder.write("kymo.yaml", "sources: [{unix: a.sock}]\nsinks: [{\(sink)}]\n\(more)\n")
        return try Kymo.run(["check", "--config", "kymo.yaml"], directory: folder.path)
    }

    @Test func mistakes() throws {
        for (sink, more, text) in [
            ("kafka: \"broker:9092/t\"", "", "kymo.yaml:2:17: error: sinks[0].kafka: it is no place of a topic"),
            ("kafka: \"kafka://u:secret@b/t\"", "", "kafka: it has a user, or a password"),
            ("kafka: \"kafka://b\"", "", "kafka: it names no topic"),
            ("kafka: \"kafka://b/t\"", "data: d", "brokers on other machines would get readings in plain text"),
            ("kafka: \"kafka://localhost/t\"", "ephemeral: true", "what brokers have not taken must wait on the disk"),
            ("kafka: \"kafka://localhost/t\", partitionKey: x", "data: d", "device, none"),
            ("to: out, propertiesFile: p", "data: d", "it has no effect without a kafka"),
        ] {
            let done = try check(sink, more)
            #expect(done.error.contains(text), "\(sink): \(done.error)")
            #expect(!done.error.contains("secret"), "\(done.error)")
            #expect(done.end == .exit(text.contains("no effect") ? 0 : 78), "\(sink): \(done.error)")
        }
    }

    @Test func files() throws {
        let sink = "kafka: \"kafka://broker.example/t\", propertiesFile: p"
        for (text, mode, said) in [
            ("sasl.username=x", 0o600, "it does not say security.protocol"),
            ("security.protocol=sasl_ssl\nsasl.passwort=secret", 0o600, "p:2: librdkafka takes no such sasl.passwort"),
            ("security.protocol=ssl\nplugin.library.paths=secret.so", 0o600, "p:2: kymo decides on"),
            ("security.protocol=secret", 0o600, "p:1: librdkafka takes no such security.protocol"),
            ("security.protocol=plaintext", 0o644, "p"),
        ] as [(String, mode_t, String)] {
            let done = try check(sink, properties: text, mode: mode)
            #expect(done.end == .exit(78) && done.error.contains("propertiesFile: "), "\(text): \(done.error)")
            #expect(done.error.contains(said) && !done.error.contains("secret"), "\(text): \(done.error)")
        }
        #expect(try check(sink, properties: "security.protocol=plaintext").end == .exit(0))
        let missing = try check(sink)
        #expect(missing.end == .exit(78) && missing.error.contains("propertiesFile: "), "\(missing.error)")
    }

    /// `kymo check --connect` asks for the topic, and writes nothing.
    @Test func checkConnects() throws {
        let run = try KafkaRun()
        run.configure(more: "sources: [{unix: a.sock}]")
        let right = try run.kymo("check", "--connect", "--config", "kymo.yaml")
        #expect(
            right.end == .exit(0)
                && right.error.contains("\(run.brokers)/readings answers: the topic has 4 partitions"),
            "\(right.error)")
        run.configure(more: "sources: [{unix: a.sock}]", place: "kafka://127.0.0.1:9/readings")
        let away = try run.kymo("check", "--connect", "--config", "kymo.yaml")
        #expect(away.end == .exit(69) && away.error.contains("Connection refused"), "\(away.error)")
        #expect(try run.messages().isEmpty)
    }
}
