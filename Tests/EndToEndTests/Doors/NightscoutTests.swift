import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Apps that upload glucose to Nightscout.
@Suite struct NightscoutTests {
    private let folder = TemporaryFolder()
    private let secret = "twelve-chars"

    private func door(mappings: String = "nightscout", _ settings: [String] = []) throws -> Door {
        let file = folder.write("secret", secret + "\n")
        unsafe chmod(file, 0o600)
        let token = folder.write("token", "0123456789abcdef\n")
        unsafe chmod(token, 0o600)
        let list = folder.write(
            "peers.yaml",
            "peers:\n  - nightscoutSecretFile: \(file)\n    name: anna\n  - tokenFile: \(token)\n    name: bert\n")
        return try Door(
            TLSText.source("http", ["mappings: \(mappings)", "peers: \(list)", "defaultPatient: p-1"] + settings),
            in: folder)
    }

    private func ask(
        _ door: Door, _ method: String, _ path: String, _ body: String = "", fields: [String]
    ) throws -> AdminClient.Answer {
        let length = body.isEmpty ? [] : ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
        let lines = ["\(method) \(path) HTTP/1.1", "Host: a", "Connection: close"] + length + fields
        let request = lines.joined(separator: "\r\n") + "\r\n\r\n" + body
        return AdminClient.answer(try RawConnection.exchange(request, port: door.port))
    }

    private func entry(_ minute: Int, _ value: String = "\"type\":\"sgv\",\"sgv\":104") -> String {
        "{\"device\":\"xDrip-DexcomG5\",\"date\":\(1_772_352_005_000 + minute * 60_000),\"direction\":\"Flat\",\(value)}"
    }

    /// The SHA-1 of the secret, as the command computes it.
    private func sha1(_ text: String) throws -> String {
        let done = try ChildProcess("sha1sum", [], input: .bytes(Array(text.utf8))).finish()
        return String(done.text.prefix(40))
    }

    /// What xDrip+ posts, after it has asked whether the server is there.
    @Test func entriesOfBothForms() throws {
        let door = try door()
        let bearing = ["api-secret: \(try sha1(secret))"]
        #expect(try ask(door, "GET", "/api/v1/status.json", fields: bearing).body.contains("\"status\":\"ok\""))
        #expect(try ask(door, "GET", "/api/v1/experiments/test", fields: bearing).status == 200)
        let entries = [
            entry(0), entry(5), entry(5, "\"type\":\"mbg\",\"mbg\":95"), entry(6, "\"type\":\"cal\",\"slope\":856.59"),
            entry(10, "\"type\":\"sgv\",\"sgv\":5.8"),
        ]
        let array = try ask(
            door, "POST", "/api/v1/entries", "[\(entries.joined(separator: ","))]", fields: bearing)
        #expect(array.status == 200, "\(array)")
        #expect(array.body == "[{},{},{},{\"reason\":\"noTemplate\"},{\"reason\":\"noTemplate\"}]\n")
        let single = try ask(door, "POST", "/api/v1/entries.json", entry(15), fields: bearing)
        #expect(single.status == 200 && single.body == "[{}]\n", "\(single)")
        #expect(try ask(door, "POST", "/api/v1/entries", "[]", fields: bearing).body == "[]\n")
        let upper = try ask(
            door, "POST", "/api/v1/entries", entry(15), fields: ["API-SECRET: \(try sha1(secret).uppercased())"])
        #expect(upper.status == 200)
        let byToken = ["Authorization: Bearer 0123456789abcdef"]
        #expect(try ask(door, "POST", "/api/v1/entries", entry(20), fields: byToken).status == 200)
        let balance = try door.balance()
        #expect(balance.received == 8 && balance.accepted == 5 && balance.duplicate == 1 && balance.rejected == 2)
        #expect(balance.isClosed)
        let query = try Kymo.run(["query", "--readings", "--data", folder.file("data")])
        #expect(query.text.contains("p-1") && query.text.contains("capillaryGlucose"), "\(query.text)")
    }

    @Test func strangersAreNotLetIn() throws {
        let door = try door()
        let hash = try sha1(secret)
        let bad = [
            [], ["api-secret: \(secret)"], ["api-secret: \(try sha1("another"))"], ["api-secret: "],
            ["api-secret: \(hash)", "api-secret: \(hash)"], ["api-secret: \(hash)", "Authorization: Bearer x"],
        ]
        for fields in bad {
            for (method, path) in [("POST", "/api/v1/entries"), ("GET", "/api/v1/experiments/test")] {
                let answer = try ask(door, method, path, method == "POST" ? entry(0) : "", fields: fields)
                #expect(answer.status == 401 && !answer.body.contains("104"), "\(fields): \(answer)")
            }
        }
        #expect(try door.authFailures() == ["token": 2 * bad.count])
        #expect(try door.balance().received == 0)
        #expect(!door.run.errorText.contains(secret) && !door.run.errorText.contains(hash))
    }

    /// Only where its mapping is, and nothing else of the API.
    @Test func onlyForItsMapping() throws {
        let bearing = ["api-secret: \(try sha1(secret))"]
        let here = try door(mappings: "[reading, nightscout]")
        #expect(try ask(here, "POST", "/api/v1/entries", entry(0), fields: bearing).status == 200)
        #expect(try ask(here, "GET", "/api/v1/entries", fields: bearing).status == 405)
        #expect(try ask(here, "POST", "/api/v1/status", "{}", fields: bearing).header.contains("Allow: GET"))
        for path in ["/api/v1/treatments", "/api/v1/entries/sgv.json", "/api/v2/entries", "/api/v1/entriesx"] {
            #expect(try ask(here, "POST", path, "{}", fields: bearing).status == 404, "\(path)")
        }
        #expect(try here.balance().accepted == 1)
        let other = try door(mappings: "reading")
        for (method, path) in [("POST", "/api/v1/entries"), ("GET", "/api/v1/status.json")] {
            let answer = try ask(other, method, path, method == "POST" ? entry(0) : "", fields: bearing)
            #expect(answer.status == 404 && answer.body.contains("mappingNotFound"), "\(answer)")
        }
    }

    /// An app with the port of another person brings nothing under that person's name.
    @Test func nobodyIsFiledUnderAnother() throws {
        let (anna, bert) = ("secret-of-anna", "secret-of-bert")
        for secret in [anna, bert] {
            let file = folder.write(secret, secret + "\n")
            unsafe chmod(file, 0o600)
        }
        let list = folder.write(
            "peers.yaml",
            """
            peers:
              - nightscoutSecretFile: \(folder.file(anna))
                patients: [anna]
              - nightscoutSecretFile: \(folder.file(bert))
                patients: [bert]
            """)
        let sources = ["anna", "bert"].map { name in
            TLSText.source(
                "http", ["name: \(name)", "mappings: nightscout", "defaultPatient: \(name)", "peers: \(list)"])
        }
        let file = folder.write("kymo.yaml", "sources:\n\(sources.joined(separator: "\n"))\n")
        let run = try Kymo.start(["run", "--config", file, "--data", folder.file("data")])
        let ports = try run.addresses(2).map(PostClient.port)
        try #require(ports.count == 2)
        for (port, secret, isOwn) in [(ports[0], anna, true), (ports[0], bert, false), (ports[1], anna, false)] {
            let body = Array(entry(0).utf8)
            let request = PostClient.request(
                body, path: "/api/v1/entries", type: "application/json",
                fields: "api-secret: \(try sha1(secret))\r\nConnection: close\r\n")
            let answer = AdminClient.answer(
                try RawConnection.exchange(String(decoding: request, as: UTF8.self), port: port))
            #expect(answer.status == (isOwn ? 200 : 403), "\(answer)")
            #expect(
                isOwn ? answer.body == "[{}]\n" : answer.body.contains("\"error\":\"patientNotAllowed\""), "\(answer)")
        }
        let balance = try #require(try run.terminate().balance)
        #expect(balance.accepted == 1 && balance.reasons == ["patientNotAllowed": 2] && balance.isClosed)
        let bound = try Kymo.run(["check", "--config", file])
        #expect(bound.end == .exit(0) && !bound.error.contains("warning: "), "\(bound.error)")
        Files.write(Array(Files.text(list).replacing("    patients: [bert]", with: "").utf8), to: list)
        let unbound = try Kymo.run(["check", "--config", file])
        #expect(
            unbound.error.contains("warning: ") && unbound.error.contains("state patient for each"), "\(unbound.error)")
    }

    @Test func mistakesAreSaid() throws {
        let short = folder.write("secret", "eleven-char\n")
        unsafe chmod(short, 0o600)
        let list = folder.write("peers.yaml", "peers:\n  - nightscoutSecretFile: \(short)\n")
        let web = TLSText.source("http", ["peers: \(list)"])
        let check = try Kymo.run(["check", "--config", folder.write("k.yaml", "sources:\n\(web)\n")])
        let message = "has a secret of less than 12 characters; make one with"
        #expect(check.end == .exit(78) && check.error.contains(message), "\(check.error)")
        let good = folder.write("secret", "twelve-chars\n")
        unsafe chmod(good, 0o600)
        let source = TLSText.source("tcp", ["peers: \(list)"])
        let done = try Kymo.run(["check", "--config", folder.write("k.yaml", "sources:\n\(source)\n")])
        #expect(done.end == .exit(78) && done.error.contains("only requests of http sources bear"), "\(done.error)")
    }
}
