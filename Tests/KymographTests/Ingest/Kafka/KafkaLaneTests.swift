import Glibc
@testable import Kymograph
import KymographCore
import Testing

/// A lane that reads a topic by its thread.
@Suite struct KafkaLaneTests {
    /// A topic in memory, as a source.
    private struct Source: SourceAddress {
        static let descriptor = SourceDescriptor(
            key: "memory", form: "", about: "A topic in memory", capabilities: .records
        ) { (_) throws(SettingProblem) in throw SettingProblem(message: "it has no text", advice: "") }

        let topic: MemoryTopic
        var name: String { "memory" }

        static func == (one: Source, other: Source) -> Bool { one.topic === other.topic }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(topic)) }

        func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
            let feed = try KafkaFeed(
                name: name, topic: "t", reading: configuration.kafka, longest: configuration.lineCap
            ) { [topic] (_) throws(KafkaFault) in
                MemoryConsumer(topic)
            }
            return OpenedSource(self, Descriptor(-1), .records(OpenedSource.Records(feed: feed)))
        }
    }

    private let topic = MemoryTopic(partitions: 2)
    private let log = GatedConsumer.Log()
    private let notes = NoteList()

    private func run(_ holds: SourceHolds = SourceHolds()) throws -> (lane: Lane, end: () -> Void) {
        let lane = try Lane([SourceConfiguration(Source(topic: topic))], holds: holds)
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

    @Test func positionsFollowTheDisk() throws {
        for number in 0..<100 { topic.add("{\"a\":\(number)}", to: Int32(number % 2)) }
        let (lane, end) = try run()
        #expect(Patience.until { log.all.count == 100 })
        #expect(Patience.until { topic.position(1) == 0 })
        log.makeDurable(100)
        #expect(Patience.until { topic.position(0) == 50 && topic.position(1) == 50 })
        topic.add("{\"b\":1}", to: 0)
        #expect(Patience.until { log.all.count == 101 })
        // What becomes durable while it ends is told, too.
        log.makeDurable(101)
        end()
        #expect(topic.position(0) == 51)
        #expect(lane.counts(0).lines == 101 && lane.counts(0).connections == 1)
        #expect(notes.all == ["memory: reading 2 partitions of t"])
        #expect(log.all.filter { $0.contains("b") }.count == 1)
    }

    /// The next run begins where all was on disk.
    @Test func nextRun() throws {
        for number in 0..<10 { topic.add("\(number)", to: 0) }
        let first = try run()
        #expect(Patience.until { log.all.count == 10 })
        first.end()
        #expect(topic.position(0) == 0)
        log.makeDurable(1_000)
        let second = try run()
        #expect(Patience.until { topic.position(0) == 10 })
        second.end()
        let third = try run()
        topic.add("11", to: 1)
        #expect(Patience.until { topic.position(1) == 1 })
        third.end()
        let once = (0..<10).map { "\($0)" }
        #expect(log.all == once + once + ["11"])
    }

    /// Brokers that take nothing, and consumers that end: another one goes on, and what was on its way comes again.
    @Test func consumersEnd() throws {
        log.makeDurable(1_000)
        topic.change { $0.silences = 12 }
        topic.add("1", to: 0)
        let (_, end) = try run()
        #expect(Patience.until { topic.position(0) == 1 })
        topic.change { $0.end = KafkaFault(.ended, "it is fenced") }
        #expect(Patience.until { notes.all.contains("memory: it is fenced; trying again") })
        topic.add("2", to: 0)
        #expect(Patience.until { topic.position(0) == 2 })
        end()
        #expect(Set(log.all) == ["1", "2"])
        #expect(notes.all.contains("memory: no broker answers; trying again"), "\(notes.all)")
    }

    /// A source that is paused is not read, and loses nothing.
    @Test func paused() throws {
        log.makeDurable(1_000_000)
        let holds = SourceHolds()
        _ = holds.replace(with: [0])
        topic.add("1", to: 0)
        let (_, end) = try run(holds)
        usleep(600_000)
        #expect(log.all.isEmpty && topic.position(0) == nil)
        _ = holds.replace(with: [])
        #expect(Patience.until { topic.position(0) == 1 })
        end()
        #expect(log.all == ["1"])
    }

    /// More than the socket and the queue have room for, in records of all lengths.
    @Test func muchMoreThanFits() throws {
        let values = (0..<3_000).map { "\($0) " + String(repeating: "x", count: $0 * 7 % 1_500) }
        for (number, value) in values.enumerated() { topic.add(value, to: Int32(number % 2)) }
        log.makeDurable(1_000_000)
        let (_, end) = try run()
        #expect(Patience.until(seconds: 60) { topic.position(0) == 1_500 && topic.position(1) == 1_500 })
        end()
        #expect(Set(log.all) == Set(values) && log.all.count == values.count)
    }
}
