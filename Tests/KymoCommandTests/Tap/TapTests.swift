import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `kymo tap` on running instances.
@Suite struct TapTests {
    private let scene = TapScene()

    @Test(arguments: ["payload", "measurement", "observation"]) func masksWhatItShows(stage: String) throws {
        let instance = try scene.instance()
        let tap = try scene.tap(stage, "--type", "heartRate", "--limit", "1")
        try scene.sendUntilEnd(of: tap, to: instance)
        #expect(try tap.wait() == .exit(0))
        let event = try #require(try scene.events(tap).first)
        #expect(event["stage"]?.text == stage)
        #expect(event["time"]?.text?.hasPrefix("20") == true)
        let text = String(decoding: tap.output, as: UTF8.self)
        for secret in TapScene.secrets { #expect(!text.contains(secret), "\(secret) in \(text)") }
        switch stage {
        case "payload":
            #expect(event["source"]?.text == instance.address && event["framing"]?.text == "lines")
            #expect(event["types"]?.elements?.first?.text == "heartRate" && event["readings"]?.integer == 1)
            #expect(event["bytes"]?.integer == TapScene.line(second: 0).utf8.count)
            #expect(event["shape"]?["deviceId"]?.text == "string" && event["shape"]?["value"]?.text == "number")
        case "measurement":
            #expect(event["type"]?.text == "heartRate" && event["values"]?["beatsPerMinute"]?.integer == 72)
            #expect(event["device"]?.text?.hasPrefix("masked-") == true)
            #expect(event["patient"]?.text?.hasPrefix("masked-") == true)
            #expect(event["device"]?.text != event["patient"]?.text)
        default:
            #expect(event["type"]?.text == "heartRate" && event["resourceType"]?.text == "Observation")
            #expect(event["resource"]?["status"]?.text == "final")
            #expect(event["resource"]?["subject"]?.text == "masked" && event["resource"]?["id"]?.text == "masked")
            #expect(event["device"]?.text?.hasPrefix("masked-") == true)
        }
        let end = try instance.process.terminate()
        #expect(!end.error.contains("--reveal"))
        try scene.expectClosed(end)
    }

    @Test(arguments: ["payload", "measurement", "observation"]) func showsAllWhenAsked(stage: String) throws {
        let instance = try scene.instance()
        let tap = try scene.tap(stage, "--device", TapScene.device, "--reveal", "--limit", "1")
        try scene.sendUntilEnd(of: tap, to: instance)
        #expect(try tap.wait() == .exit(0))
        let event = try #require(try scene.events(tap).first)
        let text = String(decoding: tap.output, as: UTF8.self)
        #expect(text.contains(TapScene.device) && text.contains(TapScene.patient), "\(text)")
        switch stage {
        case "payload": #expect(event["text"]?.text?.hasPrefix("{\"deviceId\":\"\(TapScene.device)\"") == true)
        case "measurement": #expect(event["device"]?.text == TapScene.device)
        default: #expect(event["resource"]?["resourceType"]?.text == "Observation")
        }
        // Who asked is in the log, once, and no identifier is.
        let end = try instance.process.terminate()
        let notices = end.error.split(separator: "\n").filter { $0.contains("'kymo tap --stage \(stage) --reveal'") }
        #expect(notices.count == 1 && notices.allSatisfy { $0.contains("by process \(tap.pid) of user \(geteuid())") })
        for secret in TapScene.secrets { #expect(!end.error.contains(secret)) }
        try scene.expectClosed(end)
    }

    /// As normalised events, with the same names masked.
    @Test(arguments: [true, false]) func readingsAsEvents(reveals: Bool) throws {
        let instance = try scene.instance()
        let options = ["--format", "events", "--limit", "1"] + (reveals ? ["--reveal"] : [])
        let tap = try scene.tap("measurement", options)
        try scene.sendUntilEnd(of: tap, to: instance)
        #expect(try tap.wait() == .exit(0))
        let event = try #require(try scene.events(tap).first)
        #expect(event["Type"]?.text == "heartRate" && event["EncounterId"] == .null)
        #expect(event["Properties"]?.elements?.first?["Value"]?.text == "72")
        let text = String(decoding: tap.output, as: UTF8.self)
        #expect(text.hasPrefix(#"{"Type":"heartRate","OccurrenceTimeUtc":"2026-03-01T"#), "\(text)")
        if reveals {
            #expect(event["DeviceId"]?.text == TapScene.device && event["PatientId"]?.text == TapScene.patient)
        } else {
            #expect(event["DeviceId"]?.text?.hasPrefix("masked-") == true)
            for secret in TapScene.secrets { #expect(!text.contains(secret), "\(secret) in \(text)") }
        }
        try scene.expectClosed(try instance.process.terminate())
        let wrong = try Kymo.run(["tap", "--stage", "payload", "--format", "events"])
        #expect(wrong.end == .exit(64) && wrong.error.contains("--stage measurement"), "\(wrong.error)")
    }

    /// With the reason, and without a device only where none is asked for.
    @Test func rejectedPayloadsAreShown() throws {
        let instance = try scene.instance()
        let tap = try scene.tap("payload", "--limit", "2")
        let other = try scene.tap("payload", "--device", TapScene.device)
        let lines = [#"{"deviceId":"\#(TapScene.device)"}"#, "\(TapScene.device);72"]
        try Sending.send(lines: lines, to: instance.address)
        #expect(try tap.wait() == .exit(0))
        let events = try scene.events(tap)
        #expect(events.map { $0["rejected"]?.text } == ["noTemplate", "invalidJSON"])
        #expect(events.map { $0["readings"]?.integer } == [0, 0] && events[1]["shape"]?.text == "text")
        #expect(!String(decoding: tap.output, as: UTF8.self).contains(TapScene.device))
        let end = try instance.process.terminate()
        try other.waitForError("waiting for the instance")
        #expect(other.output.isEmpty && !other.errorText.contains("more"))
        other.signal(SIGTERM)
        try scene.expectClosed(end, received: 2)
    }

    /// A device whose name begins like the one that is asked for is another one.
    @Test func devicesAreComparedInFull() throws {
        let instance = try scene.instance()
        let tap = try scene.tap("measurement", "--device", "bed-1", "--reveal")
        let names = ["bed-10", "bed-", "BED-1", "bed-1"]
        try Sending.send(lines: names.map { TapScene.line(second: 1, device: $0) }, to: instance.address)
        try Waiting.until("an event: \(tap.errorText)") { try !scene.events(tap).isEmpty }
        let end = try instance.process.terminate()
        try tap.waitForError("waiting for the instance")
        tap.signal(SIGTERM)
        #expect(try tap.wait() == .exit(0))
        #expect(try scene.events(tap).map { $0["device"]?.text } == ["bed-1"])
        // The others were no events at all.
        #expect(!tap.errorText.contains("more"))
        try scene.expectClosed(end)
    }

    @Test(arguments: ["payload", "measurement", "observation"]) func goesOnAfterReloadAndRestart(stage: String) throws {
        let first = try scene.instance()
        let tap = try scene.tap(stage, "--rate", "1000")
        var second = 0
        func waitForMore(from instance: TapScene.Instance) throws {
            let known = try scene.events(tap).count
            try Waiting.until("more events: \(tap.errorText)") {
                try Sending.send(lines: [TapScene.line(second: second)], to: instance.address)
                second += 61
                return try scene.events(tap).count > known
            }
        }
        try waitForMore(from: first)
        first.process.signal(SIGHUP)
        try first.process.waitForError("SIGHUP: loaded the mappings")
        try waitForMore(from: first)
        first.process.signal(SIGKILL)
        #expect(try first.process.wait() == .signal(SIGKILL))
        try tap.waitForError("waiting for the instance")
        let next = try scene.instance()
        try tap.waitForError("tapping process \(next.process.pid)")
        try waitForMore(from: next)
        tap.signal(SIGINT)
        #expect(try tap.wait() == .exit(0))
        #expect(try next.process.terminate().end == .exit(0))
    }

    /// Events that are not shown are counted, and nothing is lost between them.
    @Test func theRateIsBounded() throws {
        let instance = try scene.instance()
        let start = ContinuousClock.now
        let tap = try scene.tap("measurement", "--rate", "5")
        try Sending.send(lines: (0..<3_000).map { TapScene.line(second: $0) }, to: instance.address)
        let end = try instance.process.terminate()
        try tap.waitForError("waiting for the instance")
        let seconds = start.duration(to: .now) / .seconds(1)
        tap.signal(SIGTERM)
        #expect(try tap.wait() == .exit(0))
        let shown = try scene.events(tap).count
        #expect(shown >= 5 && Double(shown) <= 5 * (seconds + 2), "\(shown) in \(seconds) s")
        #expect(shown + TapScene.passedOver(tap.errorText) == 3_000, "\(tap.errorText)")
        try scene.expectClosed(end, received: 3_000)
    }

    /// Neither one that is stopped nor one whose output nobody reads.
    @Test func aClientThatDoesNotReadHindersNobody() throws {
        let instance = try scene.instance()
        let stopped = try scene.tap("payload", "--rate", "1000", "--reveal")
        stopped.signal(SIGSTOP)
        let unread = try scene.tap("measurement", "--rate", "1000", "--reveal", output: .pipe)
        for batch in 0..<30 {
            let lines = (0..<1_000).map { TapScene.line(second: batch * 1_000 + $0) }
            try Sending.send(lines: lines, to: instance.address)
        }
        try scene.expectClosed(try instance.process.terminate(), received: 30_000)
        stopped.signal(SIGKILL)
        unread.signal(SIGKILL)
    }

    @Test func whatIsUnknownIsWaitedFor() throws {
        let instance = try scene.instance()
        let tap = try scene.tap("measurement", "--type", "heartrate", "--device", "nobody")
        try tap.waitForError("no mapping in use has the type 'heartrate', there are ")
        try Sending.send(lines: [TapScene.line(second: 0)], to: instance.address)
        try tap.waitForError("no event yet: --device must be the whole identifier")
        #expect(!tap.errorText.contains("nobody") && tap.output.isEmpty)
        tap.signal(SIGTERM)
        #expect(try tap.wait() == .exit(0))
        try scene.expectClosed(try instance.process.terminate())
    }

    @Test func onlySoManyTapsAreOpen() throws {
        let instance = try scene.instance()
        let taps = try (0..<4).map { _ in try scene.tap("payload") }
        let refused = try Kymo.run(["tap", "--data", scene.data, "--stage", "payload"])
        #expect(refused.end == .exit(1) && refused.error.contains("4 taps are open already"))
        taps[0].signal(SIGTERM)
        #expect(try taps[0].wait() == .exit(0))
        // Its place is free as soon as the instance has seen the end.
        try Waiting.until("a free place") {
            let tap = try Kymo.start(["tap", "--data", scene.data, "--stage", "payload"])
            try Waiting.until("an answer") { !tap.errorText.isEmpty }
            defer { tap.signal(SIGTERM) }
            return tap.errorText.contains("tapping process")
        }
        #expect(try instance.process.terminate().end == .exit(0))
    }

    @Test func withoutAnInstanceItFails() throws {
        let done = try Kymo.run(["tap", "--data", scene.data, "--stage", "payload"])
        #expect(done.end == .exit(66) && done.output.isEmpty)
        #expect(done.error.contains("no instance runs in \(scene.data)"))
    }

    @Test(arguments: [
        [], ["--stage", "window"], ["--stage", "payload", "--rate", "0"], ["--stage", "payload", "--rate", "1001"],
        ["--stage", "payload", "--limit", "0"],
    ])
    func aWrongCommandLineIsRefused(options: [String]) throws {
        #expect(try Kymo.run(["tap", "--data", scene.data] + options).end == .exit(64))
    }
}
