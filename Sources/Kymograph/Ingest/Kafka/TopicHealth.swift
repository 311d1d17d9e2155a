/// Whether records come, and whether the group takes positions; each is told of when it changes.
struct TopicHealth {
    /// How long a consumer is kept that brokers refuse: secrets and certificates may have changed. And for how long
    /// positions are not taken, and brokers fail at a partition, before that is told.
    private static let (refusalLimit, commitLimit, partitionLimit) = (
        Duration.seconds(30), Duration.seconds(30), Duration.seconds(30)
    )

    /// What is wrong with one partition.
    private struct PartitionTrouble {
        var since: ContinuousClock.Instant
        var isTold = false
    }

    private let group: String
    private var partitions: [Int32: PartitionTrouble] = [:]
    /// Why no records come, as the operator knows it, and since when brokers refuse to give them.
    private var trouble: String?
    private var refusedSince: ContinuousClock.Instant?
    /// Since when no position was taken, and whether the operator knows.
    private var untakenSince: ContinuousClock.Instant?
    private var isToldOfPositions = false

    /// Of a topic that `group` reads.
    init(group: String) { self.group = group }

    /// Whether records come, and positions are taken.
    var isGood: Bool { trouble == nil && !isToldOfPositions && !partitions.values.contains(where: \.isTold) }

    /// Notes that a record of `partition` has come; whether that is news.
    mutating func reads(_ partition: Int32) -> Bool {
        refusedSince = nil
        return answers(partition)
    }

    /// Notes that brokers have answered about `partition`; whether that is news. They may refuse its records all the
    /// same.
    mutating func answers(_ partition: Int32) -> Bool {
        let wasTold = partitions.removeValue(forKey: partition)?.isTold ?? false
        guard refusedSince == nil else { return wasTold }
        defer { trouble = nil }
        return wasTold || trouble != nil
    }

    /// Notes that brokers have failed at `partition`. That is news when it lasts.
    mutating func fails(
        _ fault: KafkaFault, at partition: Int32, _ now: ContinuousClock.Instant
    ) -> KafkaNotice? {
        var trouble = partitions[partition] ?? PartitionTrouble(since: now)
        defer { partitions[partition] = trouble }
        guard !trouble.isTold, now - trouble.since >= Self.partitionLimit else { return nil }
        trouble.isTold = true
        return .note("partition \(partition) is not read: \(fault.message)")
    }

    /// Notes what brokers and connections say: while one broker gives records, the failure of another is no trouble.
    mutating func fails(_ fault: KafkaFault, _ now: ContinuousClock.Instant) -> KafkaNotice? {
        switch fault.kind {
        case .insecure, .refused, .unfit: refusedSince = refusedSince ?? now
        case .unreachable where fault.isOfAllBrokers: break
        case .unreachable, .unable, .tooLarge, .content, .nowhere, .unreadable, .ended: return nil
        }
        guard trouble != fault.message else { return nil }
        trouble = fault.message
        return .disconnected(fault.message)
    }

    /// Notes that the group has taken a position, or not. A short refusal is no news: groups move between brokers.
    mutating func commits(_ fault: KafkaFault?, _ now: ContinuousClock.Instant) -> KafkaNotice? {
        guard let fault else {
            defer { (untakenSince, isToldOfPositions) = (nil, false) }
            return isToldOfPositions ? .note("the group \(group) takes positions again") : nil
        }
        let since = untakenSince ?? now
        untakenSince = since
        guard !isToldOfPositions, fault.isLasting || now - since >= Self.commitLimit else { return nil }
        isToldOfPositions = true
        return .disconnected(
            "the group \(group) takes no positions, so that what is read now will be read again: \(fault.message)")
    }

    /// Why another consumer is to be opened; nil while this one may do.
    func refusal(_ now: ContinuousClock.Instant) -> KafkaFault? {
        guard let refusedSince, now - refusedSince > Self.refusalLimit else { return nil }
        return KafkaFault(.refused, trouble ?? "brokers refuse to give records")
    }
}
