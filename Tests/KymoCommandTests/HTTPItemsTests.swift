import CommandSupport
import KymographTestKit
import Testing

/// `POST /v1/ingest?results=items`: what became of each line or object.
@Suite struct HTTPItemsTests {
    private let folder = TemporaryFolder()

    private func start(_ arguments: [String] = []) throws -> (ChildProcess, PostClient) {
        let run = try Kymo.start(["run", "--http", "127.0.0.1:0", "--data", folder.file("data")] + arguments)
        return (run, PostClient(try run.addresses()[0]))
    }

    private func send(_ lines: [String], by client: PostClient, _ query: String = "?results=items") throws -> String {
        let request = PostClient.request(Readings.ndjson(lines), path: "/v1/ingest\(query)")
        return PostClient.withoutBlanks(try client.exchange(request)?.body)
    }

    /// `report` with the results of each line or object.
    private func answer(_ report: String, _ items: [String]) -> String {
        "\(report.dropLast(2)),\"items\":[\(items.joined(separator: ","))]}\n"
    }

    private let new = #"{"new":1}"#
    private let known = #"{"known":1}"#

    /// The points that MyDataHelpsKit persists: which is new, which was there, which has taken the place of another,
    /// and why one was rejected.
    @Test func persistedPoints() throws {
        let (run, client) = try start(["--mapping", "mydatahelps-points"])
        func point(_ value: String, _ date: String) -> String {
            #"{"identifier":"mood","type":"Mood","value":"\#(value)","properties":{},"source":{"identifier":"app-3","#
                + #""properties":{}},"observationDate":"\#(date)"}"#
        }
        func send(_ points: [String]) throws -> String {
            let request = PostClient.request(
                Array("[\(points.joined(separator: ","))]".utf8), path: "/v1/ingest/mydatahelps-points?results=items",
                type: "application/json")
            return PostClient.withoutBlanks(try client.exchange(request)?.body)
        }
        let good = [point("4", "2026-03-01T20:00:00Z"), point("3", "2026-03-02T20:00:00Z")]
        let bad = [point("", "2026-03-03T20:00:00Z"), point("2", "yesterday")]
        #expect(
            try send([good[0], bad[0], good[1], bad[1]])
                == answer(
                    PostClient.report(4, rejected: [(1, "missingValue"), (3, "invalidTimestamp")], accepted: 2),
                    [new, #"{"rejected":["missingValue"]}"#, new, #"{"rejected":["invalidTimestamp"]}"#]))
        let changed = [point("3", "2026-03-02T20:00:00Z"), point("5", "2026-03-01T20:00:00Z")]
        #expect(
            try send(changed + [point("1", "2026-03-04T20:00:00Z")])
                == answer(
                    PostClient.report(3, accepted: 1, duplicate: 1, conflict: 1), [known, #"{"replaced":1}"#, new]))
        #expect(try send([]) == answer(PostClient.report(0, accepted: 0), []))
        #expect(try run.terminate().balance?.isClosed == true)
    }

    /// Lines that give several readings, of devices of several shards, and lines that are no readings.
    @Test func linesOfSeveralReadings() throws {
        let (run, client) = try start(["--shards", "3", "--lanes", "2"])
        let devices = (0..<12).map { Readings.heartRate(second: 1, device: "watch-\($0)") }
        let named = Readings.heartRate(second: 2).replacing("\"unit\"", with: "\"id\":\"s-1\",\"unit\"")
        let deleted = #"{"deviceId":"watch-1","deleted":"heartRate","id":"s-1"}"#
        let lines = [
            "[\(devices.dropLast().joined(separator: ","))]", "[\(devices[0]),\(devices[11]),{\"x\":1}]\r", "", "{",
            named, deleted, deleted.replacing("s-1", with: "s-9"), devices[3],
        ]
        let rejected = [(1, "noTemplate"), (2, "invalidJSON")]
        let items = [
            #"{"new":11}"#, #"{"new":1,"known":1,"rejected":["noTemplate"]}"#, #"{"rejected":["invalidJSON"]}"#, new,
            #"{"retractions":1}"#, #"{"retractions":1,"rejected":["unknownRetraction"]}"#, known,
        ]
        let report = PostClient.report(7, rejected: rejected, accepted: 13, duplicate: 2, retractions: 2)
        #expect(try send(lines, by: client) == answer(report, items))
        #expect(try run.terminate().balance?.isClosed == true)
    }

    /// What windows have no room for is told with its reason.
    @Test func whatWindowsReject() throws {
        let run = try Kymo.start(
            ["run", "--http", "127.0.0.1:0", "--data", folder.file("data")],
            environment: ["KYMO_LIMITS_READINGS_PER_WINDOW": "5"])
        let client = PostClient(try run.addresses()[0])
        let items = Array(repeating: new, count: 5) + Array(repeating: #"{"rejected":["tooManyReadings"]}"#, count: 3)
        let report = PostClient.report(8, accepted: 5, later: 3)
        #expect(try send(Readings.heartRates(8), by: client) == answer(report, items))
        _ = try run.terminate()
    }

    /// Requests that ask for it and others follow each other on one connection, and each has its own answer.
    @Test func amongOthers() throws {
        let (run, client) = try start()
        let lines = Readings.heartRates(20)
        for place in 0..<20 {
            let pair = [lines[max(0, place - 1)], lines[place]]
            let sum = PostClient.report(2, accepted: 1, duplicate: 1)
            let items = place == 0 ? [new, known] : [known, new]
            let isAsked = place % 3 != 1
            let expected = isAsked ? answer(sum, items) : sum
            #expect(try send(pair, by: client, isAsked ? "?a=1&results=items" : "?a=1") == expected, "request \(place)")
        }
        let balance = try #require(try run.terminate().balance)
        #expect(balance.accepted == 20 && balance.duplicate == 20 && balance.isClosed, "\(balance)")
    }

    /// Why a client that has an answer of 200 does not send again: a correction that came meanwhile would be set back.
    @Test func aBodySentAgainSetsACorrectionBack() throws {
        let (run, client) = try start()
        func post(_ value: Int) throws -> String {
            let line = Readings.heartRate(second: 1, value: value)
            return try send([line.replacing("\"unit\"", with: "\"id\":\"s-1\",\"unit\"")], by: client)
        }
        let replaced = answer(PostClient.report(1, accepted: 0, conflict: 1), [#"{"replaced":1}"#])
        #expect(try post(61) == answer(PostClient.report(1, accepted: 1), [new]))
        #expect(try [post(62), post(61)] == [replaced, replaced])
        #expect(try run.terminate().balance?.reasons == ["superseded": 2])
        let stored = try Kymo.run(["query", "--data", folder.file("data"), "--readings"])
        #expect(stored.text.contains(#""Value":"61""#) && !stored.text.contains(#""Value":"62""#), "\(stored.text)")
    }

    /// The other reason: a reading without a time has that of its arrival, and is a new one when it comes again.
    @Test func aReadingWithoutATimeIsNewEachTime() throws {
        let (run, client) = try start(["--mapping", "heart-rate-strap"])
        let packet = #"{"device":"strap-1","characteristic":"2A37","value":"063c"}"#
        let expected = answer(PostClient.report(1, accepted: 1), [new])
        #expect(try [send([packet], by: client), send([packet], by: client)] == [expected, expected])
        #expect(try run.terminate().balance?.accepted == 2)
    }

    /// A body of as many as may be asked for is answered in full; of one that has more nothing is taken.
    @Test func mostItems() throws {
        let (run, client) = try start()
        let lines = Readings.heartRates(1_001)
        let array = Array("[\(lines.joined(separator: ","))]".utf8)
        let types = ["application/x-ndjson": Readings.ndjson(lines), "application/json": array]
        for (type, body) in types {
            let request = PostClient.request(body, path: "/v1/ingest?results=items", type: type)
            let refused = try client.exchange(request)
            #expect(refused?.status == 413 && refused?.body.contains("\"tooMany\"") == true, "\(refused as Any)")
            let message = "with results=items a body has at most 1000 lines or objects; send fewer"
            #expect(refused?.body.contains("\"message\":\"\(message)\"") == true, "\(refused as Any)")
        }
        let expected = answer(PostClient.report(1_000, accepted: 1_000), Array(repeating: new, count: 1_000))
        #expect(try send(Array(lines.dropLast()), by: client) == expected)
        #expect(try send(lines, by: client, "") == PostClient.report(1_001, accepted: 1, duplicate: 1_000))
        #expect(try run.terminate().balance?.received == 2_001)
    }

    /// A request that asks for results otherwise, or where there are none, hears what to send.
    @Test func refusalsSayWhatToSend() throws {
        let (run, _) = try start()
        let address = try run.addresses()[0]
        let (query, path) = (
            "query parameter results: expected results=items, once",
            "results is not supported at this path; use /v1/ingest or /v1/ingest/NAME"
        )
        for (target, message) in [
            ("/v1/ingest?results=all", query), ("/v1/ingest?results", query),
            ("/v1/ingest?results=items&a=1&results=items", query), ("/hub/messages?results=items", path),
        ] {
            // Each by a client of its own: the answer ends the connection.
            let answer = try PostClient(address).exchange(
                PostClient.request(Array("{}".utf8), path: target, type: "application/json"))
            #expect(
                answer?.status == 400
                    && answer?.body == "{\"error\":\"badRequest\",\"message\":\"\(message)\"}\n", "\(target)")
        }
        #expect(try run.terminate().balance?.received == 0)
    }

    /// Without a store nobody knows what becomes of readings, and the answer is that to any other request.
    @Test func withoutAStore() throws {
        let run = try Kymo.start(["run", "--http", "127.0.0.1:0", "--ephemeral"])
        let client = PostClient(try run.addresses()[0])
        let rejected = [(1, "invalidJSON")]
        #expect(
            try send([Readings.heartRate(second: 1), "{"], by: client) == PostClient.report(2, rejected: rejected))
        _ = try run.terminate()
    }
}
