import CommandSupport
import Foundation
import KymographTestKit
import Testing

/// Clients of Azure Event Hubs, which post to `/{hub}/messages`.
@Suite struct EventHubTests {
    private let folder = TemporaryFolder()
    private static let key = "p8Zq0Jb4T1xkqV2mQ9sYw7rC3nD5fG6hL0aB1cE2dF4="

    private func door(_ settings: [String] = []) throws -> Door {
        try Door(TLSText.source("http", settings), in: folder)
    }

    private func peers(devices: String = "[watch-1]") -> String {
        let key = folder.write("hub.key", Self.key + "\n")
        // Safe: Swift lends the path for the call.
        unsafe chmod(key, 0o600)
        return folder.write(
            "peers.yaml", "peers:\n  - sharedAccessKeyFile: \(key)\n    name: devices\n    devices: \(devices)\n")
    }

    /// `text` as a query has it.
    private func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = Character(UnicodeScalar(byte)).isASCII && (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A)
            let hex = String(byte, radix: 16)
            let isDigit = byte >= 0x30 && byte <= 0x39
            return isPlain || isDigit ? String(UnicodeScalar(byte)) : "%" + (hex.count < 2 ? "0" : "") + hex
        }.joined()
    }

    /// A signature as IomtFhirClient makes it: of the resource and the end, both as they stand in it.
    private func signature(
        of resource: String, end: Int, key: String = key, policy: String = "devices"
    ) throws -> String {
        let signed = encoded(resource)
        let code = try ChildProcess(
            "openssl", ["dgst", "-sha256", "-hmac", key, "-binary"], input: .bytes(Array("\(signed)\n\(end)".utf8))
        ).finish().output
        let text = encoded(Data(code).base64EncodedString())
        return "SharedAccessSignature sr=\(signed)&sig=\(text)&se=\(end)&skn=\(policy)"
    }

    private var later: Int { Int(Date().timeIntervalSince1970) + 3_600 }

    private func post(
        _ body: String, to door: Door, path: String = "/ward/messages?timeout=60", authorization: String? = nil,
        type: String = "application/vnd.microsoft.servicebus.json", host: String = "hub.example"
    ) throws -> AdminClient.Answer {
        let field = authorization.map { "Authorization: \($0)\r\n" } ?? ""
        let head =
            "POST \(path) HTTP/1.1\r\nHost: \(host)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n"
            + "\(field)Connection: close\r\n\r\n"
        return AdminClient.answer(try RawConnection.exchange(head + body, port: door.port))
    }

    private func event(_ second: Int, device: String = "watch-1") -> String {
        Readings.heartRate(second: second, device: device)
    }

    private func text(_ value: String) -> String {
        "\"\(value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    /// A body as text, as an object, with properties, and what is no event.
    @Test func everyFormOfAnEvent() throws {
        let door = try door()
        let events = [
            "{\"Body\":\(text(event(0)))}", "{\"Body\":\(event(1))}",
            "{\"Body\":\(text(event(2))),\"UserProperties\":{\"ward\":\"3\"}}",
            "{\"Body\":\(text(event(3)))}", "{\"UserProperties\":{\"ward\":\"4\"}}",
            "{\"body\":1}", "{\"Body\":null}", "{\"Body\":\"not json\"}", "{\"Body\":\"\\ud800\"}",
            "{\"Body\":\(event(4)),\"UserProperties\":[]}", "{\"UserProperties\":{\"ward\":\"5\"}}",
            "{\"Body\":\(text(event(5)))}",
        ]
        let answer = try post("[\(events.joined(separator: ","))]", to: door)
        #expect(answer.status == 201, "\(answer)")
        #expect(answer.body.hasPrefix("{\"received\":11,\"rejectedCount\":6,"), "\(answer.body)")
        // Properties behind what is no event are nobody's.
        let reasons = [
            (5, "missingValue"), (6, "nullValue"), (7, "invalidJSON"), (8, "invalidUTF8"), (9, "invalidValue"),
            (10, "missingValue"),
        ]
        for (index, reason) in reasons {
            #expect(answer.body.contains("{\"index\":\(index),\"reason\":\"\(reason)\"}"), "\(reason): \(answer.body)")
        }
        let single = try post(event(6), to: door, type: "application/atom+xml;type=entry;charset=utf-8")
        #expect(single.status == 201 && single.body.hasPrefix("{\"received\":1,\"rejectedCount\":0,"), "\(single)")
        for path in ["/messages", "/a/b/messages", "/ward/message", "//messages"] {
            #expect(try post("[]", to: door, path: path).status == 404, "\(path)")
        }
        #expect(try post("[{\"Body\":1}", to: door).status == 400)
        let balance = try door.balance()
        #expect(balance.accepted == 6 && balance.rejected == 6 && balance.isClosed, "\(door.run.errorText)")
    }

    /// Properties come with their event, where mappings for IoT Hub look for them.
    @Test func propertiesGoWithTheirEvent() throws {
        let source = TLSText.source("http", ["mappings: [azure-iot-hub]"])
        let door = try Door(source, in: folder)
        let event = """
            {"Body":{"heartRate":61,"endDate":"2026-03-01T08:00:00Z","deviceId":"watch-1"},\
            "UserProperties":{"patientId":"p-1","iothub-creation-time-utc":"2026-03-01T08:00:00Z"}}
            """
        let answer = try post("[\(event)]", to: door)
        #expect(answer.status == 201)
        let letters = try Kymo.run(["dead", "list", "--data", folder.file("data"), "--format", "json"])
        let stored = try Kymo.run(["dead", "show", "1", "--text", "--data", folder.file("data")])
        // The mapping needs what only IoT Hub itself adds: the letter has what it was given.
        #expect(letters.text.contains("noDevice") || letters.text.contains("noTemplate"), "\(letters.text)")
        #expect(stored.text.contains("\"Properties\":{\"patientId\":\"p-1\""), "\(stored.text)")
        #expect(!stored.text.contains("UserProperties"), "\(stored.text)")
    }

    /// What IomtFhirClient signs: host and path with a slash at the end, percent-encoded, and all of it in lower case. Its
    /// own tests have this signature of this resource, key and end.
    @Test func theSignatureOfIomtFhirClient() throws {
        let value = try iomtSignature(
            of: "test.com", "/test", end: 1_567_003_600, key: "sharedAccessKey", policy: "keyName")
        #expect(
            value == "SharedAccessSignature sr=test.com%2ftest%2f&sig=5YJxMk3FHCFoymb4CCeRv9AMfrFen3XV0353eiIyw5I%3D"
                + "&se=1567003600&skn=keyName")
    }

    private func iomtSignature(
        of host: String, _ path: String, end: Int, key: String = key, policy: String = "devices"
    ) throws -> String {
        let signed = "\(host)\(path)/".lowercased().replacing("/", with: "%2f")
        let code = try ChildProcess(
            "openssl", ["dgst", "-sha256", "-hmac", key, "-binary"], input: .bytes(Array("\(signed)\n\(end)".utf8))
        ).finish().output
        let text = Data(code).base64EncodedString().replacing("+", with: "%2B").replacing("/", with: "%2F")
            .replacing("=", with: "%3D")
        return "SharedAccessSignature sr=\(signed)&sig=\(text)&se=\(end)&skn=\(policy)"
    }

    /// The requests of IomtFhirClient with messages of HealthKitOnFhir, byte by byte as Foundation writes them, with
    /// slashes escaped, and properties in an element of their own: each becomes an Observation of its patient.
    @Test func iomtFhirClientWithHealthKit() throws {
        let key = folder.write("hub.key", Self.key + "\n")
        // Safe: Swift lends the path for the call.
        unsafe chmod(key, 0o600)
        let list = folder.write(
            "peers.yaml",
            """
            peers:
              - sharedAccessKeyFile: \(key)
                name: devices
                devices: ["com.apple.health.*"]
                mappings: [healthkit-on-fhir]
            """)
        let source = TLSText.source("http", ["mappings: healthkit-on-fhir", "peers: \(list)"])
        let door = try Door(source, in: folder, settings: "output: {to: \(folder.file("out"))}\n")
        let path = "\(SharedMaterial.package)/mappings/healthkit-on-fhir/examples/heart-rate.in.json"
        let message = Files.text(path).trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(message.contains("beats\\/min") && message.contains("\"heartRate\":65"))
        let authorization = try iomtSignature(of: "ns.servicebus.windows.net", "/Devices/messages", end: later)
        let event = "{\"Body\":\(text(message))}"
        let next = message.replacing("22:46:01Z", with: "22:46:09Z").replacing("8BA093D9", with: "8BA093DA")
        let bodies = [
            "[\(event)]", "[\(event),{\"UserProperties\":{\"app\":\"a\"}}]", "[\(event),{\"Body\":\(text(next))}]",
        ]
        for (body, (received, accepted)) in zip(bodies, [(1, 1), (1, 0), (2, 1)]) {
            let answer = try post(
                body, to: door, path: "/Devices/messages", authorization: authorization,
                host: "ns.servicebus.windows.net")
            let report = PostClient.report(received, accepted: accepted, duplicate: received - accepted)
            #expect(answer.status == 201 && PostClient.withoutBlanks(answer.body) == report, "\(body): \(answer)")
        }
        let balance = try door.balance()
        #expect(balance.accepted == 2 && balance.duplicate == 2 && balance.isClosed, "\(door.run.errorText)")
        var bundles = BundleReader()
        for name in Files.names(folder.file("out")) {
            try bundles.read(ndjson: Files.read(folder.file("out/\(name)")))
        }
        let texts = Files.names(folder.file("out")).map { Files.text(folder.file("out/\($0)")) }.joined()
        #expect(!bundles.observations.isEmpty)
        for part in ["\"8867-4\"", "\"value\":65", "p-0042", "com.apple.health.p-0042"] {
            #expect(texts.contains(part), "\(part): \(texts.prefix(2_000))")
        }
    }

    /// The signature of a policy's key, for this hub, that has not ended.
    @Test func signaturesAreVerified() throws {
        let door = try door(["peers: \(peers())"])
        let body = "[{\"Body\":\(text(event(0)))},{\"Body\":\(text(event(1, device: "watch-2")))}]"
        let good = ["hub.example/ward/messages/", "https://hub.example/ward", "sb://hub.example/"]
        for resource in good {
            let answer = try post(body, to: door, authorization: try signature(of: resource, end: later))
            #expect(answer.status == 201, "\(resource): \(answer)")
            #expect(answer.body.contains("{\"index\":1,\"reason\":\"deviceNotAllowed\"}"), "\(answer.body)")
        }
        let bad: [String?] = [
            nil, "Bearer \(Self.key)", "SharedAccessSignature sr=a&sig=b&se=c",
            try signature(of: "hub.example/ward", end: later, key: "another-key-of-enough-characters"),
            try signature(of: "hub.example/ward", end: later, policy: "others"),
            try signature(of: "hub.example/ward", end: 1_700_000_000),
            try signature(of: "hub.example/other", end: later), try signature(of: "hub.example/war", end: later),
            try signature(of: "else.example/ward", end: later),
            try signature(of: "hub.example/ward", end: later).replacing("&se=", with: "&se=9"),
            try signature(of: "hub.example/ward", end: later) + "&skn=devices",
        ]
        for authorization in bad {
            let answer = try post(body, to: door, authorization: authorization)
            #expect(answer.status == 401, "\(authorization ?? "none"): \(answer)")
        }
        let failures = try door.authFailures()
        #expect(failures.values.reduce(0, +) == bad.count && failures["signature"] ?? 0 > 0, "\(failures)")
        let balance = try door.balance()
        #expect(balance.received == 6 && balance.accepted == 1 && balance.duplicate == 2 && balance.isClosed)
        #expect(!door.run.errorText.contains(Self.key))
    }
}
