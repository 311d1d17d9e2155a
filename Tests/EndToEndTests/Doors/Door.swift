import CommandSupport
import Kymograph
import KymographTestKit

/// `kymo run` with one source of a configuration file, and its metrics.
final class Door {
    let run: ChildProcess
    /// `tcp 127.0.0.1:40123`.
    let address: String
    /// The address that was asked for.
    let source: String
    let admin: AdminClient

    /// Starts with `source`, lines below `sources`, of a kind and a free port: `tcp: 127.0.0.1:0`; `settings` are
    /// further lines.
    init(_ source: String, in folder: TemporaryFolder, settings: String = "") throws {
        let text = "sources:\n\(source)\nhttp: {admin: \"127.0.0.1:0\"}\n\(settings)"
        let file = folder.write("kymo.yaml", text)
        run = try Kymo.start(["run", "--config", file, "--data", folder.file("data")])
        self.source = String(source.split(separator: "\n")[0].dropFirst(4)).replacing(": ", with: " ")
        address = try run.addresses()[0].split(separator: ",").first.map(String.init) ?? ""
        admin = try AdminClient(run)
    }

    var port: UInt16 { PostClient.port(address) }

    /// How many senders were none of the list of peers, by what did not show it.
    func authFailures() throws -> [String: Int] {
        var found: [String: Int] = [:]
        for reason in AuthFailure.allCases.map(\.rawValue) {
            let series = "kymo_auth_failures_total{source=\"\(source)\",reason=\"\(reason)\"}"
            if let value = try admin.value(series) { found[reason] = Int(value) }
        }
        return found
    }

    /// The value of a metric of the source.
    func metric(_ name: String) throws -> Int {
        let series = "\(name){source=\"\(source)\"}"
        guard let value = try admin.value(series) else { throw WaitError(description: "there is no \(series)") }
        return Int(value)
    }

    /// Sends SIGTERM; what it has counted.
    func balance() throws -> Balance {
        let done = try run.terminate()
        guard let balance = done.balance else { throw WaitError(description: done.error) }
        return balance
    }

    /// Starts `openssl s_client`, which sends what it reads; `arguments` besides the port and the authority.
    func tlsClient(_ authority: TestAuthority, _ arguments: [String] = []) throws -> ChildProcess {
        try ChildProcess(
            "openssl",
            ["s_client", "-quiet", "-no_ign_eof", "-connect", "127.0.0.1:\(port)", "-CAfile", authority.certificate]
                + arguments, input: .pipe)
    }

    /// Posts `lines` by curl; what it answers, and its exit status.
    func post(_ lines: [String], _ arguments: [String], scheme: String = "https") throws -> (String, ChildProcess.End) {
        let done = try ChildProcess(
            "curl",
            ["-sS", "-m", "30", "-H", "Content-Type: application/x-ndjson", "--data-binary", "@-"] + arguments
                + ["\(scheme)://localhost:\(port)/v1/ingest"], input: .bytes(Readings.ndjson(lines))
        ).finish()
        return (done.text, done.end)
    }
}
