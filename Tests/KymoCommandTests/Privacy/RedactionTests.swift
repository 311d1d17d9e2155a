import CommandSupport
import KymographTestKit
import Testing
import TrialSupport

/// Identifiers of devices, patients and encounters are in readings, letters, receipts and output, and nowhere else.
@Suite struct RedactionTests {
    /// Identifiers that are nothing else.
    private struct Identifiers {
        let device, patient, encounter, correlation, stranger: String

        var all: [String] { [device, patient, encounter, correlation, stranger] }

        init(seed: UInt64) {
            var generator = SeededGenerator(seed: seed)
            func next(_ name: String) -> String {
                "\(name)z" + String(UInt64.random(in: 1 << 40...1 << 50, using: &generator), radix: 36)
            }
            (device, patient, encounter) = (next("dev"), next("pat"), next("enc"))
            (correlation, stranger) = (next("cor"), next("str"))
        }

        /// A reading, with changes.
        func reading(_ second: Int, _ changes: [String: String] = [:]) -> String {
            let text = """
                {"deviceId":"\(device)","patientId":"\(patient)","encounterId":"\(encounter)",\
                "correlationId":"\(correlation)","type":"heartRate","timestamp":"2026-03-01T08:00:\(10 + second)Z",\
                "value":6\(second % 10),"unit":"/min"}
                """
            return changes.reduce(text) { $0.replacing($1.key, with: $1.value) }
        }

        /// Good ones, the same again, another value of one instant, and every way to be rejected.
        var lines: [String] {
            let good = (0..<5).map { reading($0) }
            let rejected = [
                reading(1, ["\"value\":61": "\"value\":\"\(patient)\""]), reading(2, ["heartRate": "nothing"]),
                reading(2, ["heartRate": patient]), reading(3, ["\"/min\"": "\"\(patient)\""]),
                reading(3, ["\"unit\":\"/min\"}": "\"unit\":\"/min\""]), reading(4, [device: ""]),
                reading(4, [device: "\\u0007\(device)"]), reading(4, ["2026": "2999"]),
                reading(4, ["2026-03-01": patient]),
                reading(4, ["\"value\"": "\"\(patient)\""]), "{\"\(patient)\":\"\(device)\"}", "\"\(patient)\"",
                "MSH|^~\\&|\(device)|\(patient)", reading(1, ["\"value\":61": "\"value\":99"]),
                reading(5, [device: stranger]), "{\"\(patient)\":\"" + String(repeating: device, count: 6_000) + "\"}",
            ]
            return good + good + rejected + [reading(5, ["08:00": "09:00"]), reading(5, ["08:00": "08:30"])]
        }
    }

    @Test(arguments: ["text", "json", "journald"]) func logsAndMetricsNameNobody(format: String) throws {
        let folder = TemporaryFolder()
        let identifiers = Identifiers(seed: Trials.seed(UInt64(format.utf8.count)))
        let server = try EchoingServer()
        let configuration = folder.write(
            "kymo.yaml",
            """
            mappings: [reading]
            window: 1m
            lateness: 0s
            sources:
              - {unix: a.sock}
              - {http: "127.0.0.1:0"}
              - {tcp: "127.0.0.1:0", defaultDevice: \(identifiers.device), defaultPatient: \(identifiers.patient)}
            patients: patients.csv
            patientConflict: map
            unmapped: reject
            server: {url: "\(server.url)", identity: create}
            output: {to: out}
            receipts: receipts
            data: data
            limits: {lineBytes: 4KiB}
            http: {admin: "127.0.0.1:0"}
            log: {level: debug, format: \(format)}
            """)
        folder.write("patients.csv", "device,patient\n\(identifiers.device),\(identifiers.patient)\n")
        let run = try Kymo.start(["run", "--config", configuration], directory: folder.path)
        let (addresses, admin) = try listeners(run)
        for address in addresses where !address.hasPrefix("http") {
            try Sending.send(lines: identifiers.lines, to: address.replacing("a.sock", with: folder.file("a.sock")))
        }
        try post(identifiers, to: addresses.first { $0.hasPrefix("http") } ?? "")
        func said(_ arguments: String...) throws -> String {
            let done = try Kymo.run(arguments + ["--data", folder.file("data")], directory: folder.path)
            return done.text + done.error
        }
        try Waiting.until("refusals: \(run.errorText)") { try said("dead").contains("serverRefused") }
        // A map that names one device twice.
        folder.write(
            "patients.csv",
            "device,patient\n\(identifiers.device),\(identifiers.patient)\n\(identifiers.device),\(identifiers.stranger)\n"
        )
        run.signal(1)
        try run.waitForError("patients.csv")
        folder.write("patients.csv", "device,patient\n\(identifiers.device),\(identifiers.stranger)\n")
        run.signal(1)
        var texts = [
            "metrics": try admin.get("/metrics").body, "readyz": try admin.get("/readyz").body,
            "nowhere": try admin.get("/\(identifiers.patient)").body, "status": try said("status"),
            "status json": try said("status", "--format", "json"),
            "prometheus": try said("status", "--format", "prometheus"),
            "top": try said("top", "--once"), "dead": try said("dead"), "flush": try said("flush"),
            "pause": try said("pause", "heartRate"), "resume": try said("resume", "heartRate"),
            "sources": try said("sources"), "ledger": try said("ledger"), "proof": try said("ledger", "--verify"),
            "ledger json": try said("ledger", "--format", "json"), "query count": try said("query", "--count"),
            "forget-lookups": try said("forget-lookups"),
        ]
        // What was asked for is in the trail, and not for whom.
        _ = try said("query", "--device", identifiers.device, "--patient", identifiers.patient)
        _ = try said("export", "--patient", identifiers.patient)
        _ = try said("dead", "show", "1")
        texts["audit"] = try said("audit")
        texts["audit ndjson"] = try said("audit", "list", "--format", "ndjson")
        texts["audit events"] = try said("audit", "events") + said("audit", "verify")
        texts["check"] = try check(configuration)
        texts["support"] = try support(folder, configuration)
        let done = try run.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
        texts["log"] = done.error
        #expect((done.balance?.rejected ?? 0) > 20 || format != "text", "\(done.error)")
        for (name, text) in texts {
            for identifier in identifiers.all {
                #expect(!text.contains(identifier), "\(identifier) in \(name): \(text)")
            }
        }
    }

    /// The addresses of the sources and of the admin listener, in whatever form the log has them.
    private func listeners(_ run: ChildProcess) throws -> ([String], AdminClient) {
        try run.waitForError("keeping data in")
        let text = run.errorText
        let addresses = text.matches(of: /listening on ([a-z]+ [^,"\n]+)/).map { String($0.1) }
        let port = text.firstMatch(of: /health on http:\/\/127\.0\.0\.1:([0-9]+)/).flatMap { UInt16($0.1) } ?? 0
        #expect(addresses.count == 3 && port > 0, "\(text)")
        return (addresses, AdminClient(port: port))
    }

    /// Good and bad requests, whose answers name nobody either.
    private func post(_ identifiers: Identifiers, to address: String) throws {
        let body = Array(identifiers.lines.joined(separator: "\n").utf8)
        let requests = [
            PostClient.request(body), PostClient.request(body, path: "/v1/ingest/\(identifiers.patient)"),
            PostClient.request(body, path: "/v1/ingest?device=\(identifiers.device)"),
            PostClient.request(body, type: identifiers.patient),
            PostClient.request(body, fields: "Authorization: Bearer \(identifiers.patient)\r\n"),
            PostClient.request(Array("{\"\(identifiers.patient)".utf8), type: "application/json"),
        ]
        for request in requests {
            let answer = try PostClient(address).exchange(request)
            let text = (answer?.header ?? "") + (answer?.body ?? "")
            for identifier in identifiers.all { #expect(!text.contains(identifier), "\(identifier) in \(text)") }
        }
    }

    /// What a check of the configuration says.
    private func check(_ configuration: String) throws -> String {
        let done = try Kymo.run(["check", "--config", configuration])
        return done.text + done.error
    }

    /// All that is in an archive for helpers.
    private func support(_ folder: TemporaryFolder, _ configuration: String) throws -> String {
        let done = try Kymo.run(["support", "--config", configuration, "--out", "s.tar.gz"], directory: folder.path)
        #expect(done.end == .exit(0), "\(done.error)")
        let unpacked = try ChildProcess("/bin/tar", ["-xzOf", folder.file("s.tar.gz")]).finish()
        #expect(unpacked.end == .exit(0) && unpacked.text.contains("openssl 3."), "\(unpacked.error)")
        return unpacked.text + done.error
    }
}
