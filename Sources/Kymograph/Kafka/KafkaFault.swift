import CKafka

/// Why Kafka has not done what it was asked to, by the codes of librdkafka and of brokers (Kafka protocol, "Error
/// Codes").
struct KafkaFault: Error, Hashable, Sendable {
    /// What is to be done about it.
    enum Kind: Hashable, Sendable {
        /// No broker answers: the same again, later.
        case unreachable
        /// TLS could not be agreed on.
        case insecure
        /// The brokers do not let this client in, or not do that there.
        case refused
        /// There is no such topic, or a property is none: somebody has to change something.
        case unfit
        /// The message, or those that it came with, are longer than the topic allows.
        case tooLarge
        /// The topic will never take the message.
        case content
        /// The partition has no record at the place that is to be read.
        case nowhere
        /// What the partition has there is damaged, or of a kind that librdkafka does not know.
        case unreadable
        /// The producer or consumer has ended.
        case ended
        /// The brokers cannot do it now: the same again, later.
        case unable
    }

    /// What is to be done about it.
    var kind: Kind
    /// The code; 0 where librdkafka has none.
    var code: Int
    /// What went wrong, in words: without secrets, and without anything of readings.
    var message: String

    /// A fault without a code.
    init(_ kind: Kind, _ message: String) { (self.kind, self.message, code) = (kind, message, 0) }

    /// What librdkafka says of `code` in words.
    init(code: Int, saying message: String) {
        (self.code, self.message) = (code, "\(message) (Kafka error \(code))")
        kind = KafkaFault.kind(of: code)
    }

    private static func kind(of code: Int) -> Kind {
        switch code {
        case KYMO_KAFKA_MESSAGE_TOO_LARGE, KYMO_KAFKA_BATCH_TOO_LARGE: .tooLarge
        case KYMO_KAFKA_INVALID_RECORD, KYMO_KAFKA_POLICY_VIOLATION: .content
        case KYMO_KAFKA_TOPIC_FORBIDDEN, KYMO_KAFKA_GROUP_FORBIDDEN, KYMO_KAFKA_CLUSTER_FORBIDDEN,
            KYMO_KAFKA_SASL_FAILED, KYMO_KAFKA_AUTHENTICATION:
            .refused
        case KYMO_KAFKA_SSL: .insecure
        case KYMO_KAFKA_NO_TOPIC_OR_PARTITION, KYMO_KAFKA_TOPIC_NAME, KYMO_KAFKA_UNKNOWN_TOPIC,
            KYMO_KAFKA_UNKNOWN_PARTITION:
            .unfit
        case KYMO_KAFKA_TRANSPORT, KYMO_KAFKA_RESOLVE, KYMO_KAFKA_ALL_BROKERS_DOWN: .unreachable
        case KYMO_KAFKA_FATAL: .ended
        case KYMO_KAFKA_NO_SUCH_OFFSET: .nowhere
        case KYMO_KAFKA_BAD_MESSAGE, KYMO_KAFKA_BAD_COMPRESSION, KYMO_KAFKA_NOT_IMPLEMENTED,
            KYMO_KAFKA_CORRUPT_MESSAGE, KYMO_KAFKA_UNSUPPORTED_COMPRESSION:
            .unreadable
        default: .unable
        }
    }

    /// Whether no broker that is known answers.
    var isOfAllBrokers: Bool { code == KYMO_KAFKA_ALL_BROKERS_DOWN }

    /// Whether it will not pass by itself.
    var isLasting: Bool { kind == .unfit || kind == .refused || kind == .insecure }

    /// Whether one message is to blame, not the brokers.
    var isOfContent: Bool { kind == .tooLarge || kind == .content }
}
