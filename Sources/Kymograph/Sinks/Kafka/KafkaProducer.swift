import CKafka
import Glibc

/// What sends messages to a topic, and tells later what became of each. Belongs to one thread.
protocol MessageProducer: AnyObject {
    /// Has `message` sent, which is told of under `number`.
    ///
    /// - Throws: ``KafkaFault`` when it was not taken: `unable` for now.
    func send(_ message: KafkaMessage, number: UInt64) throws(KafkaFault)

    /// What has happened since the last look.
    func look() -> ProducerNews

    /// Why it can send nothing more; nil while it can.
    var end: KafkaFault? { get }
}

/// What a producer tells.
struct ProducerNews {
    /// Numbers of messages that are stored (nil), or that will not be sent again by the producer.
    var told: [(number: UInt64, fault: KafkaFault?)] = []
    /// What is wrong with brokers and connections.
    var faults: [KafkaFault] = []
}

/// A message of a topic.
struct KafkaMessage {
    /// Messages of one key are in one partition, in their order; without bytes, it has none.
    var key: [UInt8]
    var value: [UInt8]
    var headers: [(name: String, value: String)]
}

/// A producer of librdkafka for one topic.
///
/// This file calls C, with pointers that live as long as each call; what the producer calls back with is kept by it,
/// and the producer ends before that.
@safe final class KafkaProducer: MessageProducer {
    /// Where callbacks leave what they tell.
    private final class Ear {
        var news = ProducerNews()
    }

    private let producer: OpaquePointer
    private let ear = Ear()
    private let topic: String

    /// A producer with `properties` for `topic`. It rings the event `bell` when there is something to look at.
    ///
    /// - Throws: ``KafkaFault`` when a property is none, or they do not go together.
    init(_ properties: [KafkaProperty], topic: String, bell: Int32) throws(KafkaFault) {
        self.topic = topic
        let all = unsafe try KafkaLibrary.made(properties)
        var calls = kymo_kafka_calls()
        unsafe calls.told = { context, number, error in
            guard let context = unsafe context else { return }
            let fault = error == 0 ? nil : KafkaLibrary.fault(error)
            unsafe Unmanaged<Ear>.fromOpaque(context).takeUnretainedValue().news.told.append((number, fault))
        }
        unsafe calls.failed = { context, error, text in
            guard let context = unsafe context, let text = unsafe text else { return }
            let fault = KafkaFault(code: Int(error), saying: unsafe String(cString: text))
            unsafe Unmanaged<Ear>.fromOpaque(context).takeUnretainedValue().news.faults.append(fault)
        }
        let context = unsafe Unmanaged.passUnretained(ear).toOpaque()
        let opened = unsafe KafkaLibrary.saying { problem, size in
            unsafe kymo_kafka_open(all, calls, context, bell, problem, size)
        }
        guard let made = unsafe opened.result else { throw KafkaFault(.unfit, unsafe opened.problem) }
        unsafe producer = made
    }

    deinit { unsafe kymo_kafka_close(producer) }

    func send(_ message: KafkaMessage, number: UInt64) throws(KafkaFault) {
        let names = unsafe message.headers.map { unsafe strdup($0.name) }
        let values = unsafe message.headers.map { unsafe strdup($0.value) }
        defer { unsafe (names + values).forEach { unsafe free($0) } }
        let headers = unsafe zip(names, values).map { name, value in
            unsafe kymo_kafka_header(
                name: name, value: kymo_kafka_piece(bytes: value, count: value.map { unsafe strlen($0) } ?? 0))
        }
        let error = unsafe message.key.withUnsafeBytes { key in
            unsafe message.value.withUnsafeBytes { value in
                unsafe kymo_kafka_send(
                    producer, topic, kymo_kafka_piece(bytes: key.baseAddress, count: key.count),
                    kymo_kafka_piece(bytes: value.baseAddress, count: value.count), headers, headers.count, 0, number)
            }
        }
        if error != 0 { throw KafkaLibrary.fault(error) }
    }

    func look() -> ProducerNews {
        unsafe kymo_kafka_poll(producer)
        defer { ear.news = ProducerNews() }
        return ear.news
    }

    var end: KafkaFault? {
        let fatal = unsafe KafkaLibrary.saying { unsafe kymo_kafka_fatal(producer, $0, $1) }
        return fatal.result == 0 ? nil : KafkaFault(.ended, "\(fatal.problem) (Kafka error \(fatal.result))")
    }

    /// How many partitions the topic has, as brokers answer within `milliseconds`.
    ///
    /// - Throws: ``KafkaFault`` with what they say, or with what was wrong while nobody answered.
    func partitions(milliseconds: Int32) throws(KafkaFault) -> Int {
        var count: Int32 = 0
        let error = unsafe kymo_kafka_ask(producer, topic, milliseconds, &count)
        guard error != 0 else { return Int(count) }
        // That nobody answered in time says less than what was heard meanwhile, and most that of one broker.
        let heard = look().faults
        throw heard.last { $0.kind != .unreachable } ?? heard.last { !$0.isOfAllBrokers } ?? KafkaLibrary.fault(error)
    }
}
