import KymographCore

/// How a topic is delivered to.
struct KafkaTarget: Sendable {
    /// The topic.
    var place: KafkaPlace
    /// Further properties of librdkafka, among them secrets; read anew whenever a producer is opened.
    var properties: SecretFile?
    /// Which messages have keys.
    var partitioning = EventPartitioning.device
    /// Whether there are receipts, which say what messages are about.
    var keepsReceipts = false
    /// Most messages under way at once.
    var messages = 10_000

    /// A topic, by the defaults.
    init(_ place: KafkaPlace) { self.place = place }

    /// As what takes rows has them.
    var delivery: DeliverySettings {
        // Who patients and devices are is no matter of a topic.
        var settings = DeliverySettings(base: place.name, identity: .create)
        settings.rowBytes = 4 << 20
        return settings
    }

    /// What librdkafka is told of a producer.
    ///
    /// - Throws: As ``KafkaAccess/properties(of:_:)``.
    func allProperties() throws(KafkaFault) -> [KafkaProperty] {
        try KafkaAccess(place: place, file: properties).properties(
            of: .producer,
            [
                // Each message is stored once and in order, by as many brokers as the topic wants, while a producer
                // lives.
                KafkaProperty(name: "enable.idempotence", value: "true"),
                // Nothing is given up before kymo gives it up.
                KafkaProperty(name: "message.timeout.ms", value: "0"),
                // As clients in Java do it, so that theirs and these messages of a key are together.
                KafkaProperty(name: "partitioner", value: "murmur2_random"),
                KafkaProperty(name: "compression.type", value: "zstd"),
                KafkaProperty(name: "queue.buffering.max.messages", value: "\(2 * messages)"),
            ])
    }
}
