import Glibc
@testable import Kymograph
import KymographCore
import Testing

/// A lane and a broker, packet by packet, over real sockets.
@Suite struct MQTTLaneTests {
    private let broker = ScriptedBroker()
    private let log = GatedConsumer.Log()
    private let notes = NoteList()

    /// A lane that reads from the broker.
    private func lane(
        topics: [String] = ["ward/+"], _ change: (inout SourceConfiguration) -> Void = { _ in }
    ) throws -> (lane: Lane, end: () -> Void) {
        var configuration = SourceConfiguration(try MQTTSource(parsing: "mqtt://127.0.0.1:\(broker.port)"))
        configuration.mqtt.topics = try topics.map { try TopicFilter(parsing: $0) }
        configuration.mqtt.clientID = "c"
        change(&configuration)
        let lane = try Lane([configuration])
        let consumer = GatedConsumer(log: log, notes: notes)
        let thread = TestThread {
            var consumer = consumer
            _ = try? lane.run(&consumer)
        }
        return (
            lane,
            {
                lane.stop()
                thread.join()
            }
        )
    }

    private func puback(_ number: UInt16) -> [UInt8] { [0x40, 2] + BrokerPackets.two(number) }
    private func pubrec(_ number: UInt16) -> [UInt8] { [0x50, 2] + BrokerPackets.two(number) }

    /// PUBACK waits for the disk, and signs of life do not.
    @Test func acknowledgedOnceDurable() throws {
        let (lane, end) = try lane { $0.mqtt.keepAlive = 2_000_000_000 }
        try broker.welcome()
        broker.send(BrokerPackets.publish("{\"a\":1}", number: 5) + BrokerPackets.publish("{\"a\":2}", number: 6))
        #expect(Patience.until { log.all.count == 2 })
        #expect(try broker.packet() == [0xC0, 0], "no acknowledgement comes before the sign of life")
        broker.send(BrokerPackets.pingresp)
        log.makeDurable(2)
        #expect(try broker.packet() == puback(5))
        #expect(try broker.packet() == puback(6))
        end()
        #expect(try broker.packet() == [0xE0, 0], "good-bye")
        #expect(log.all == ["{\"a\":1}", "{\"a\":2}"])
        #expect(lane.counts(0).lines == 2 && lane.counts(0).connections == 1)
        #expect(notes.all.count == 1 && notes.all[0].hasSuffix(": connected"), "\(notes.all)")
    }

    /// What a lost connection has not acknowledged comes again, and is handed on again: its readings are duplicates.
    @Test func redelivered() throws {
        let (lane, end) = try lane()
        try broker.welcome()
        broker.send(BrokerPackets.publish("{\"a\":1}", number: 5))
        #expect(Patience.until { log.all.count == 1 })
        broker.hangUp()
        log.makeDurable(1)
        try broker.welcome(hasSession: true)
        broker.send(BrokerPackets.publish("{\"a\":1}", number: 5, isRepeated: true))
        log.makeDurable(2)
        #expect(try broker.packet() == puback(5))
        end()
        #expect(log.all == ["{\"a\":1}", "{\"a\":1}"] && lane.counts(0).connections == 2)
        let said = notes.all.map { $0.split(separator: ": ", maxSplits: 1).last.map(String.init) ?? "" }
        #expect(said == ["connected", "connection lost: the broker has closed it; connecting again", "connected"])
    }

    /// QoS 2: PUBREC once durable, PUBCOMP at once. Each message is handed on, whatever its number was before: the
    /// broker may have given it to another one without PUBREL.
    @Test func twoSteps() throws {
        let (_, end) = try lane { $0.mqtt.quality = .exactlyOnce }
        try broker.welcome(granted: [2])
        broker.send(BrokerPackets.publish("{\"a\":1}", quality: 2, number: 7))
        #expect(Patience.until { log.all.count == 1 })
        broker.hangUp()
        try broker.welcome(hasSession: true, granted: [2])
        broker.send(BrokerPackets.publish("{\"a\":1}", quality: 2, number: 7, isRepeated: true))
        #expect(Patience.until { log.all.count == 2 })
        log.makeDurable(2)
        #expect(try broker.packet() == pubrec(7))
        broker.send(BrokerPackets.publish("{\"a\":2}", quality: 2, number: 7))
        #expect(Patience.until { log.all.count == 3 })
        log.makeDurable(3)
        #expect(try broker.packet() == pubrec(7))
        broker.send(BrokerPackets.pubrel(7))
        #expect(try broker.packet() == [0x70, 2, 0, 7])
        end()
        #expect(log.all == ["{\"a\":1}", "{\"a\":1}", "{\"a\":2}"])
    }

    /// Topics name senders; what is of another topic, names nobody, or is too long, is rejected and acknowledged.
    @Test func everyMessageIsAcknowledged() throws {
        let (lane, end) = try lane(topics: ["ward/{device}/#", "home/{patient}"]) { $0.lineCap = 30 }
        try broker.welcome(granted: [1, 1])
        let long = String(repeating: "x", count: MQTTHead.mostFields + 200_000)
        let messages: [(payload: String, topic: String)] = [
            ("{}", "ward/d7/vitals"), ("{}", "home/p9"), ("{}", "elsewhere"), ("{}", "ward/"), ("{}", "home/"),
            (String(repeating: "y", count: 31), "ward/d7"), (long, "ward/d7"), ("", "ward/d7"), ("[]", "ward/d7"),
        ]
        log.makeDurable(100)
        for (number, message) in messages.enumerated() {
            broker.send(BrokerPackets.publish(message.payload, to: message.topic, number: UInt16(number + 1)))
            #expect(try broker.packet() == puback(UInt16(number + 1)), "\(message.topic)")
        }
        end()
        let cut = { (letter: String) in "frameTooLong: \(String(repeating: letter, count: 30))" }
        #expect(
            log.all == [
                "{} of d7|-", "{} of -|p9", "topicNotSubscribed: {}", "noDevice: {}", "noPatient: {}", cut("y"),
                cut("x"), "[] of d7|-",
            ], "\(log.all)")
        #expect(lane.counts(0).rejected == 5 && lane.counts(0).lines == 8)
        #expect(notes.all.contains { $0.contains("no filter has") })
    }

    /// A message that is too long is one letter, though the connection is lost before all of it has come.
    @Test func longMessagesInParts() throws {
        let (lane, end) = try lane { $0.lineCap = 30 }
        try broker.welcome()
        let payload = String(repeating: "x", count: MQTTHead.mostFields + 200_000)
        broker.send(Array(BrokerPackets.publish(payload, number: 5).dropLast()))
        broker.hangUp()
        try broker.welcome(hasSession: true)
        broker.send(BrokerPackets.publish(payload, number: 5, isRepeated: true))
        log.makeDurable(1)
        #expect(try broker.packet() == puback(5))
        end()
        #expect(log.all == ["frameTooLong: \(String(repeating: "x", count: 30))"], "\(log.all)")
        #expect(lane.counts(0).rejected == 1 && lane.counts(0).connections == 2)
    }

    /// A broker that sends nonsense is told so, left, and tried again later; its bytes are kept, and what it has not
    /// heard of comes again.
    @Test func nonsense() throws {
        let (lane, end) = try lane()
        try broker.welcome()
        broker.send(BrokerPackets.publish("{\"a\":1}", number: 5) + [0x36, 1, 0])
        #expect(Patience.until { log.all.count == 2 })
        #expect(try broker.packet() == [0xE0, 1, 0x82], "protocol error")
        #expect(broker.seesTheEnd(), "nothing comes behind it, and the connection does not wait for the disk")
        try broker.welcome(hasSession: true)
        broker.send(BrokerPackets.publish("{\"a\":1}", number: 5, isRepeated: true))
        log.makeDurable(3)
        #expect(try broker.packet() == puback(5))
        end()
        #expect(log.all.count == 3 && log.all[0] == "{\"a\":1}" && log.all.last == "{\"a\":1}", "\(log.all)")
        #expect(log.all[1].hasPrefix("frameMalformed: 6"))
        #expect(lane.counts(0).rejected == 1)
        #expect(notes.all.contains { $0.contains("does not keep to MQTT: a message has a QoS that there is not") })
    }

    /// With 3.1.1 a good-bye says no reason, and makes the broker discard the will: there is none after nonsense.
    @Test func nonsenseOfTheFormerVersion() throws {
        let (_, end) = try lane { ($0.mqtt.version, $0.mqtt.statusTopic) = (.v311, "kymo/status") }
        try broker.accept()
        _ = try broker.packet()
        broker.send([0x20, 2, 0, 0])
        #expect(try broker.packet().first == 0x82)
        broker.send([0x90, 3, 0, 1, 1])
        #expect(String(decoding: try broker.packet(), as: UTF8.self).hasSuffix("kymo/statusonline"))
        broker.send([0x36, 1, 0])
        #expect(broker.seesTheEnd(), "no good-bye")
        end()
        #expect(log.all.count == 1 && log.all[0].hasPrefix("frameMalformed: 6"), "\(log.all)")
    }

    /// Each reason is told once, however often it comes.
    @Test func refusedAgainAndAgain() throws {
        let (lane, end) = try lane()
        for _ in 0..<3 {
            try broker.accept()
            _ = try broker.packet()
            broker.send(BrokerPackets.connack(code: 0x86))
            #expect(broker.seesTheEnd())
        }
        try broker.welcome()
        #expect(Patience.until { lane.counts(0).connections == 1 })
        end()
        let refusals = notes.all.filter { $0.contains("refused: bad user name or password (code 0x86); trying again") }
        #expect(refusals.count == 1 && notes.all.count == 2, "\(notes.all)")
    }

    /// With a status topic, the broker says that the client has gone: it gets no good-bye.
    @Test func theStatusTopic() throws {
        let (_, end) = try lane { $0.mqtt.statusTopic = "kymo/status" }
        let first = try broker.welcome()
        #expect(String(decoding: first, as: UTF8.self).contains("kymo/status\0\u{7}offline"))
        #expect(String(decoding: try broker.packet(), as: UTF8.self).hasSuffix("kymo/status\0online"))
        end()
        #expect(broker.seesTheEnd())
    }

    /// Names are looked up; those of other machines are refused without encryption, as what a name stands for may change.
    @Test func namesOfHosts() throws {
        let named = try MQTTSource(parsing: "mqtt://localhost:\(broker.port)")
        var configuration = SourceConfiguration(named)
        configuration.mqtt.topics = [try TopicFilter(parsing: "a")]
        let lane = try Lane([configuration])
        let consumer = GatedConsumer(log: log, notes: notes)
        let thread = TestThread {
            var consumer = consumer
            _ = try? lane.run(&consumer)
        }
        try broker.welcome()
        #expect(Patience.until { lane.counts(0).connections == 1 })
        lane.stop()
        thread.join()
        var other = BrokerConnection(
            .init(named.address, mayBeRemote: false, settings: MQTTSettings(), clientID: "c"), longest: 1, at: .now)
        let found = [NetworkAddress(host: "192.0.2.1", port: 1)]
        #expect(throws: SourceError.self) { try other.take(.success(found)) }
        try other.take(.success(found + [NetworkAddress(host: "::1", port: 1)]))
        #expect(other.nextAddress()?.host == "::1" && other.nextAddress() == nil)
    }
}
