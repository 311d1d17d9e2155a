import CommandSupport
import Glibc
import Testing

/// `kymo run --admin`: what is served, and to whom not.
@Suite struct AdminCommandTests {
    private func start(_ arguments: [String] = ["--ephemeral"]) throws -> (run: ChildProcess, client: AdminClient) {
        let run = try Kymo.start(["run", "--udp", "127.0.0.1:0", "--admin", "127.0.0.1:0"] + arguments)
        return (run, try AdminClient(run))
    }

    @Test func servesWhatItCounts() throws {
        let (run, client) = try start()
        try Sending.send(lines: Readings.heartRates(30), to: try run.addresses()[0])
        var answer = try client.get("/metrics")
        try Waiting.until("30 readings in \(answer.body)") {
            answer = try client.get("/metrics")
            return answer.body.contains("\nkymo_readings_total{result=\"accepted\"} 30\n")
        }
        #expect(answer.status == 200 && answer.header.contains("Content-Type: text/plain; version=0.0.4"))
        #expect(answer.body.contains("\nkymo_source_messages_total{source=\"udp 127.0.0.1:0\"} 30\n"))
        #expect(answer.body.contains("\nprocess_resident_memory_bytes "))
        let open = try client.get("/metrics", fields: "Accept: application/openmetrics-text\r\n")
        #expect(open.header.contains("application/openmetrics-text") && open.body.hasSuffix("\n# EOF\n"))
        #expect(try client.get("/livez").status == 200)
        #expect(try client.get("/readyz").body == "ok\n")
        #expect(try run.terminate().end == .exit(0))
    }

    /// What lanes, shards and the store have at hand.
    @Test func servesWhatIsAtHand() throws {
        let folder = TemporaryFolder()
        let (run, client) = try start(["--data", folder.file("data"), "--out", folder.file("out")])
        try Sending.send(lines: Readings.heartRates(30) + ["{"], to: try run.addresses()[0])
        var text = ""
        let lines = [
            "kymo_devices{shard=\"0\"} 1", "kymo_series{shard=\"0\"} 1", "kymo_ring_slots{lane=\"0\",shard=\"0\"} 8192",
            "kymo_source_rejected_total{source=\"udp 127.0.0.1:0\",reason=\"invalidJSON\"} 1",
            "kymo_store_waiting 0", "kymo_ledger_imbalance 0", "kymo_metrics_dropped_series 0",
            "kymo_dead_letters{kind=\"payload\"} 1", "kymo_store_commit_seconds_sum ",
            "kymo_source_last_received_timestamp_seconds{source=\"udp 127.0.0.1:0\"} ",
        ]
        try Waiting.until("\(lines.filter { !text.contains("\n\($0)") }) in \(text)") {
            text = try client.get("/metrics").body
            return lines.allSatisfy { text.contains("\n\($0)") }
        }
        let limit = try #require(try client.value("kymo_store_limit_bytes"))
        #expect(limit == Double(16 << 30) && text.contains("\nkymo_windows_open{shard=\"0\"} "))
        #expect(try run.terminate().end == .exit(0))
    }

    /// What moves for which cause: matches, windows, late readings, processor time, and how long it all took.
    @Test func servesWhatMappingsAndWindowsDo() throws {
        let folder = TemporaryFolder()
        let (run, client) = try start(["--data", folder.file("data"), "--out", folder.file("out"), "--window", "1m"])
        let address = try run.addresses()[0]
        try Sending.send(lines: Readings.heartRates(30) + [Readings.heartRate(second: 600)], to: address)
        let first = [
            "kymo_mapping_matches_total{mapping=\"reading\",type=\"heartRate\"} 31",
            "kymo_windows_closed_total{cause=\"time\"} 1", "kymo_sink_up{sink=\"output\"} 1",
            "kymo_windows_closed_total{cause=\"idle\"} 1", "kymo_late_readings_total 0",
        ]
        try wait(for: first, client)
        try Sending.send(lines: [Readings.heartRate(second: 31)], to: address)
        try wait(for: ["kymo_late_readings_total 1", "kymo_windows_amended_total 1"], client)
        for name in [
            "kymo_lane_busy_seconds_total{lane=\"0\"}", "kymo_shard_busy_seconds_total{shard=\"0\"}",
            "kymo_ingest_to_durable_seconds_count", "kymo_ingest_to_durable_seconds_sum",
            "kymo_close_to_sink_seconds_count{sink=\"output\"}",
            "kymo_close_to_sink_seconds_sum{sink=\"output\"}",
        ] {
            try Waiting.until("\(name) above 0") { try client.value(name) ?? 0 > 0 }
        }
        let text = try client.get("/metrics").body
        #expect(text.contains("kymo_build_info{version=\"") && text.contains("\",commit=\""))
        #expect(try run.terminate().end == .exit(0))
    }

    /// Waits until all of `lines` are among the metrics.
    private func wait(for lines: [String], _ client: AdminClient) throws {
        var text = ""
        try Waiting.until("\(lines.filter { !text.contains("\n\($0)\n") }) in \(text)") {
            text = try client.get("/metrics").body
            return lines.allSatisfy { text.contains("\n\($0)\n") }
        }
    }

    /// Who is connected now; and a second entry of the log that says the same as one before it.
    @Test func servesConnectionsAndRepeatsOfTheLog() throws {
        let folder = TemporaryFolder()
        let peers = folder.write("peers.yaml", "peers:\n- addresses: [192.0.2.1]\n")
        let sources = "- tcp: 127.0.0.1:0\n- {tcp: \"[::1]:0\", peers: \(peers)}\n"
        let file = folder.write("kymo.yaml", "sources:\n\(sources)")
        let run = try Kymo.start(["run", "--config", file, "--admin", "127.0.0.1:0", "--ephemeral"])
        let client = try AdminClient(run)
        let (source, addresses) = ("{source=\"tcp 127.0.0.1:0\"}", try run.addresses(2))
        let address = addresses[0]
        try wait(for: ["kymo_source_connections\(source) 0", "kymo_log_suppressed_total 0"], client)
        var connections = [try OpenConnection(address), try OpenConnection(address)]
        for connection in connections { try connection.send(Readings.heartRate(second: 1) + "\n") }
        try wait(for: ["kymo_source_connections\(source) 2"], client)
        connections.removeLast()
        try wait(for: ["kymo_source_connections\(source) 1"], client)
        connections = []
        try wait(for: ["kymo_source_connections\(source) 0"], client)
        // Until one falls into the period of the one before it.
        try Waiting.until("a repeat that is not written") {
            _ = try OpenConnection(addresses[1])
            return try client.get("/metrics").body.contains(/\nkymo_log_suppressed_total [1-9]/)
        }
        _ = try run.terminate()
    }

    /// A sink that cannot be written, and one that cannot be reached.
    @Test func servesWhichSinksAreDown() throws {
        let arguments = ["run", "--udp", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--window", "1s"]
        let run = try Kymo.start(arguments + ["--ephemeral", "--out", "stdout"], output: .path("/dev/full"))
        let client = try AdminClient(run)
        #expect(try client.get("/metrics").body.contains("\nkymo_sink_up{sink=\"output\"} 1\n"))
        try Sending.send(lines: Readings.heartRates(30), to: try run.addresses()[0])
        try wait(for: ["kymo_sink_up{sink=\"output\"} 0"], client)
        run.signal(SIGKILL)
        _ = try run.finish(seconds: 20)
        let (folder, url) = (TemporaryFolder(), "http://127.0.0.1:\(try FreePort.find())")
        let other = try Kymo.start(
            arguments + [
                "--data", folder.file("data"), "--out", "none", "--server", url, "--server-identity", "create",
            ])
        let away = try AdminClient(other)
        try Sending.send(lines: Readings.heartRates(30), to: try other.addresses()[0])
        try Waiting.until("entries wait") { try away.value("kymo_outbox_entries{sink=\"server \(url)\"}") ?? 0 > 0 }
        try Waiting.until("they grow old") {
            try away.value("kymo_outbox_oldest_age_seconds{sink=\"server \(url)\"}") ?? 0 > 1
        }
        #expect(try away.value("kymo_sink_up{sink=\"server \(url)\"}") == 0)
        #expect(try away.value("kymo_close_to_sink_seconds_count{sink=\"server \(url)\"}") == 0)
        #expect(try other.terminate().end == .exit(0))
    }

    /// No device, no patient, whatever it was sent.
    @Test func identifiesNoOne() throws {
        let (run, client) = try start()
        let address = try run.addresses()[0]
        try Sending.send(
            lines: Readings.heartRates(3, device: "secret-device") + ["{\"deviceId\":\"secret"], to: address)
        var text = ""
        try Waiting.until("4 messages in \(text)") {
            text = try client.get("/metrics").body
            return text.contains("kymo_source_messages_total{source=\"udp 127.0.0.1:0\"} 4\n")
        }
        #expect(!text.contains("secret"))
        _ = try run.terminate()
    }

    @Test func otherPathsAndMethods() throws {
        let (run, client) = try start()
        let missing = try client.get("/metric")
        #expect(missing.status == 404 && missing.header.contains("application/json"))
        #expect(missing.body.contains("\"error\":\"notFound\""))
        let posted = try client.get("/metrics", method: "POST")
        #expect(posted.status == 405 && posted.header.contains("\r\nAllow: GET, HEAD\r\n"))
        let head = try client.get("/livez", method: "HEAD")
        #expect(head.status == 200 && head.header.contains("Content-Length: 3\r\n") && head.body.isEmpty)
        let old = try RawConnection.exchange("GET /livez HTTP/1.0\r\n\r\n", port: client.port)
        #expect(old.hasPrefix("HTTP/1.1 200 OK\r\n") && old.contains("\r\nConnection: close\r\n"))
        _ = try run.terminate()
    }

    @Test func malformedRequestsAreRefusedAndTheNextAreAnswered() throws {
        let (run, client) = try start()
        for request in ["\r\n\r\n", "GET /livez\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\r\n\r\n", "GET /livez HTTP/1.1\n\n"] {
            let text = try RawConnection.exchange(request, port: client.port)
            #expect(text.hasPrefix("HTTP/1.1 400 ") && text.contains("\"error\":\"badRequest\""), "\(text)")
        }
        // The client is told, although it is still sending.
        let field = "X-Filler: \(String(repeating: "x", count: 1 << 20))\r\n"
        let large = try RawConnection.exchange("GET / HTTP/1.1\r\nHost: a\r\n\(field)\r\n", port: client.port)
        #expect(large.hasPrefix("HTTP/1.1 431 "), "\(large)")
        // The end of sending is no end of listening; half a request is one of both.
        let connection = try RawConnection(port: client.port)
        connection.send("GET /livez HTTP/1.1\r\nHost: a\r\n\r\nGET /l")
        connection.finishSending()
        try connection.wait("the end") { $0.hasEnded }
        #expect(connection.text.hasPrefix("HTTP/1.1 200 OK\r\n") && connection.text.hasSuffix("\r\n\r\nok\n"))
        #expect(try client.get("/livez").status == 200)
        _ = try run.terminate()
    }

    @Test func aHundredRequestsAtOnce() throws {
        let (run, client) = try start()
        let connection = try RawConnection(port: client.port)
        let request = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"
        connection.send(String(repeating: request, count: 99))
        connection.send("GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /livez HTTP/1.1\r\n")
        try connection.wait("the end") { $0.hasEnded }
        #expect(connection.text.components("HTTP/1.1 200 OK\r\n") == 100)
        #expect(connection.text.hasSuffix("\r\n\r\nok\n"))
        _ = try run.terminate()
    }

    /// Who never says anything, or never all of it, is cut, and keeps no one waiting meanwhile.
    @Test func whoSendsHalfARequestIsCut() throws {
        let (run, client) = try start()
        let silent = try RawConnection(port: client.port)
        let slow = try RawConnection(port: client.port)
        slow.send("GET /livez HTTP/1.1\r\n")
        var dripped = 0
        try Waiting.until("both are cut") {
            slow.send("X")
            dripped += 1
            silent.receive()
            if dripped % 100 == 0 {
                let status = try client.get("/livez").status
                #expect(status == 200)
            }
            return slow.hasEnded && silent.hasEnded
        }
        #expect(slow.text.hasPrefix("HTTP/1.1 408 ") && silent.text.isEmpty, "\(slow.text)")
        _ = try run.terminate()
    }

    /// Connections that only wait take no place from one that asks.
    @Test func manyIdleClients() throws {
        let (run, client) = try start()
        var idle: [RawConnection] = []
        for _ in 0..<200 { idle.append(try RawConnection(port: client.port)) }
        #expect(try client.get("/livez").status == 200)
        // What is beyond the limit is cut, and the latest are not.
        try Waiting.until("the oldest are cut") {
            for connection in idle { connection.receive() }
            return idle.count(where: \.hasEnded) >= 136
        }
        #expect(idle.last?.hasEnded == false)
        _ = try run.terminate()
    }

    @Test func theAddressIsChecked() throws {
        let other = try Kymo.run(["run", "--stdin", "--admin", "0.0.0.0:5790"])
        #expect(
            other.end == .exit(78) && other.error.contains("other machines can reach 0.0.0.0:5790"), "\(other.error)")
        let (run, client) = try start()
        let second = try Kymo.run(["run", "--stdin", "--admin", "127.0.0.1:\(client.port)"])
        #expect(second.end == .exit(71) && second.error.contains("cannot listen to http 127.0.0.1:"), "\(second.error)")
        _ = try run.terminate()
    }
}

extension String {
    /// How often `text` is in it.
    fileprivate func components(_ text: String) -> Int { ranges(of: text).count }
}
