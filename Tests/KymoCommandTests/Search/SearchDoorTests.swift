import CommandSupport
import KymographTestKit
import Testing

/// The FHIR search of the archive: who may ask, and what becomes of requests that ask for something else.
@Suite struct SearchDoorTests {
    private func filled(_ arguments: [String] = []) throws -> SearchedRun {
        let stored = StoredRun()
        try stored.run(WardReadings.many(seed: 2))
        return try SearchedRun(stored, arguments)
    }

    /// Without a token nothing is said, not even what there is.
    @Test func tokens() throws {
        let run = try filled(["--console"])
        let id = try run.all("_count=1")[0].id
        let tokens = [
            nil, "a-token-for-nobody-at-all", String(SearchedRun.all.dropLast()), SearchedRun.all + "x", "", "é",
            SearchedRun.all.uppercased(),
        ]
        for token in tokens {
            for path in ["metadata", "Observation", "Observation?patient=%7Cp1", "Observation/\(id)", "Patient", ""] {
                let answer = try run.get(path, token: token)
                #expect(answer.status == 401 && answer.body.isEmpty, "\(token ?? "none") \(path): \(answer.body)")
                #expect(answer.header.contains("WWW-Authenticate: Bearer"))
            }
        }
        let twice = "Authorization: Bearer \(SearchedRun.all)\r\n"
        #expect(try run.get("metadata", fields: twice).status == 401)
        #expect(try run.get("metadata", token: nil, fields: "Cookie: token=\(SearchedRun.all)\r\n").status == 401)
        #expect(try run.get("metadata?access_token=\(SearchedRun.all)", token: nil).status == 401)
        // What the one client may not see is not there for it, whether it was found by another or not.
        let foreign = try #require(try run.all("device=urn:kymograph:device%7Cw2").first)
        #expect(try run.get("Observation/\(foreign.id)", token: SearchedRun.one).status == 404)
        #expect(try run.bundle("_id=\(foreign.id)", token: SearchedRun.one).resources.isEmpty)
        // A cursor of the one is none of the other's.
        let next = try #require(try run.bundle("_count=5").link("next"))
        #expect(try run.get("Observation?\(next)", token: SearchedRun.one).status == 400)
        #expect(try run.run.terminate().end == .exit(0))
    }

    /// Each search is in the log, by the numbers of series; no identifier is.
    @Test func audit() throws {
        let run = try filled()
        _ = try run.bundle("patient=urn:kymograph:patient%7Cp1", token: SearchedRun.one)
        let id = try run.all("_count=1")[0].id
        #expect(try run.get("Observation/\(id)").status == 200)
        let total = try #require(try run.bundle("_summary=count")["total"]?.integer)
        #expect(try run.bundle("code=nothing").resources.isEmpty)
        let log = try run.run.terminate().error
        #expect(log.contains(/search: study has searched Observations of series [0-9, ]+, and got [0-9]+/), "\(log)")
        #expect(log.contains(/search: emr has searched Observations of series [0-9]+, and got 1/), "\(log)")
        #expect(log.contains("search: emr has searched Observations of all series, and got 0"), "\(log)")
        #expect(log.contains("search: emr has counted Observations of all series, and was told \(total)"), "\(log)")
        #expect(log.contains(/search: emr has read an Observation of series [0-9]+, and got 1/))
        #expect(!log.contains("p1") && !log.contains(id) && !log.contains("token-for"))
    }

    /// What cannot be read is refused with the parameter's name, and shows nothing.
    @Test(arguments: [
        ("patientt=urn:kymograph:patient%7Cp1", "http.patientt"), ("patient=p1", "http.patient"),
        ("patient=Patient/p1", "http.patient"), ("patient=%7Cp1%00", "http.patient"),
        ("patient=%7C%27%20OR%201%3D1--%zz", "http.patient"), ("_count=1e9", "http._count"),
        ("_cursor=00", "http._cursor"), ("_cursor=%27;DROP%20TABLE%20window", "http._cursor"),
        ("date=2026-99", "http.date"), ("_sort=-patient", "http._sort"), ("code:text=heart", "http.code:text"),
    ])
    func refusals(query: String, expression: String) throws {
        let run = try filled()
        let answer = try run.get("Observation?\(query)")
        let outcome = try JSONTree(parsing: Array(answer.body.utf8))
        #expect(answer.status == 400 && outcome["resourceType"]?.text == "OperationOutcome", "\(answer.body)")
        #expect(outcome["issue"]?.elements?.first?["expression"]?.elements == [.string(expression)])
        #expect(answer.header.contains("application/fhir+json") && !answer.body.contains("Observation\""))
        #expect(try run.run.terminate().end == .exit(0))
    }

    /// Metacharacters are characters, long values are refused or find nothing, and the process goes on.
    @Test func attacks() throws {
        let run = try filled()
        let everything = try run.all("_count=1000").count
        let texts = [
            "' OR '1'='1", "\" OR 1=1 --", "p1'; DROP TABLE window; --", "%", "_", "p%", "*", "p1\\", "../p1",
            "p1\u{202E}", "{\"$ne\":null}", "p1) OR (1=1", String(repeating: "a", count: 8_000),
        ]
        for text in texts where !text.hasSuffix("\\") {
            let value = text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            for name in ["patient", "device"] {
                let answer = try run.get("Observation?\(name)=%7C\(value)")
                #expect([200, 400, 431].contains(answer.status) && !answer.body.contains("\"match\""), "\(text)")
            }
            let answer = try run.get("Observation?code=\(value)")
            #expect([200, 400, 431].contains(answer.status) && !answer.body.contains("\"match\""), "\(text)")
        }
        let long = try run.get("Observation?code=" + String(repeating: "a", count: 20_000))
        #expect(long.status == 431)
        let bundle = try run.bundle("_count=999999999999999999999")
        #expect(bundle.resources.count == everything && bundle.link("self") == "_count=999999999999999999999")
        for path in [
            "Observation/../metadata", "Observation/%2e%2e", "Observation/a/_history", "Patient/p1", "_history", "$x",
        ] {
            #expect(try run.get(path).status == 404, "\(path)")
        }
        #expect(try run.get("Observation/nothing").status == 404)
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
            #expect(try run.get("Observation", method: method).status == 405, "\(method)")
            #expect(try run.get("Observation/x", method: method).status == 405, "\(method)")
        }
        #expect(try run.get("Observation/_search").status == 405)
        #expect(try run.get("Observation", fields: "Accept: application/fhir+xml\r\n").status == 406)
        #expect(try run.get("Observation?_format=xml").status == 406)
        #expect(try run.all("_count=1000").count == everything)
        #expect(try run.run.terminate().end == .exit(0))
    }

    /// A lenient search passes over names that it does not know, and its links say so.
    @Test func lenient() throws {
        let run = try filled()
        let answer = try run.get(
            "Observation?colour=red&patient=urn:kymograph:patient%7Cp1", fields: "Prefer: handling=lenient\r\n")
        let bundle = try JSONTree(parsing: Array(answer.body.utf8))
        #expect(answer.status == 200 && bundle.link("self") == "patient=urn%3Akymograph%3Apatient%7Cp1")
        #expect(bundle.resources.allSatisfy { $0["subject"]?["identifier"]?["value"]?.text == "p1" })
        let strict = try run.get("Observation?colour=red", fields: "Prefer: handling=strict\r\n")
        #expect(strict.status == 400)
        #expect(try run.run.terminate().end == .exit(0))
    }

    /// A form keeps identifiers out of addresses.
    @Test func forms() throws {
        let run = try filled()
        let found = try run.post("patient=urn:kymograph:patient%7Cp1&_count=1000")
        let bundle = try JSONTree(parsing: Array(found.body.utf8))
        #expect(try bundle.resources == run.all("patient=urn:kymograph:patient%7Cp1"))
        #expect(try run.post("patient=p1").status == 400)
        // Links to further pages have nothing of it, and want it again.
        let form = "patient=urn:kymograph:patient%7Cp1&_count=7"
        var (pages, next): ([JSONTree], String?) = ([], "")
        while let query = next {
            let page = try JSONTree(parsing: Array(try run.post(form, query: query).body.utf8))
            pages += page.resources
            for link in page["link"]?.elements ?? [] {
                let url = try #require(link["url"]?.text)
                #expect(url.contains("/Observation/_search") && !url.contains("patient"), "\(url)")
            }
            next = page.link("next")
            guard let next else { break }
            #expect(next.hasPrefix("_cursor=") && !next.contains("&"))
            #expect(try run.get("Observation?\(next)").status == 400)
            #expect(try run.post("patient=urn:kymograph:patient%7Cp2&_count=7", query: next).status == 400)
        }
        #expect(pages == bundle.resources && pages.count > 7)
        #expect(try run.post("{}", type: "application/json").status == 415)
        #expect(try run.run.terminate().end == .exit(0))
    }

    /// What rules veto or patch is not what the archive has: while there are such rules, nothing is shown.
    @Test func rulesOfResources() throws {
        let stored = StoredRun()
        try stored.run(WardReadings.many(seed: 2))
        let harmless = "rules:\n  - name: bench\n    then: drop\n    devices: [\"test-*\"]\n"
        let veto = "resources:\n  - name: study\n    then: veto\n    devices: [\"w2\"]\n"
        let file = stored.folder.write("rules.yaml", harmless)
        let run = try SearchedRun(stored, ["--rules", file])
        let id = try run.all("_count=1000")[0].id
        stored.folder.write("rules.yaml", harmless + veto)
        try Waiting.until("the rules are in use") { try run.get("Observation").status == 503 }
        for path in ["Observation?_summary=count", "Observation/\(id)"] {
            let answer = try run.get(path)
            #expect(answer.status == 503 && answer.body.contains("there are rules of resources by now"), "\(path)")
            #expect(answer.body.contains("OperationOutcome") && !answer.body.contains("total"))
        }
        stored.folder.write("rules.yaml", harmless)
        try Waiting.until("the former rules are in use") { try run.get("Observation").status == 200 }
        #expect(try run.run.terminate().end == .exit(0))
    }

    /// It is not there unless it is asked for, and not for other machines.
    @Test func isOffByDefault() throws {
        let run = try Kymo.start(["run", "--udp", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--ephemeral"])
        #expect(try AdminClient(run).get("/fhir/metadata").status == 404)
        #expect(try run.terminate().end == .exit(0))
    }
}
