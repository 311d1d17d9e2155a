@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Delivery to a topic, in a time that passes only here.
@Suite struct KafkaEngineTests {
    /// Brokers in memory, which also do what they are told to do wrong.
    final class Brokers {
        /// Codes for the messages that are looked at next; 0 stores one, and is what comes behind them.
        var steps: [Int] = []
        /// Texts that are refused wherever they are, with this code.
        var poison: (text: String, code: Int)?
        /// Whether a message of ``poison`` is refused together with all that are under way.
        var spreads = false
        /// Whether no producer can be opened.
        var isClosed = false
        /// Codes of what connections say.
        var faults: [Int] = []
        var end: Int?
        var stored: [KafkaMessage] = []
        var producers = 0
        /// Messages that producers were given.
        var given = 0
        /// Most messages that a producer has room for.
        var room = 16

        func open(_ target: KafkaTarget) throws(KafkaFault) -> any MessageProducer {
            if isClosed { throw KafkaFault(.unfit, "readings.properties:3: librdkafka takes no such x") }
            producers += 1
            return Producer(self)
        }
    }

    private final class Producer: MessageProducer {
        private let brokers: Brokers
        private var under: [(message: KafkaMessage, number: UInt64)] = []

        init(_ brokers: Brokers) { self.brokers = brokers }

        func send(_ message: KafkaMessage, number: UInt64) throws(KafkaFault) {
            guard under.count < brokers.room else { throw KafkaFault(code: -184, saying: "Local: Queue full") }
            under.append((message, number))
            brokers.given += 1
        }

        func look() -> ProducerNews {
            var news = ProducerNews()
            let isSpoilt = brokers.spreads && under.contains { isPoison($0.message) }
            for (message, number) in under {
                var code = brokers.steps.isEmpty ? 0 : brokers.steps.removeFirst()
                if let poison = brokers.poison, isSpoilt || isPoison(message) { code = poison.code }
                // Nobody hears of it before the producer has ended.
                if code == -1 { continue }
                if code == 0 { brokers.stored.append(message) }
                news.told.append((number, code == 0 ? nil : KafkaFault(code: code, saying: "Broker: no")))
            }
            under = []
            news.faults = brokers.faults.map { KafkaFault(code: $0, saying: "broker:9092/1: no") }
            brokers.faults = []
            return news
        }

        private func isPoison(_ message: KafkaMessage) -> Bool {
            brokers.poison.map { String(decoding: message.value, as: UTF8.self).contains($0.text) } ?? false
        }

        var end: KafkaFault? {
            guard let code = brokers.end else { return nil }
            brokers.end = nil
            return KafkaFault(.ended, "fatal \(code)")
        }
    }

    private final class Rehearsal {
        let brokers = Brokers()
        let outbox: HubEngineTests.HubOutbox
        let time = DeliveryRehearsal.Time()
        let engine: KafkaEngine

        init(_ rows: [OutboxRow], seed: UInt64 = 1, _ change: (inout KafkaTarget) -> Void = { _ in }) throws {
            outbox = HubEngineTests.HubOutbox(rows)
            var target = KafkaTarget(try KafkaPlace("kafka://broker:9092/readings"))
            change(&target)
            let (time, brokers, final) = (time, brokers, target)
            engine = KafkaEngine(
                target, queue: outbox, clock: DeliveryClock(elapsed: { time.now }, civil: { time.now }),
                random: SeededGenerator(seed: seed)
            ) { () throws(KafkaFault) in try brokers.open(final) }
        }

        /// Lets time pass until all is settled, `seconds` at most.
        func run(seconds: Int64 = 86_400) {
            let end = time.now.advanced(by: seconds * 1_000_000_000)
            while time.now < end {
                engine.turn()
                if engine.isIdle, !outbox.hasMore(engine.status.settledThrough) { return }
                time.advance(to: time.now.advanced(by: 50_000_000))
            }
        }

        var values: [String] { brokers.stored.map { String(decoding: $0.value, as: UTF8.self) } }
    }

    /// Whatever goes wrong on the way: all messages come, and those of each device in their order.
    @Test func orderOfADevice() throws {
        for seed in Trials.seeds(tenthOf: 50) {
            var random = SeededGenerator(seed: seed)
            let (rows, all) = HubEngineTests.rows(20, &random)
            let rehearsal = try Rehearsal(rows, seed: seed)
            rehearsal.brokers.room = Int.random(in: 1...40, using: &random)
            // What one broker fails at, it fails at for all of a turn.
            let code = [6, 7, 29, -192, 3, 56][Int.random(in: 0..<6, using: &random)]
            rehearsal.brokers.poison = ("{", code)
            rehearsal.run(seconds: Int64.random(in: 1...200, using: &random))
            #expect(rehearsal.brokers.stored.isEmpty && rehearsal.outbox.settledThrough == 0)
            rehearsal.brokers.poison = nil
            rehearsal.run()
            for (device, texts) in all {
                let found = rehearsal.brokers.stored.filter { $0.key == Array(device.utf8) }
                #expect(found.map { String(decoding: $0.value, as: UTF8.self) } == texts, "seed \(seed), \(device)")
            }
            #expect(rehearsal.outbox.settledThrough == 20 && rehearsal.outbox.undeliverable.isEmpty, "seed \(seed)")
            #expect(rehearsal.engine.status.delivered == all.values.reduce(0) { $0 + $1.count })
            #expect(rehearsal.engine.status.trouble == nil && rehearsal.engine.status.circuit == .closed)
        }
    }

    /// Single failures anywhere: nothing is missing.
    @Test func nothingIsMissing() throws {
        for seed in Trials.seeds(tenthOf: 50) {
            var random = SeededGenerator(seed: seed)
            let (rows, all) = HubEngineTests.rows(20, &random)
            let rehearsal = try Rehearsal(rows, seed: seed)
            rehearsal.brokers.steps = (0..<100).map { _ in
                [0, 0, 6, 7, 29, -192][Int.random(in: 0..<6, using: &random)]
            }
            rehearsal.run()
            #expect(Set(rehearsal.values) == Set(all.values.flatMap { $0 }), "seed \(seed)")
            #expect(rehearsal.values.count == Set(rehearsal.values).count, "nothing comes twice that nobody lost")
            #expect(rehearsal.outbox.settledThrough == 20 && rehearsal.outbox.undeliverable.isEmpty, "seed \(seed)")
        }
    }

    /// A producer that ends has others send what it did not tell of; its digest is the same.
    @Test func aProducerEnds() throws {
        let rows = (1...9).map { HubEngineTests.row(Int64($0), [("bed", "{\"n\":\($0)}")]) }
        let rehearsal = try Rehearsal(rows)
        rehearsal.brokers.steps = [0, 0, -1, 0, 0]
        rehearsal.run(seconds: 1)
        #expect(rehearsal.outbox.settledThrough == 2 && !rehearsal.engine.isIdle)
        rehearsal.brokers.end = 47
        rehearsal.run()
        #expect(rehearsal.brokers.producers == 2 && rehearsal.outbox.settledThrough == 9)
        #expect(Set(rehearsal.values).count == 9)
        let ids = Dictionary(grouping: rehearsal.brokers.stored) { $0.value }.values.map { messages in
            Set(messages.map { $0.headers.first { $0.name == "id" }?.value })
        }
        #expect(ids.count == 9 && ids.allSatisfy { $0.count == 1 })
    }

    /// What a topic never takes is put aside alone, though all that came with it was refused at first.
    @Test(arguments: [(10, Rejection.entryTooLarge), (87, .serverRefused), (44, .serverRefused)], [true, false])
    func oneThatIsNeverTaken(_ refusal: (code: Int, reason: Rejection), spreads: Bool) throws {
        let rows = (0..<40).map { HubEngineTests.row(Int64($0 + 1), [("bed-\($0 % 2)", "{\"n\":\"<\($0)>\"}")]) }
        let rehearsal = try Rehearsal(rows)
        (rehearsal.brokers.poison, rehearsal.brokers.spreads) = (("<7>", refusal.code), spreads)
        rehearsal.run()
        let letters = rehearsal.outbox.undeliverable
        #expect(letters.map(\.reason) == [refusal.reason] && letters.first?.row == 8)
        #expect(letters.first?.detail == "Broker: no (Kafka error \(refusal.code))")
        #expect(Set(rehearsal.values).count == 39 && rehearsal.values.count == 39)
        #expect(rehearsal.outbox.settledThrough == 40)
        #expect(rehearsal.engine.status.trouble == nil, "one message is no trouble of the brokers")
    }

    /// A message that brokers fail at whenever others are stored is put aside, and holds up nobody.
    @Test func oneThatIsFailedAt() throws {
        let rows = (0..<2_000).map { HubEngineTests.row(Int64($0 + 1), [("bed-\($0 % 2)", "{\"n\":\"<\($0)>\"}")]) }
        let rehearsal = try Rehearsal(rows)
        rehearsal.brokers.poison = ("<7>", 43)
        rehearsal.run(seconds: 600)
        #expect(rehearsal.outbox.undeliverable.map(\.reason) == [.serverFailed])
        #expect(Set(rehearsal.values).count == 1_999 && rehearsal.outbox.settledThrough == 2_000)
        // While nothing else is stored, it says nothing of the message.
        let other = try Rehearsal([HubEngineTests.row(1, [("bed", "{\"n\":\"<7>\"}")])])
        other.brokers.poison = ("<7>", 43)
        other.run(seconds: 600)
        #expect(other.outbox.undeliverable.isEmpty && other.outbox.settledThrough == 0)
    }

    /// A file that is wrong for a while: the producer that is opened at last is kept.
    @Test func openedAtLast() throws {
        let rehearsal = try Rehearsal([HubEngineTests.row(1, [("bed", "{}")])])
        rehearsal.brokers.isClosed = true
        rehearsal.run(seconds: 100)
        rehearsal.brokers.isClosed = false
        rehearsal.run()
        #expect(rehearsal.brokers.producers == 1 && rehearsal.values == ["{}"])
    }

    /// What will not pass by itself is said, and tried again with another producer: the file may be another by then.
    @Test(arguments: [(-169, DeliveryTrouble.Cause.credentialsRefused), (-181, .insecure)])
    func refused(_ fault: (code: Int, cause: DeliveryTrouble.Cause)) throws {
        let rehearsal = try Rehearsal([HubEngineTests.row(1, [("bed", "{}")])])
        rehearsal.brokers.room = 0
        rehearsal.brokers.faults = [fault.code]
        rehearsal.run(seconds: 20)
        let status = rehearsal.engine.status
        #expect(status.circuit == .refused && status.trouble?.cause == fault.cause)
        #expect(status.lastError == "broker:9092/1: no (Kafka error \(fault.code))")
        rehearsal.brokers.room = 16
        rehearsal.run(seconds: 60)
        #expect(rehearsal.outbox.settledThrough == 1 && rehearsal.engine.status.circuit == .closed)
    }

    /// One broker that does not answer is no trouble; all of them are, until one takes a message.
    @Test func brokersThatAreAway() throws {
        let rehearsal = try Rehearsal([HubEngineTests.row(1, [("bed", "{}")])])
        rehearsal.brokers.room = 0
        rehearsal.brokers.faults = [-195]
        rehearsal.run(seconds: 10)
        #expect(rehearsal.engine.status.trouble == nil && rehearsal.engine.status.circuit != .open)
        rehearsal.brokers.faults = [-187]
        rehearsal.run(seconds: 100)
        #expect(rehearsal.engine.status.circuit == .open)
        #expect(rehearsal.engine.status.trouble?.cause == .unreachable && rehearsal.brokers.producers == 1)
        rehearsal.brokers.room = 1
        rehearsal.run(seconds: 10)
        #expect(rehearsal.outbox.settledThrough == 1 && rehearsal.engine.status.trouble == nil)
    }

    /// One that is to end sends nothing more, and waits for what brokers have: not for ever, and not while they are away.
    @Test(arguments: [0, -1, -187]) func ceasing(_ answer: Int) throws {
        let rows = (1...3).map { HubEngineTests.row(Int64($0), [("bed", "{\"n\":\($0)}")]) }
        let rehearsal = try Rehearsal(rows) { $0.messages = 1 }
        let (engine, brokers) = (rehearsal.engine, rehearsal.brokers)
        engine.turn()
        #expect(brokers.given == 1 && !engine.isUnderWay)
        engine.cease()
        #expect(engine.isUnderWay)
        brokers.steps = answer == 0 ? [] : [-1]
        brokers.faults = answer == -187 ? [-187] : []
        engine.turn()
        #expect(brokers.given == 1 && engine.isUnderWay == (answer == -1))
        #expect(rehearsal.outbox.settledThrough == (answer == 0 ? 1 : 0))
        rehearsal.time.advance(to: rehearsal.time.now.advanced(by: 31_000_000_000))
        engine.turn()
        #expect(brokers.given == 1 && !engine.isUnderWay)
    }

    @Test func withoutKeys() throws {
        let rehearsal = try Rehearsal([HubEngineTests.row(1, [("bed", "{}")])]) { $0.partitioning = .none }
        rehearsal.run()
        #expect(rehearsal.brokers.stored.map(\.key) == [[]])
    }

    @Test func whatAMessageSays() throws {
        let rehearsal = try Rehearsal([HubEngineTests.row(7, [("bed 1", "{\"n\":1}")])])
        rehearsal.run()
        let message = try #require(rehearsal.brokers.stored.first)
        #expect(message.key == Array("bed 1".utf8) && message.value == Array("{\"n\":1}".utf8))
        let headers = Dictionary(uniqueKeysWithValues: message.headers.map { ($0.name, $0.value) })
        #expect(headers["type"] == "heartRate" && headers["version"] == "7" && headers["id"]?.utf8.count == 64)
    }

    /// A file that cannot be used is said, and looked at again.
    @Test func noProducer() throws {
        let rehearsal = try Rehearsal([HubEngineTests.row(1, [("bed", "{}")])])
        rehearsal.brokers.isClosed = true
        rehearsal.run(seconds: 10)
        #expect(rehearsal.engine.status.circuit == .refused)
        #expect(rehearsal.engine.status.lastError.contains("takes no such x"))
        rehearsal.brokers.isClosed = false
        rehearsal.run()
        #expect(rehearsal.outbox.settledThrough == 1)
    }
}
