import KymographCore

/// Settings of sources that are topics.
enum TopicSettings {
    /// In the order of the reference.
    static let all: [LimitedSourceSetting] = rows.map { setting in
        LimitedSourceSetting(setting: setting, needs: .records) { "only \($0) is a topic" }
    }

    private static let rows: [Setting<PipelineSettings.Source>] = [
        .single(
            "group", "name",
            "Group under which brokers keep the positions up to which readings are on disk; kafka only",
            read: { (text, source) throws(SettingProblem) in source.configuration.kafka.group = try group(text) },
            shown: { $0.configuration.kafka.group }),
        .single(
            "partitions", "numbers and ranges",
            "Partitions that are read, such as `0-31`; left out, all, and those that the topic gets; kafka only",
            read: { (text, source) throws(SettingProblem) in
                source.configuration.kafka.partitions = try PartitionSet(parsing: text)
            },
            shown: { $0.configuration.kafka.partitions?.text ?? "" }),
        .choice(
            "startAt", \.configuration.kafka.beginning, [("earliest", .earliest), ("latest", .latest)],
            "Where a partition is read from of which neither the group nor the store has a position: at the first "
                + "record that it has, or behind the last one; kafka only"),
        .choice(
            "headers", \.configuration.kafka.headers, [("ignored", nil), ("text", .text), ("amqp", .amqp)],
            "Whether headers of records become properties, which templates for IoT Hubs read, and how their values are "
                + "written; kafka only"),
        .text(
            "propertiesFile", "file", \.configuration.kafka.propertiesFile,
            "Properties of librdkafka, `name=value` in each line: `security.protocol`, `sasl.username` and the like; "
                + "kafka only"),
    ]

    /// A name that each broker takes.
    private static func group(_ text: String) throws(SettingProblem) -> String {
        guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw SettingProblem(
                message: "'\(text)' is no name of a group",
                advice: "write at most 255 characters of ASCII, without blanks")
        }
        return text
    }
}
