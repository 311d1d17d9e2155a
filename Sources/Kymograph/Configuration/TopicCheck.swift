import KymographCore
import KymographTemplates

extension PipelineSettings {
    /// Whether a source reads `partition`, of whatever cluster.
    func reads(_ partition: TopicPartition) -> Bool {
        sources.contains { source in
            guard let topic = source.configuration.address as? KafkaSource else { return false }
            let reading = source.configuration.kafka
            return IdentifierText(topic.place.topic) == partition.topic.topic
                && IdentifierText(reading.group) == partition.topic.group && reading.reads(partition.number)
        }
    }
}

/// Checks of sources that are topics.
enum TopicCheck {
    /// Notes that positions would be told of what is kept nowhere.
    static func check(_ source: PipelineSettings.Source, keepsNothing: Bool, log: inout ConfigurationLog) {
        guard source.configuration.capabilities.contains(.records), keepsNothing else { return }
        log.add(
            .error, source.addressOrigin, "the group would be told that it has what is kept nowhere",
            advice: "name a directory with data (--data)")
    }

    /// Notes sources that read the same partitions for one group, of which each would tell positions that the other has
    /// not reached.
    static func checkGroups(_ sources: [PipelineSettings.Source], log: inout ConfigurationLog) {
        let topics = sources.compactMap { source in
            (source.configuration.address as? KafkaSource).map { (source, $0.place, source.configuration.kafka) }
        }
        for (number, (source, place, reading)) in topics.enumerated() {
            let isTwice = topics[..<number].contains { _, other, theirs in
                place.isSame(as: other) && reading.overlaps(theirs)
            }
            guard isTwice else { continue }
            log.add(
                .error, source.addressOrigin,
                "two sources read the same partitions of \(place.topic) for the group \(reading.group)",
                advice: "give each a group of its own, or other partitions")
        }
    }
}
