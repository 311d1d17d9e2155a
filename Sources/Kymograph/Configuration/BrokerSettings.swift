import KymographCore

/// Settings of sources that are brokers.
enum BrokerSettings {
    private typealias SourceSetting = Setting<PipelineSettings.Source>

    /// In the order of the reference.
    static let all: [LimitedSourceSetting] = (subscriptions + connection).map { setting in
        LimitedSourceSetting(setting: setting, needs: .broker) { "only \($0) is a broker" }
    }

    private static let subscriptions: [SourceSetting] = [
        Setting(
            key: "topics", form: "topic filter",
            about: "What to subscribe to, such as `ward/+/vitals`; in place of a `+`, `{device}` or `{patient}` stands "
                + "for a level that names one; mqtt only",
            elements: { $0.configuration.mqtt.topics.map(\.text) },
            read: { (texts, source) throws(SettingProblem) in
                source.configuration.mqtt.topics = try filters(texts)
            },
            shown: { $0.configuration.mqtt.topics.map(\.text).joined(separator: ", ") }),
        .choice(
            "qos", \.configuration.mqtt.quality, [("0", .atMostOnce), ("1", .atLeastOnce), ("2", .exactlyOnce)],
            "How surely messages come, at most: once or not at all, again until they are on disk, or so in two steps; "
                + "mqtt only"),
        .choice(
            "sharded", \.configuration.mqtt.isSharded, [("true", true), ("false", false)],
            "Whether shared subscriptions (`$share/group/…`) may be used, which lose the order of readings; mqtt only"),
        .count(
            "receiveMaximum", \.configuration.mqtt.receiveMaximum, 1...65_535,
            "Most messages that the broker may send before some are on disk; mqtt 5 only"),
    ]

    private static let connection: [SourceSetting] = [
        .choice(
            "mqttVersion", \.configuration.mqtt.version, [("5", .v5), ("3.1.1", .v311)],
            "Version of MQTT that the broker speaks"),
        .single(
            "clientId", "text",
            "Name of the session at the broker, of one running source alone; made of the host's and the source's name "
                + "by default; mqtt only",
            read: { (text, source) throws(SettingProblem) in source.configuration.mqtt.clientID = try word(text) },
            shown: { $0.configuration.mqtt.clientID ?? "" }),
        .single(
            "user", "text", "User at the broker; mqtt only",
            read: { (text, source) throws(SettingProblem) in source.configuration.mqtt.user = try word(text) },
            shown: { $0.configuration.mqtt.user ?? "" }),
        .text(
            "passwordFile", "file", \.configuration.mqtt.passwordFile,
            "File with the user's password, which others cannot read; mqtt only"),
        .duration(
            "keepAlive", \.configuration.mqtt.keepAlive, atLeast: 1_000_000_000,
            "Longest silence before the broker is asked for a sign of life; mqtt only"),
        .duration(
            "sessionExpiry", \.configuration.mqtt.sessionExpiry, atLeast: 1_000_000_000,
            "How long the broker keeps messages while kymo is away; mqtt 5 only"),
        .single(
            "statusTopic", "topic",
            "Topic with the retained message `online` while messages come, and `offline` otherwise; mqtt only",
            read: { (text, source) throws(SettingProblem) in source.configuration.mqtt.statusTopic = try topic(text) },
            shown: { $0.configuration.mqtt.statusTopic ?? "" }),
    ]

    private static func filters(_ texts: [String]) throws(SettingProblem) -> [TopicFilter] {
        var filters: [TopicFilter] = []
        for (index, text) in texts.enumerated() {
            do throws(SettingProblem) {
                filters.append(try TopicFilter(parsing: text))
            } catch {
                throw SettingProblem(message: error.message, advice: error.advice, element: index)
            }
        }
        return filters
    }

    /// A text that a packet can hold.
    private static func word(_ text: String) throws(SettingProblem) -> String {
        guard !text.isEmpty else { throw .empty("text") }
        guard text.utf8.count <= MQTTSettings.longestText, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw SettingProblem(message: "the text cannot be sent", advice: "write at most 65,535 bytes in one line")
        }
        return text
    }

    private static func topic(_ text: String) throws(SettingProblem) -> String {
        let text = try word(text)
        guard !text.contains(where: { "+#".contains($0) }), !text.hasPrefix("$") else {
            throw SettingProblem(
                message: "'\(text)' is no topic to publish to", advice: "write one without + and #, such as kymo/status"
            )
        }
        return text
    }
}
