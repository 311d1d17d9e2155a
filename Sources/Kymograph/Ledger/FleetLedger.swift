package import KymographCore

/// The ledgers of several instances, added up.
package struct FleetLedger: Encodable, Sendable {
    /// What is taken of a ledger, as `kymo ledger --format json` has written it.
    package struct Instance: Decodable, Sendable {
        /// The balance.
        package var balance: LedgerBalance
        /// Topics that it reads; nil as earlier versions wrote it.
        package var topics: [LedgerReport.Topic]?
        /// What is open or missing.
        package var missing: [String]
    }

    /// A partition, and who has it.
    package struct Partition: Encodable, Sendable {
        /// Its number.
        package var partition: Int32
        /// The record to be read next.
        package var position: Int64
        /// Who has it: the name of a ledger.
        package var instance: String
    }

    /// A topic, and who has its partitions.
    package struct Topic: Encodable, Sendable {
        /// What brokers call their cluster.
        package var cluster: IdentifierText
        /// The group.
        package var group: IdentifierText
        /// The topic.
        package var topic: IdentifierText
        /// Its partitions, by number.
        package var partitions: [Partition]
    }

    /// Names of the ledgers.
    package private(set) var instances: [String] = []
    /// The sums.
    package private(set) var balance = LedgerBalance()
    /// Topics.
    package private(set) var topics: [Topic] = []
    /// What is open or missing in each.
    package private(set) var missing: [String] = []
    /// Partitions that several have, or none.
    package private(set) var problems: [String] = []

    /// Adds up ledgers, each with its name.
    package init(_ ledgers: [(name: String, ledger: Instance)]) {
        var all: [(topic: LedgerReport.Topic, instance: String)] = []
        for (name, ledger) in ledgers {
            instances.append(name)
            balance.add(ledger.balance)
            missing += ledger.missing.map { "\(name): \($0)" }
            for topic in ledger.topics ?? [] { all.append((topic, name)) }
        }
        while let first = all.first?.topic {
            add(first, all.filter { $0.topic.isSame(as: first) })
            all.removeAll { $0.topic.isSame(as: first) }
        }
        topics.sort { ($0.topic, $0.group, $0.cluster) < ($1.topic, $1.group, $1.cluster) }
    }

    private mutating func add(_ topic: LedgerReport.Topic, _ all: [(topic: LedgerReport.Topic, instance: String)]) {
        var partitions: [Partition] = []
        for (part, instance) in all {
            for one in part.partitions {
                partitions.append(Partition(partition: one.partition, position: one.position, instance: instance))
                guard one.isContested else { continue }
                problems.append(
                    "partition \(one.partition) of \(topic.name): \(instance) says that others tell positions")
            }
        }
        partitions.sort { ($0.partition, $0.instance) < ($1.partition, $1.instance) }
        var expected: Int32 = 0
        for one in partitions {
            while expected < one.partition {
                problems.append("partition \(expected) of \(topic.name): no instance has it")
                expected += 1
            }
            if expected > one.partition {
                problems.append("partition \(one.partition) of \(topic.name): \(one.instance) has it, too")
            }
            expected = one.partition + 1
        }
        topics.append(Topic(cluster: topic.cluster, group: topic.group, topic: topic.topic, partitions: partitions))
    }

    /// As lines of text.
    package var text: String {
        var lines = ["\(instances.count) \(instances.count == 1 ? "instance" : "instances"): \(balance.text)"]
        if balance.kernelDropped > 0 { lines.append("  kernel-dropped \(balance.kernelDropped)") }
        for topic in topics {
            lines.append("topic \(topic.topic) for the group \(topic.group):")
            lines += topic.partitions.map { "  partition \($0.partition) up to \($0.position): \($0.instance)" }
        }
        lines += missing
        if !topics.isEmpty, problems.isEmpty { lines.append("each partition is in one instance") }
        if !problems.isEmpty { lines.append("partitions that are not in one instance:") }
        lines += problems.map { "  \($0)" }
        return lines.joined(separator: "\n") + "\n"
    }
}
