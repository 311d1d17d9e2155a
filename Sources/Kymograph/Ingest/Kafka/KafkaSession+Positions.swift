import KymographCore

/// Who is told how far a topic was read: the store first, and the group when the store has it. So the group is never
/// ahead of the store, unless somebody else has set its position.
extension KafkaSession {
    /// The topic, as the store knows it; brokers have answered by then.
    var name: TopicName {
        TopicName(
            cluster: consumer.cluster, group: IdentifierText(reading.group), topic: IdentifierText(topic))
    }

    /// Tells the store what is durable, and then the group. Does not wait.
    func keep(_ now: ContinuousClock.Instant) {
        noteDurable()
        tellKept(now)
    }

    /// Tells the store what is durable.
    func noteDurable() {
        var positions: [Int32: TopicPosition] = [:]
        for number in places.readers.keys { positions[number] = places.readers[number]?.takeUnkept() }
        if !positions.isEmpty { unkept = keeper.keep(positions, of: name) }
    }

    /// Tells the group what the store has, if it has all that it was told.
    func tellKept(_ now: ContinuousClock.Instant) {
        if let number = unkept, !keeper.isKept(number) { return }
        unkept = nil
        let positions = places.readers.keys.sorted().compactMap { places.readers[$0]?.takeUntold() }
        guard !positions.isEmpty else { return }
        do throws(KafkaFault) {
            try consumer.commit(positions)
            unanswered += positions.count
        } catch {
            for position in positions {
                places.readers[position.partition]?.telling.answer(position.offset, isTaken: false)
            }
            if let notice = health.commits(error, now) { notices.append(notice) }
        }
    }

    /// Notes what became of positions that the group was told.
    func answer(_ news: ConsumerNews) {
        unanswered -= news.committed.count
        for (position, fault) in news.committed {
            places.readers[position.partition]?.telling.answer(position.offset, isTaken: fault == nil)
        }
    }

    /// Notes which of the `count` partitions are not among those that are `wanted`, and were read before: others tell
    /// positions of them from here on.
    func leave(_ count: Int, _ wanted: [Int32]) {
        var left: [Int32: TopicPosition] = [:]
        let own = Set(wanted)
        for (number, position) in keeper.positions(of: name)
        where number < count && !own.contains(number) && position.telling != .left {
            left[number] = position
            left[number]?.telling = .left
        }
        if !left.isEmpty { _ = keeper.keep(left, of: name) }
    }

    /// Tells that what the store knows of another cluster says nothing of this one.
    func noteOtherCluster() {
        notices.append(
            .note(
                "the store has positions of this topic and group on another cluster, which say nothing of this one "
                    + "(\(name.cluster)): it is read as a new one"))
    }

    /// Asks the group whether it has what it was told. Where it has not, another client tells positions: it would then
    /// be of no use, and a trap for the other, to tell one's own.
    func lookForOthers(_ now: ContinuousClock.Instant, milliseconds: Int32) {
        let numbers = places.readers.values.filter { !$0.isHalted }.map(\.number).sorted()
        // Brokers that do not answer now are asked again.
        guard !numbers.isEmpty, let found = try? consumer.positions(in: numbers, milliseconds: milliseconds) else {
            return
        }
        var (foreign, released): ([RecordPosition], [Int32]) = ([], [])
        for number in numbers {
            let position = found.first { $0.partition == number }
            switch places.readers[number]?.telling.compare(with: position?.offset, now) {
            case .foreign: foreign.append(position ?? RecordPosition(partition: number, offset: -1))
            case .released: released.append(number)
            case .known, nil: break
            }
        }
        if let first = foreign.first { note(foreign.map(\.partition), first) }
        if !released.isEmpty {
            notices.append(
                .note("nobody else tells positions of \(Self.list(released)) any more: they are told again"))
        }
    }

    private func note(_ numbers: [Int32], _ first: RecordPosition) {
        let own = places.readers[first.partition]?.telling.least ?? 0
        notices.append(
            .note(
                "another client tells positions of \(Self.list(numbers)) under the group \(reading.group): in "
                    + "\(first.partition) it has \(first.offset), and was told \(own); reading goes on, and no "
                    + "positions are told; give each instance a group or partitions of its own, and set positions only "
                    + "while kymo is ended"))
    }

    private static func list(_ numbers: [Int32]) -> String {
        (numbers.count == 1 ? "partition " : "partitions ") + numbers.map { "\($0)" }.joined(separator: ", ")
    }
}
