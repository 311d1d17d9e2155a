import CKafka
import Glibc
import KymographCore

/// A consumer of librdkafka for one topic, in a group that keeps positions and deals out nothing.
///
/// This file calls C, with pointers that live as long as each call; what the consumer calls back with is kept by it,
/// and the consumer ends before that.
@safe final class KafkaConsumer: RecordConsumer {
    /// Where callbacks leave what they tell.
    private final class Ear {
        var news = ConsumerNews()
    }

    private let consumer: OpaquePointer
    private let ear = Ear()
    private let topic: String
    /// Nil where values alone go to the lane.
    private var envelope: RecordEnvelope?

    /// A consumer with `properties` for `topic`. It rings the event `bell`, unless that is -1, when there is something
    /// to ask for. Headers become properties of envelopes, if there is one to make them.
    ///
    /// - Throws: ``KafkaFault`` when a property is none, or they do not go together.
    init(
        _ properties: [KafkaProperty], topic: String, bell: Int32, envelope: consuming RecordEnvelope? = nil
    ) throws(KafkaFault) {
        self.topic = topic
        self.envelope = envelope
        let all = unsafe try KafkaLibrary.made(properties)
        var calls = kymo_kafka_consumer_calls()
        unsafe calls.committed = { context, partition, offset, error in
            guard let context = unsafe context else { return }
            let position = RecordPosition(partition: partition, offset: offset)
            let fault = error == 0 ? nil : KafkaLibrary.fault(error)
            unsafe Unmanaged<Ear>.fromOpaque(context).takeUnretainedValue().news.committed.append((position, fault))
        }
        unsafe calls.failed = { context, error, text in
            guard let context = unsafe context, let text = unsafe text else { return }
            let fault = KafkaFault(code: Int(error), saying: unsafe String(cString: text))
            unsafe Unmanaged<Ear>.fromOpaque(context).takeUnretainedValue().news.faults.append(fault)
        }
        let context = unsafe Unmanaged.passUnretained(ear).toOpaque()
        let opened = unsafe KafkaLibrary.saying { problem, size in
            unsafe kymo_kafka_consumer_open(all, calls, context, bell, problem, size)
        }
        guard let made = unsafe opened.result else { throw KafkaFault(.unfit, unsafe opened.problem) }
        unsafe consumer = made
    }

    deinit { unsafe kymo_kafka_consumer_close(consumer) }

    func partitions(milliseconds: Int32) throws(KafkaFault) -> Int {
        var count: Int32 = 0
        let error = unsafe kymo_kafka_consumer_ask(consumer, topic, milliseconds, &count)
        guard error == 0 else { throw KafkaLibrary.fault(error) }
        return Int(count)
    }

    var cluster: IdentifierText {
        var text = [CChar](repeating: 0, count: 256)
        unsafe kymo_kafka_cluster(consumer, &text, text.count)
        return IdentifierText(utf8: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
    }

    func positions(in partitions: [Int32], milliseconds: Int32) throws(KafkaFault) -> [RecordPosition] {
        let nowhere = Int64(KYMO_KAFKA_NOWHERE)
        var all = partitions.map { kymo_kafka_position(partition: $0, offset: nowhere) }
        let error = unsafe kymo_kafka_positions(consumer, topic, &all, all.count, milliseconds)
        guard error == 0 else { throw KafkaLibrary.fault(error) }
        return all.filter { $0.offset >= 0 }.map { RecordPosition(partition: $0.partition, offset: $0.offset) }
    }

    func offsets(of partition: Int32, milliseconds: Int32) throws(KafkaFault) -> Range<Int64> {
        var (first, end): (Int64, Int64) = (0, 0)
        let error = unsafe kymo_kafka_bounds(consumer, topic, partition, &first, &end, milliseconds)
        guard error == 0 else { throw KafkaLibrary.fault(error) }
        guard first >= 0, first <= end else {
            throw KafkaFault(.unable, "a broker says that partition \(partition) begins at \(first) and ends at \(end)")
        }
        return first..<end
    }

    func read(from positions: [RecordPosition]) throws(KafkaFault) {
        let all = Self.all(positions)
        let error = unsafe kymo_kafka_assign(consumer, topic, all, all.count)
        guard error == 0 else { throw KafkaLibrary.fault(error) }
    }

    func next() -> RecordEvent? {
        var record = unsafe kymo_kafka_record()
        guard unsafe kymo_kafka_next(consumer, &record) != 0 else { return nil }
        defer { unsafe kymo_kafka_record_free(&record) }
        let (error, partition, offset) = unsafe (record.error, record.partition, record.offset)
        guard error == 0 else { return .fault(partition: partition, KafkaLibrary.fault(error)) }
        var whole = unsafe TopicRecord(
            value: Self.copy(record.value), key: Self.copy(record.key),
            milliseconds: record.milliseconds < 0 ? nil : record.milliseconds)
        if envelope != nil { whole.headers = unsafe Self.headers(of: record) }
        return .record(RecordPosition(partition: partition, offset: offset), whole, content(of: whole))
    }

    private func content(of record: TopicRecord) -> RecordContent {
        guard envelope != nil else { return record.value.map { .payload($0) } ?? .nothing }
        return envelope?.content(of: record) ?? .nothing
    }

    /// The headers of a record, but no more than may be read; nil when they are damaged.
    private static func headers(of record: kymo_kafka_record) -> [RecordHeader]? {
        var (all, header): ([RecordHeader], kymo_kafka_header) = unsafe ([], kymo_kafka_header())
        while all.count <= RecordEnvelope.mostHeaders {
            let isThere = unsafe kymo_kafka_record_header(record.message, all.count, &header)
            guard isThere != 0 else { break }
            guard isThere > 0 else { return nil }
            let name = unsafe UnsafeRawBufferPointer(start: header.name, count: strlen(header.name))
            all.append(RecordHeader(name: unsafe [UInt8](name), value: unsafe copy(header.value)))
        }
        return all
    }

    /// The bytes of `piece`; nil where there is none.
    private static func copy(_ piece: kymo_kafka_piece) -> [UInt8]? {
        guard let start = unsafe piece.bytes else { return nil }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: piece.count))
    }

    func commit(_ positions: [RecordPosition]) throws(KafkaFault) {
        let all = Self.all(positions)
        let error = unsafe kymo_kafka_commit(consumer, topic, all, all.count)
        guard error == 0 else { throw KafkaLibrary.fault(error) }
    }

    private static func all(_ positions: [RecordPosition]) -> [kymo_kafka_position] {
        positions.map { kymo_kafka_position(partition: $0.partition, offset: $0.offset) }
    }

    func knownEnd(of partition: Int32) -> Int64? {
        let end = unsafe kymo_kafka_known_end(consumer, topic, partition)
        return end < 0 ? nil : end
    }

    func look() -> ConsumerNews {
        unsafe kymo_kafka_consumer_poll(consumer)
        defer { ear.news = ConsumerNews() }
        return ear.news
    }

    var end: KafkaFault? {
        let fatal = unsafe KafkaLibrary.saying { unsafe kymo_kafka_consumer_fatal(consumer, $0, $1) }
        return fatal.result == 0 ? nil : KafkaFault(.ended, "\(fatal.problem) (Kafka error \(fatal.result))")
    }
}
