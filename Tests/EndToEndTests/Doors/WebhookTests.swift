import CommandSupport
import Foundation
import KymographTestKit
import Testing

/// Requests whose bodies are signed, as Standard Webhooks and Svix have it.
@Suite struct WebhookTests {
    private let folder = TemporaryFolder()
    private let key = Array("a key of 24 bytes, or so.".utf8)

    private func door(_ bounds: String = "    devices: [watch-1]\n") throws -> Door {
        let secret = folder.write("secret", "whsec_\(Data(key).base64EncodedString())\n")
        // Safe: Swift lends the path for the call.
        unsafe chmod(secret, 0o600)
        let list = folder.write("peers.yaml", "peers:\n  - webhookSecretFile: \(secret)\n    name: svix\n\(bounds)")
        return try Door(TLSText.source("http", ["peers: \(list)"]), in: folder)
    }

    private var now: Int { Int(Date().timeIntervalSince1970) }

    /// The code of a message by `key`, as OpenSSL's command computes it.
    private func code(_ id: String, _ time: Int, _ body: [UInt8], key: [UInt8]? = nil) throws -> String {
        let digits = (key ?? self.key).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let code = try ChildProcess(
            "openssl", ["dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:\(digits)", "-binary"],
            input: .bytes(Array("\(id).\(time).".utf8) + body)
        ).finish().output
        return "v1,\(Data(code).base64EncodedString())"
    }

    private func post(
        _ body: [UInt8], to door: Door, _ fields: [(String, String)], encoding: String = "",
        path: String = PostClient.path
    ) throws -> AdminClient.Answer {
        let signed = fields.map { "\($0.0): \($0.1)\r\n" }.joined()
        let request = PostClient.request(body, path: path, fields: signed + encoding + "Connection: close\r\n")
        return AdminClient.answer(try RawConnection.exchange(String(decoding: request, as: UTF8.self), port: door.port))
    }

    /// The fields of a message that is signed in all ways as it should be.
    private func fields(_ id: String, _ time: Int, _ signature: String, prefix: String = "webhook-") -> [(
        String, String
    )] {
        [("\(prefix)id", id), ("\(prefix)timestamp", "\(time)"), ("\(prefix)signature", signature)]
    }

    @Test(arguments: ["webhook-", "svix-", "Webhook-"]) func signedBodiesAreTaken(prefix: String) throws {
        let door = try door()
        let body = Readings.ndjson([
            Readings.heartRate(second: 0, device: "watch-1"), Readings.heartRate(second: 1, device: "watch-2"),
        ])
        let time = now
        let right = try code("msg_1", time, body)
        let other = try code("msg_1", time, body, key: Array("another key of 24 bytes!".utf8))
        let answer = try post(body, to: door, fields("msg_1", time, "v1a,x= \(other) \(right)", prefix: prefix))
        #expect(answer.status == 200, "\(answer)")
        #expect(answer.body.contains("{\"index\":1,\"reason\":\"deviceNotAllowed\"}"), "\(answer.body)")
        // Sent again by whoever has overheard it: a duplicate.
        #expect(try post(body, to: door, fields("msg_1", time, right, prefix: prefix)).status == 200)
        let balance = try door.balance()
        #expect(balance.received == 4 && balance.accepted == 1 && balance.duplicate == 1 && balance.isClosed)
        let letters = try Kymo.run(["dead", "list", "--data", folder.file("data")])
        #expect(letters.text.contains("the peer svix"), "\(letters.text)")
    }

    /// Whoever has not signed it leaves nothing, and hears nothing of what was sent.
    @Test func othersAreNotLetIn() throws {
        let door = try door()
        let body = Readings.ndjson([Readings.heartRate(second: 0, device: "watch-1")])
        let (time, good) = (now, try code("msg_1", now, body))
        let bad: [(String, [(String, String)])] = [
            ("nothing", []),
            ("another key", fields("msg_1", time, try code("msg_1", time, body, key: Array("x".utf8)))),
            ("another identity", fields("msg_2", time, good)),
            ("another time", fields("msg_1", time + 1, good)),
            ("too old", fields("msg_1", time - 310, try code("msg_1", time - 310, body))),
            ("of the future", fields("msg_1", time + 310, try code("msg_1", time + 310, body))),
            ("another body", fields("msg_1", time, try code("msg_1", time, body + [0x0A]))),
            ("another version", fields("msg_1", time, good.replacing("v1,", with: "v2,"))),
            ("no signature", fields("msg_1", time, "")),
            ("no Base64", fields("msg_1", time, "v1,*")),
            ("two signatures", fields("msg_1", time, good) + [("webhook-signature", good)]),
            ("no identity", Array(fields("msg_1", time, good).dropFirst())),
            ("a full stop", fields("msg_1.1", time, try code("msg_1.1", time, body))),
            ("a token beside it", fields("msg_1", time, good) + [("Authorization", "Bearer 0123456789abcdef")]),
        ]
        for (name, fields) in bad {
            let answer = try post(body, to: door, fields)
            #expect(answer.status == 401 && !answer.body.contains("watch-1"), "\(name): \(answer)")
        }
        let failures = try door.authFailures()
        #expect(failures.values.reduce(0, +) == bad.count && failures["signature"] ?? 0 > 0, "\(failures)")
        #expect(try post(body, to: door, fields("msg_1", time, good)).status == 200)
        let balance = try door.balance()
        #expect(balance.received == 1 && balance.accepted == 1 && balance.isClosed, "\(door.run.errorText)")
        #expect(try Kymo.run(["dead", "list", "--data", folder.file("data")]).text.contains("unknownPeer") == false)
    }

    /// The signature is of what was sent, and a bomb is not opened before it is known whose it is.
    @Test func compressedBodies() throws {
        let door = try door()
        let path = folder.file("body.gz")
        let text = folder.write("body", Readings.heartRate(second: 0, device: "watch-1") + "\n")
        Files.write(try ChildProcess("gzip", ["-c", text]).finish().output, to: path)
        let (time, body) = (now, Files.read(path))
        let arguments = { (signature: String) in
            [
                "-H", "webhook-id: m", "-H", "webhook-timestamp: \(time)", "-H", "webhook-signature: \(signature)",
                "-H",
                "Content-Encoding: gzip", "-H", "Content-Type: application/x-ndjson", "--data-binary", "@\(path)",
                "http://127.0.0.1:\(door.port)/v1/ingest",
            ]
        }
        let good = try ChildProcess("curl", ["-sS"] + arguments(try code("m", time, body))).finish()
        #expect(good.text.hasPrefix("{\"received\":1,\"rejectedCount\":0,"), "\(good.text)")
        let ofText = try ChildProcess("curl", ["-sS"] + arguments(try code("m", time, Files.read(text)))).finish()
        #expect(ofText.text.contains("\"unauthorized\""), "\(ofText.text)")
    }

    /// Whose rate it is shows with the signature: the body has come by then.
    @Test func ratesBound() throws {
        let door = try door("    rate: 1\n    burst: 5\n")
        let (time, many) = (now, Readings.ndjson(Readings.heartRates(50)))
        #expect(try post(many, to: door, fields("a", time, try code("a", time, many))).status == 200)
        let answer = try post(many, to: door, fields("b", time, try code("b", time, many)))
        #expect(answer.status == 429 && answer.header.contains("Retry-After: "), "\(answer)")
        #expect(try door.balance().received == 50)
    }

    /// Whoever signs is the peer, not whoever is first in the list; a new secret counts once it is there.
    @Test func severalSecrets() throws {
        let (other, third) = (Array("another key of 24 bytes!".utf8), Array("and a third one, as long".utf8))
        func secret(_ name: String, _ key: [UInt8]) -> String {
            let file = folder.write(name, "whsec_\(Data(key).base64EncodedString())\n")
            // Safe: Swift lends the path for the call.
            unsafe chmod(file, 0o600)
            return file
        }
        let (first, second) = (secret("first", key), secret("second", other))
        let list = folder.write(
            "peers.yaml",
            """
            peers:
              - webhookSecretFile: \(first)
                devices: [watch-1]
              - webhookSecretFile: \(second)
                devices: [watch-2]
            """)
        let door = try Door(TLSText.source("http", ["peers: \(list)", "mappings: [reading, wristband]"]), in: folder)
        let body = Readings.ndjson([Readings.heartRate(second: 0, device: "watch-2")])
        let time = now
        let ofSecond = try post(body, to: door, fields("a", time, try code("a", time, body, key: other)))
        #expect(ofSecond.body.hasPrefix("{\"received\":1,\"rejectedCount\":0,"), "\(ofSecond)")
        let ofFirst = try post(body, to: door, fields("a", time, try code("a", time, body)))
        #expect(ofFirst.body.contains("deviceNotAllowed"), "\(ofFirst)")
        // Which of them sends shows the body alone, and so which mapping it may use.
        Files.write(Array(Files.text(list).replacing("devices: [watch-2]", with: "mappings: [reading]").utf8), to: list)
        try Waiting.until("the new list") {
            try post(
                body, to: door, fields("a", time, try code("a", time, body, key: other)), path: "/v1/ingest/reading"
            )
            .status == 200
        }
        Files.write(
            Array(Files.text(list).replacing("devices: [watch-1]", with: "mappings: [wristband]").utf8), to: list)
        try Waiting.until("the list after it") {
            try post(body, to: door, fields("a", time, try code("a", time, body)), path: "/v1/ingest/reading").status
                == 404
        }
        let ofOther = try post(
            body, to: door, fields("a", time, try code("a", time, body, key: other)), path: "/v1/ingest/reading")
        #expect(ofOther.status == 200, "\(ofOther)")
        _ = secret("second", third)
        try Waiting.until("the new secret") {
            let time = now
            return try post(body, to: door, fields("a", time, try code("a", time, body, key: third))).status == 200
        }
        #expect(try post(body, to: door, fields("a", time, try code("a", time, body, key: other))).status == 401)
    }

    /// What is kept before it is known whose it is has a limit of its own, which leaves others alone.
    @Test func strangersHoldLittle() throws {
        let token = folder.write("token", "a-token-of-24-characters\n")
        // Safe: Swift lends the path for the call.
        unsafe chmod(token, 0o600)
        let door = try door("    devices: [watch-1]\n  - tokenFile: \(token)\n    name: other\n")
        let head =
            "POST /v1/ingest HTTP/1.1\r\nHost: a\r\nwebhook-id: a\r\nwebhook-timestamp: \(now)\r\n"
            + "webhook-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=\r\n"
        for (field, status) in [("Content-Length: 1048577", 413), ("Transfer-Encoding: chunked", 411)] {
            let answer = AdminClient.answer(try RawConnection.exchange("\(head)\(field)\r\n\r\n", port: door.port))
            #expect(answer.status == status, "\(field): \(answer)")
        }
        let part = String(repeating: " ", count: 1_000_000)
        let strangers = try (0..<24).map { _ in
            let connection = try RawConnection(port: door.port)
            connection.send("\(head)Content-Length: 1048576\r\n\r\n\(part)")
            return connection
        }
        try Waiting.until("some are refused") {
            for connection in strangers { connection.receive() }
            return strangers.contains { $0.text.hasPrefix("HTTP/1.1 503 ") }
        }
        #expect(strangers.contains { $0.received.isEmpty }, "those that fit are waited for")
        // Others have room for a body that comes in pieces.
        let body = Readings.ndjson([Readings.heartRate(second: 0) + String(repeating: " ", count: 300_000)])
        let other = try RawConnection(port: door.port)
        other.send(
            "POST /v1/ingest HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a-token-of-24-characters\r\n"
                + "Content-Type: application/x-ndjson\r\nContent-Length: \(body.count)\r\n\r\n")
        other.send(Array(body.prefix(200_000)))
        other.send(Array(body.dropFirst(200_000)))
        try other.wait("an answer") { !$0.received.isEmpty }
        #expect(other.text.hasPrefix("HTTP/1.1 200 "), "\(other.text)")
    }

    @Test func mistakesAreSaid() throws {
        let cases = [
            ("whsec_", "must hold 'whsec_' with Base64 of 24 bytes or more"),
            ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "must hold 'whsec_'"), ("whsec_c2hvcnQ=", "must hold 'whsec_'"),
        ]
        for (secret, message) in cases {
            let file = folder.write("secret", secret + "\n")
            unsafe chmod(file, 0o600)
            let list = folder.write("peers.yaml", "peers:\n  - webhookSecretFile: \(file)\n")
            let source = TLSText.source("http", ["peers: \(list)"])
            let done = try Kymo.run(["check", "--config", folder.write("k.yaml", "sources:\n\(source)\n")])
            #expect(done.end == .exit(78) && done.error.contains(message), "\(secret): \(done.error)")
            #expect(done.error.contains("which begins with whsec_"), "\(done.error)")
        }
    }
}
