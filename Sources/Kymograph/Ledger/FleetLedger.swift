package import KymographCore

/// The ledgers of several instances, added up.
package struct FleetLedger: Encodable, Sendable {
    /// What is taken of a ledger, as `kymo ledger --format json` has written it.
    package struct Instance: Decodable, Sendable, Equatable {
        /// The balance.
        package var balance: LedgerBalance
        /// Topics that it reads; nil as earlier versions wrote it.
        package var topics: [LedgerReport.Topic]?
        /// What is open or missing.
        package var missing: [String]
    }

    /// Why there is no sum.
    package enum Fault: Error {
        /// This ledger is there twice.
        case twice(String)
        /// This ledger names a partition that no topic has.
        case partition(String)
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
    ///
    /// - Throws: ``Fault`` where one is there twice, or is none.
    package init(_ ledgers: [(name: String, ledger: Instance)]) throws(Fault) {
        var all: [(topic: LedgerReport.Topic, instance: String)] = []
        for (place, (name, ledger)) in ledgers.enumerated() {
            // Two instances have the same ledger only while they have nothing.
            let isTwice = ledgers[..<place].contains { $0.name == name || $0.ledger == ledger }
            guard !isTwice || ledger.balance == LedgerBalance() else { throw .twice(name) }
            let numbers = (ledger.topics ?? []).flatMap(\.partitions).map(\.partition)
            guard numbers.allSatisfy(TopicPartition.numbers.contains) else { throw .partition(name) }
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
            if expected < one.partition { noteGap(expected..<one.partition, topic) }
            if expected > one.partition {
                problems.append("partition \(one.partition) of \(topic.name): \(one.instance) has it, too")
            }
            expected = one.partition + 1
        }
        topics.append(Topic(cluster: topic.cluster, group: topic.group, topic: topic.topic, partitions: partitions))
    }

    private mutating func noteGap(_ numbers: Range<Int32>, _ topic: LedgerReport.Topic) {
        let last = numbers.upperBound - 1
        let text = numbers.count == 1 ? "partition \(last)" : "partitions \(numbers.lowerBound) to \(last)"
        problems.append("\(text) of \(topic.name): no instance has \(numbers.count == 1 ? "it" : "them")")
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
        if problems.isEmpty {
            // More than that, no ledger can know.
            lines += topics.map {
                "partitions 0 to \($0.partitions.last?.partition ?? 0) of \($0.topic) are in one instance each"
            }
        }
        if !problems.isEmpty { lines.append("partitions that are not in one instance:") }
        lines += problems.map { "  \($0)" }
        return lines.joined(separator: "\n") + "\n"
    }
}
