import KymographCore

/// A property of librdkafka.
struct KafkaProperty: Hashable, Sendable {
    var name: String
    var value: String
    /// Where it is written, for messages: `FILE:LINE: `, or empty for one of kymo's.
    var place = ""
}

/// A file of properties of librdkafka, such as other clients of Kafka have: `name=value` in each line, `#` before a
/// remark.
struct KafkaProperties {
    /// Who has them.
    enum Role {
        case producer, consumer
    }

    /// What kymo sets itself, or what would have it load libraries or run commands.
    private static let refused: Set<IdentifierText> = [
        "bootstrap.servers", "metadata.broker.list", "enable.idempotence", "acks", "request.required.acks",
        "message.timeout.ms", "delivery.timeout.ms", "transactional.id", "enable.gapless.guarantee",
        "max.in.flight.requests.per.connection", "max.in.flight", "plugin.library.paths", "ssl.engine.location",
        "ssl.engine.id", "ssl.providers", "sasl.kerberos.kinit.cmd", "delivery.report.only.error", "partitioner",
        "internal.termination.signal",
    ]

    /// What kymo sets itself besides, of a consumer: a producer with the same file passes over it.
    private static let refusedToConsumers: Set<IdentifierText> = [
        "group.id", "group.instance.id", "enable.auto.commit", "auto.commit.enable", "enable.auto.offset.store",
        "auto.offset.reset", "enable.partition.eof", "isolation.level", "allow.auto.create.topics",
    ]

    /// In their order.
    let all: [KafkaProperty]

    /// Reads the file `name` of these `bytes`, for a producer or a consumer.
    ///
    /// - Throws: ``KafkaFault`` with the line, without what is written there.
    init(_ bytes: [UInt8], name: String, for role: Role = .producer) throws(KafkaFault) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw KafkaFault(.unfit, "\(name) is no UTF-8")
        }
        var found: [KafkaProperty] = []
        for (number, whole) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .enumerated()
        {
            let line = KafkaProperties.trimmed(whole)
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            let place = "\(name):\(number + 1): "
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw KafkaFault(.unfit, "\(place)there is no '='; write name=value") }
            let property = KafkaProperty(
                name: String(KafkaProperties.trimmed(parts[0])), value: String(KafkaProperties.trimmed(parts[1])),
                place: place)
            // Of properties of a topic, librdkafka takes both names.
            let name = property.name.hasPrefix("topic.") ? String(property.name.dropFirst(6)) : property.name
            guard !KafkaProperties.isRefused(IdentifierText(name), to: role) else {
                throw KafkaFault(
                    .unfit, "\(place)kymo decides on \(property.name), or would run other programs for it; remove it")
            }
            guard name != Self.reloginInterval || property.value == "0" else {
                throw KafkaFault(.unfit, "\(place)kymo runs no kinit; have another program renew tickets, and write 0")
            }
            guard !name.hasPrefix("sasl.kerberos.") || KafkaProperties.isPlain(property.value) else {
                throw KafkaFault(.unfit, "\(place)\(name) has characters that a command line would take otherwise")
            }
            found.append(property)
        }
        all = found
    }

    private static func isRefused(_ name: IdentifierText, to role: Role) -> Bool {
        refused.contains(name) || role == .consumer && refusedToConsumers.contains(name)
    }

    /// Whether a command line takes `value` as it is: librdkafka has `kinit` run with it.
    private static func isPlain(_ value: String) -> Bool {
        value.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "._/@:-".utf8.contains(byte)
            }
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" }
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }

    /// How often librdkafka has `kinit` run: 0 for never.
    static let reloginInterval = "sasl.kerberos.min.time.before.relogin"

    /// Whether brokers are reached by Kerberos, of which there must be tickets: kymo runs no program.
    var usesKerberos: Bool {
        let mechanisms = all.filter { ["sasl.mechanism", "sasl.mechanisms"].contains($0.name) }
        guard let mechanism = mechanisms.last else {
            // It is librdkafka's default.
            return all.contains { $0.name == "security.protocol" && $0.value.lowercased().hasPrefix("sasl_") }
        }
        return mechanism.value.uppercased() == "GSSAPI"
    }

    /// Whether it says how brokers are to be reached; without that, it is in plain text.
    var statesSecurity: Bool { all.contains { $0.name == "security.protocol" } }
}
