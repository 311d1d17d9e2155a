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

    /// The file's properties behind those of kymo, which the file may overrule where it may name them.
    ///
    /// - Throws: ``KafkaFault`` when the file cannot be read, names what it must not, or does not say how brokers on
    ///   other machines are reached: it may be half written.
    func allProperties() throws(KafkaFault) -> [KafkaProperty] {
        let file = try fileProperties()
        guard place.isLocal || file?.statesSecurity == true else {
            throw KafkaFault(
                .unfit, "it does not say security.protocol, without which brokers are reached in plain text")
        }
        return [
            KafkaProperty(name: "bootstrap.servers", value: place.brokers),
            KafkaProperty(name: "client.id", value: "kymo"),
            // Each message is stored once and in order, by as many brokers as the topic wants, while a producer lives.
            KafkaProperty(name: "enable.idempotence", value: "true"),
            // Nothing is given up before kymo gives it up.
            KafkaProperty(name: "message.timeout.ms", value: "0"),
            // As clients in Java do it, so that theirs and these messages of a key are together.
            KafkaProperty(name: "partitioner", value: "murmur2_random"),
            KafkaProperty(name: "compression.type", value: "zstd"),
            // The default since 2.0 only.
            KafkaProperty(name: "ssl.endpoint.identification.algorithm", value: "https"),
            KafkaProperty(name: "queue.buffering.max.messages", value: "\(2 * messages)"),
        ] + (file?.all ?? [])
    }

    /// The file's properties; nil without a file.
    private func fileProperties() throws(KafkaFault) -> KafkaProperties? {
        guard let properties else { return nil }
        let bytes: [UInt8]
        do throws(SecretFault) { bytes = try properties.bytes().0 } catch {
            throw KafkaFault(.unfit, error.message)
        }
        return try KafkaProperties(bytes, name: properties.path)
    }
}
