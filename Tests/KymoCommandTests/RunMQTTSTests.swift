import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `kymo run` with a source `mqtts://`: TLS to Debian's broker.
@Suite(.enabled(if: Mosquitto.isInstalled, "needs the packages mosquitto and mosquitto-clients"))
struct RunMQTTSTests {
    private let folder = TemporaryFolder()
    private let authority: TestAuthority
    /// One that is not trusted.
    private let stranger: TestAuthority

    init() throws { (authority, stranger) = (try TestAuthority(), try TestAuthority()) }

    /// A configuration with one source of the broker at `url`, and `lines` of settings.
    private func configuration(_ url: String, _ lines: [String]) -> String {
        let settings = (["name: broker", "topics: ward/#"] + lines).map { "  \($0)\n" }.joined()
        return folder.write(
            "kymo.yaml",
            "data: \(folder.file("data"))\nhttp: {admin: \"127.0.0.1:0\"}\nsources:\n- mqtt: \(url)\n\(settings)")
    }

    private func url(_ broker: Mosquitto, _ host: String = "127.0.0.1") -> String { "mqtts://\(host):\(broker.port)" }

    private func start(_ configuration: String) throws -> ChildProcess {
        try Kymo.start(["run", "--config", configuration, "--out", folder.file("out")])
    }

    private func metric(_ run: ChildProcess, _ name: String) throws -> Int {
        let value = try AdminClient(run).value("\(name){source=\"broker\"}")
        return Int(try #require(value, "\(name)"))
    }

    private func waitForReadings(_ count: Int, _ run: ChildProcess) throws {
        try Waiting.until("\(count) messages in \(run.errorText)") {
            try metric(run, "kymo_source_messages_total") >= count
        }
    }

    private func reading(_ second: Int) -> String { Readings.heartRate(second: second, device: "a") }

    private var trusted: [String] { ["--cafile", authority.certificate] }

    // MARK: What works

    /// By a name and by an address, for each QoS; a broker that is killed and comes back is found again.
    @Test(arguments: ["1", "2"], ["localhost", "127.0.0.1"]) func messages(quality: String, host: String) throws {
        let broker = try Mosquitto(certificate: try authority.issue("localhost"))
        let file = configuration(url(broker, host), ["qos: \(quality)", "caFile: \(authority.certificate)"])
        let run = try start(file)
        try run.waitForError(": connected")
        try broker.publish((0..<300).map(reading), to: "ward/1", ["-q", quality, "-h", "localhost"] + trusted)
        try waitForReadings(300, run)
        let check = try Kymo.run(["check", "--connect", "--config", file])
        #expect(check.end == .exit(0) && !check.error.contains("warning: "), "\(check.error)")
        try broker.kill()
        try run.waitForError("connection lost: ")
        try broker.start()
        try Waiting.until("a second connection in \(run.errorText)") {
            run.errorText.ranges(of: ": connected").count == 2
        }
        try broker.publish((300..<400).map(reading), to: "ward/1", ["-q", quality, "-h", "localhost"] + trusted)
        try waitForReadings(400, run)
        #expect(try metric(run, "kymo_source_tls_failures_total") == 0)
        let balance = try #require(try run.terminate().balance)
        #expect(balance.accepted == 400 && balance.isClosed)
    }

    /// A certificate that is signed by itself is good when a copy of it is named, and for the names in it alone.
    @Test func aCopyOfTheCertificateIsEnough() throws {
        let pair = try authority.issueSelfSigned("own", hosts: "IP:127.0.0.1")
        let broker = try Mosquitto(certificate: pair)
        let run = try start(configuration(url(broker), ["caFile: \(pair.certificate)"]))
        try run.waitForError(": connected")
        _ = try run.terminate()
        let other = try start(configuration(url(broker, "localhost"), ["caFile: \(pair.certificate)"]))
        try other.waitForError("its certificate is for 127.0.0.1 and not for localhost")
        #expect(try other.terminate().end == .exit(0))
    }

    @Test func clientCertificates() throws {
        let server = try authority.issue("localhost")
        let client = try authority.issue("kymo")
        let unknown = try stranger.issue("kymo")
        let broker = try Mosquitto(
            certificate: server, "cafile \(authority.certificate)\nrequire_certificate true")
        let mine = folder.file("mine.pem")
        let trust = ["caFile: \(authority.certificate)"]
        let without = try start(configuration(url(broker), trust))
        try without.waitForError("it refuses a client without a certificate: name one as certificateFile")
        #expect(try without.terminate().end == .exit(0))
        // Certificate and key in one file.
        Files.write(Files.read(unknown.certificate) + Files.read(unknown.key), to: mine)
        unsafe chmod(mine, 0o600)
        let file = configuration(url(broker), trust + ["certificateFile: \(mine)"])
        let run = try start(file)
        try run.waitForError("it refuses the certificate \(mine): ")
        let refused = try Kymo.run(["check", "--connect", "--config", file])
        #expect(refused.end == .exit(77) && refused.error.contains("it refuses the certificate"), "\(refused.error)")
        // Another attempt reads it again.
        Files.write(Files.read(client.certificate) + Files.read(client.key), to: mine)
        try run.waitForError(": connected")
        #expect(try metric(run, "kymo_source_tls_failures_total") > 0)
        let end = try ChildProcess("openssl", ["x509", "-checkend", "0", "-noout", "-in", mine]).finish().end
        let ends = try metric(run, "kymo_source_certificate_expiry_timestamp_seconds")
        let now = Int(time(nil))
        #expect(end == .exit(0) && ends > now && ends <= now + 2 * 86_400)
        #expect(try run.terminate().error.ranges(of: "it refuses the certificate").count == 1)
    }

    /// The broker's certificate is renewed by another authority; the file of authorities follows.
    @Test func renewedCertificates() throws {
        let server = try authority.issue("localhost")
        let broker = try Mosquitto(certificate: server)
        let known = folder.file("ca.pem")
        Files.write(Files.read(authority.certificate), to: known)
        let run = try start(configuration(url(broker), ["caFile: \(known)"]))
        try run.waitForError(": connected")
        let renewed = try stranger.issue("localhost")
        Files.write(Files.read(renewed.certificate), to: server.certificate)
        Files.write(Files.read(renewed.key), to: server.key)
        try broker.stop()
        try broker.start()
        try run.waitForError("its certificate is of no authority in \(known)")
        Files.write(Files.read(stranger.certificate), to: known)
        try Waiting.until("a second connection in \(run.errorText)") {
            run.errorText.ranges(of: ": connected").count == 2
        }
        let ended = try run.terminate()
        #expect(ended.end == .exit(0))
        #expect(ended.error.ranges(of: "the file of authorities \(known) was read again").count == 1)
    }

    /// A certificate on the list of its authority is refused, and so is one without a list; a list that comes later
    /// counts at the next attempt.
    @Test func revokedCertificates() throws {
        let (server, other) = (try authority.issue("localhost"), try authority.issue("other"))
        let list = folder.file("crl.pem")
        Files.write(Files.read(try authority.revoke(server.certificate)), to: list)
        let broker = try Mosquitto(certificate: server)
        let trust = ["caFile: \(authority.certificate)", "crlFile: \(list)"]
        let run = try start(configuration(url(broker), trust))
        try run.waitForError("its certificate, or one above it, has been revoked by its authority: replace it")
        #expect(try metric(run, "kymo_source_tls_failures_total") > 0)
        let another = try TestAuthority("Another authority")
        Files.write(Files.read(try another.revoke(try another.issue("x").certificate)), to: list)
        try run.waitForError("\(list) has no list of its authority: add that")
        Files.write(Files.read(try authority.revoke(other.certificate)), to: list)
        try run.waitForError(": connected")
        try broker.publish([reading(0)], to: "ward/1", ["-q", "1", "-h", "localhost"] + trusted)
        try waitForReadings(1, run)
        #expect(try run.terminate().end == .exit(0))
    }

    // MARK: What is refused

    /// A broker that kymo does not go on with.
    enum Fault: CaseIterable {
        case ofAnotherAuthority, ofNoAuthority, elsewhere, nameless, expired, selfSigned, plain
    }

    /// The broker of `fault`, the settings by which it is reached, and what is said of it.
    private func faulty(_ fault: Fault) throws -> (broker: Mosquitto, settings: [String], message: String) {
        let trust = ["caFile: \(authority.certificate)"]
        let good = { try authority.issue("localhost") }
        switch fault {
        case .ofAnotherAuthority:
            let other = stranger.certificate
            return (try Mosquitto(certificate: try good()), ["caFile: \(other)"], "is of no authority in \(other)")
        case .ofNoAuthority:
            return (try Mosquitto(certificate: try good()), [], "is of no authority of this system: name")
        case .elsewhere:
            let pair = try authority.issue("elsewhere", hosts: "DNS:elsewhere.test,IP:10.0.0.1")
            let message = "its certificate is for elsewhere.test, 10.0.0.1 and not for 127.0.0.1: write one of these"
            return (try Mosquitto(certificate: pair), trust, message)
        case .nameless:
            let pair = try authority.issue("127.0.0.1", hosts: "email:a@b.test")
            return (
                try Mosquitto(certificate: pair), trust, "names no host as subjectAltName: give it one with 127.0.0.1"
            )
        case .expired:
            let pair = try authority.issueExpired("127.0.0.1", hosts: "IP:127.0.0.1")
            return (try Mosquitto(certificate: pair), trust, "has expired: renew that")
        case .selfSigned:
            let pair = try authority.issueSelfSigned("own", hosts: "IP:127.0.0.1")
            return (try Mosquitto(certificate: pair), trust, "is signed by itself: name a copy of it as caFile")
        case .plain:
            return (try Mosquitto(), trust, "before TLS was agreed on: look whether the port is its port for TLS")
        }
    }

    /// Each is told once in words that say what to do, counted at each attempt, and hears no password.
    @Test(arguments: Fault.allCases) func refused(fault: Fault) throws {
        let (broker, settings, message) = try faulty(fault)
        let password = folder.write("password", "geheim\n")
        unsafe chmod(password, 0o600)
        let file = configuration(url(broker), settings + ["user: kymo", "passwordFile: \(password)"])
        let run = try start(file)
        try run.waitForError("no connection: ")
        try Waiting.until("a second attempt in \(run.errorText)") {
            try metric(run, "kymo_source_tls_failures_total") > 1
        }
        let done = try run.terminate()
        #expect(done.error.ranges(of: message).count == 1, "\(done.error)")
        #expect(done.end == .exit(0) && !done.error.contains("geheim") && done.balance?.received == 0)
        let check = try Kymo.run(["check", "--connect", "--config", file])
        #expect(check.end == .exit(77) && check.error.contains(message), "\(check.error)")
    }

    /// A broker that speaks TLS and is reached without.
    @Test func withoutTLS() throws {
        let broker = try Mosquitto(certificate: try authority.issue("localhost"))
        let run = try start(configuration(broker.url(), []))
        try run.waitForError("look whether its port is one for TLS (mqtts://)")
        #expect(try run.terminate().end == .exit(0))
    }

    /// A broker that accepts the connection and says nothing is left; stopping does not wait for it.
    @Test func silence() throws {
        let broker = try Mosquitto(certificate: try authority.issue("localhost"))
        broker.pause()
        let run = try start(configuration(url(broker), ["caFile: \(authority.certificate)"]))
        try run.waitForError("no connection: it did not agree on TLS in time")
        #expect(try metric(run, "kymo_source_tls_failures_total") == 1)
        broker.goOn()
        try run.waitForError(": connected")
        #expect(try run.terminate().end == .exit(0))
    }

    /// Files that cannot be used are found before anything runs.
    @Test func mistakes() throws {
        let (certificate, key) = try authority.issue("kymo")
        let other = try authority.issue("other")
        let text = folder.write("text.pem", "hello")
        let cases: [(settings: [String], message: String)] = [
            (["caFile: \(folder.file("none.pem"))"], "none.pem cannot be read: No such file"),
            (["caFile: \(text)"], "text.pem holds no certificate in PEM form"),
            (["caFile: \(folder.path)"], "is no file"),
            (["certificateFile: \(certificate)"], "or name its key's own file as certificateKeyFile"),
            (["certificateFile: \(certificate)", "certificateKeyFile: \(other.key)"], "is not the key of"),
            (["certificateKeyFile: \(key)"], "certificateKeyFile has no effect without certificateFile"),
        ]
        for (settings, message) in cases {
            let file = configuration("mqtts://127.0.0.1:1", settings)
            for command in ["check", "run"] {
                let done = try Kymo.run([command, "--config", file])
                #expect(done.error.contains(message) && done.end != .exit(0), "\(command): \(done.error)")
            }
        }
    }
}
