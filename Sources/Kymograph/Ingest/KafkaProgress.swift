/// How far the reading of a topic is.
package struct KafkaProgress: Hashable, Sendable {
    /// Records that the topic has, as its brokers last said, and that were not read yet.
    package var behind = 0
    /// Partitions that are read no more, since what comes may not be what was to come.
    package var halted = 0
    /// Whether records can come, of all partitions, and the group takes positions.
    package var isUp = false

    /// Nothing is known yet.
    package init() {}

    /// Such a progress.
    init(behind: Int, halted: Int, isUp: Bool) { (self.behind, self.halted, self.isUp) = (behind, halted, isUp) }

    /// With that of another topic.
    func adding(_ other: KafkaProgress) -> KafkaProgress {
        KafkaProgress(behind: behind + other.behind, halted: halted + other.halted, isUp: isUp && other.isUp)
    }
}
