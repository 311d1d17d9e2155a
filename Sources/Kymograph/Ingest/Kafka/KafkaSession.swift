import KymographCore

/// Reads the partitions of a topic as frames for a lane, and tells the group what the lane has made durable; all of it
/// but the thread and the socket. Belongs to one thread.
///
/// Each partition is read by this session alone: the group keeps positions, and deals out nothing. So the windows of a
/// device stay in one store (docs/decisions/0045).
final class KafkaSession {
    /// How often brokers are asked where to begin.
    static let attempts = 5
    /// Longest wait for an answer of brokers, in milliseconds: the lane may end meanwhile.
    private static let patience: Int32 = 2_000
    /// How often the group is told positions, and brokers are asked again what they did not answer, and what partitions
    /// there are.
    private static let (commitInterval, questionInterval, growthInterval) = (
        Duration.seconds(1), Duration.seconds(5), Duration.seconds(60)
    )
    /// How often the group is told positions that it knows: brokers forget those of a group that is silent for days
    /// (`offsets.retention.minutes`).
    private static let reminderInterval = Duration.seconds(3_600)

    private let reading: KafkaReading
    private let topic: String
    private let consumer: any RecordConsumer
    private let frames: FrameQueue
    private var readers: [Int32: PartitionReader]
    private var questions = PartitionQuestions()
    private var health: TopicHealth
    private var lastCommit, lastQuestion, lastGrowth, lastReminder: ContinuousClock.Instant
    private var notices: [KafkaNotice] = []
    /// What brokers said while nobody answered.
    private var heard: KafkaFault?
    /// Records that no broker has any more, and that nobody was told of.
    private var missed: UInt64 = 0
    /// Whether the consumer may have more.
    private(set) var hasMore = false
    /// Positions that the group was told, and has not answered.
    private var unanswered = 0

    /// Reads `topic` by `consumer` into `frames`. Partitions that were read before, `readers`, go on where all is
    /// durable.
    init(
        _ reading: KafkaReading, topic: String, into frames: FrameQueue, by consumer: any RecordConsumer,
        from readers: [Int32: PartitionReader] = [:], at now: ContinuousClock.Instant = .now
    ) {
        (self.reading, self.topic, self.frames, self.consumer) = (reading, topic, frames, consumer)
        self.readers = readers.mapValues { reader in
            var reader = reader
            reader.rewind()
            return reader
        }
        health = TopicHealth(group: reading.group)
        (lastCommit, lastQuestion, lastGrowth, lastReminder) = (now, now, now, now)
    }

    /// Partitions that are read, by number.
    var partitions: [Int32: PartitionReader] { readers }

    // MARK: Beginning

    /// Asks where to begin, and begins. Waits for answers, for two seconds each.
    ///
    /// - Throws: ``KafkaFault`` with why it cannot be; it may be tried again.
    func begin(at now: ContinuousClock.Instant = .now) throws(KafkaFault) {
        do throws(KafkaFault) {
            let wanted = try wanted(of: try consumer.partitions(milliseconds: Self.patience))
            try ask(of: wanted)
            let fault = examine(now)
            if readers.isEmpty, let fault { throw fault }
            try readAll()
            let text = wanted.count == 1 ? "1 partition" : "\(wanted.count) partitions"
            notices.append(.connected("reading \(text) of \(topic)"))
            for number in questions.numbers {
                notices.append(
                    .note("partition \(number) is not read yet, and asked for again: \(fault?.message ?? "no answer")"))
            }
        } catch {
            throw reason(error)
        }
    }

    private func wanted(of count: Int) throws(KafkaFault) -> [Int32] {
        let all = Int32(clamping: count)
        guard let stated = reading.partitions?.numbers else { return Array(0..<all) }
        guard let absent = stated.first(where: { $0 >= all }) else { return stated }
        throw KafkaFault(.unfit, "the topic has \(count) partitions, from 0 on, and partitions names \(absent)")
    }

    /// Asks for the group's positions in those of `numbers` that are not known.
    private func ask(of numbers: [Int32]) throws(KafkaFault) {
        let strangers = numbers.filter { readers[$0] == nil && !questions.has($0) }
        guard !strangers.isEmpty else { return }
        let known = try consumer.positions(in: strangers, milliseconds: Self.patience)
        // What a group that has read before has not seen is to be read, and not passed over.
        let isNew = known.isEmpty && readers.isEmpty && questions.isEmpty
        for number in strangers {
            questions.add(
                number, known: known.first { $0.partition == number }?.offset,
                beginning: isNew ? reading.beginning : .earliest)
        }
    }

    /// Asks brokers which records they have of partitions that are in question; the last failure.
    private func examine(_ now: ContinuousClock.Instant) -> KafkaFault? {
        lastQuestion = now
        var (failure, failures): (KafkaFault?, Int) = (nil, 0)
        // The lane is not heard meanwhile: brokers that do not answer are not all waited for.
        for number in questions.numbers where failures < 3 {
            do throws(KafkaFault) {
                settle(number, try consumer.offsets(of: number, milliseconds: Self.patience), now)
            } catch {
                (failure, failures) = (error, failures + 1)
            }
        }
        return failure
    }

    /// Decides on a partition that is in question, now that it has the records `offsets`.
    private func settle(_ number: Int32, _ offsets: Range<Int64>, _ now: ContinuousClock.Instant) {
        guard let question = questions[number] else { return }
        let former = readers[number]
        var reader =
            former ?? PartitionReader(number, known: question.known, offsets: offsets, beginning: question.beginning)
        let before = reader.next
        switch reader.compare(with: offsets) {
        case .goesOn:
            if former != nil, reader.isDoubtedAgain() {
                halt(&reader, "its brokers have the record \(before), and do not give it")
            }
        case .hasMissed(let count):
            missed += UInt64(clamping: count)
            notices.append(
                .note(
                    "partition \(number): records from \(before) up to \(reader.next) are no longer there, \(count) at "
                        + "most: the topic keeps them for less time than kymo was away"))
        case .isShort:
            guard questions.hasWaited(number, now) else { return }
            halt(
                &reader,
                "it ends at \(offsets.upperBound), and was read up to \(before): its brokers have lost records, or the "
                    + "topic was made anew")
        }
        readers[number] = reader
        questions.remove(number)
    }

    private func halt(_ reader: inout PartitionReader, _ why: String) {
        reader.halt()
        notices.append(
            .note(
                "partition \(reader.number) is read no more: \(why); set the position of the group \(reading.group), "
                    + "and start kymo again"))
    }

    /// That nobody answered in time says less than what was heard meanwhile, and most that of one broker.
    private func reason(_ fault: KafkaFault) -> KafkaFault {
        let faults = consumer.look().faults
        // It is said once, and asked for several times.
        heard = faults.last { $0.kind != .unreachable } ?? faults.last { !$0.isOfAllBrokers } ?? heard
        return heard ?? fault
    }

    private func readAll() throws(KafkaFault) {
        hasMore = true
        try consumer.read(
            from: readers.values.filter { !$0.isHalted && !questions.has($0.number) }.sorted { $0.number < $1.number }
                .map { RecordPosition(partition: $0.number, offset: $0.next) })
    }

    // MARK: Records

    /// Takes records while the lane has room for them, and hears what brokers say.
    ///
    /// - Throws: ``KafkaFault`` when the consumer must be opened anew.
    func fill(at now: ContinuousClock.Instant = .now) throws(KafkaFault) {
        while !frames.isFull {
            guard let event = consumer.next() else {
                hasMore = false
                break
            }
            switch event {
            case .record(let position, let value): take(position, value)
            case .fault(let partition, let fault): try hear(fault, of: partition, now)
            }
        }
        try listen(now)
    }

    private func take(_ position: RecordPosition, _ value: [UInt8]?) {
        guard !questions.has(position.partition), readers[position.partition]?.take(position.offset) ?? false else {
            return
        }
        frames.append(position, value)
        if health.reads() { notices.append(.connected("reading again")) }
    }

    private func hear(
        _ fault: KafkaFault, of partition: Int32, _ now: ContinuousClock.Instant
    ) throws(KafkaFault) {
        guard var reader = readers[partition], !reader.isHalted else { return }
        switch fault.kind {
        case .nowhere:
            guard !questions.has(partition) else { return }
            questions.add(partition, known: nil, beginning: .earliest)
            _ = examine(now)
            try readAll()
        case .unreadable, .tooLarge:
            halt(&reader, "what it has at \(reader.next), or behind that, cannot be read: \(fault.message)")
            readers[partition] = reader
            try readAll()
        case .unreachable, .insecure, .refused, .unfit, .content, .ended, .unable: hear(fault, now)
        }
    }

    /// Notes that all of a partition before `position` is durable.
    func finish(_ position: RecordPosition) { readers[position.partition]?.finish(before: position.offset) }

    // MARK: Brokers

    private func listen(_ now: ContinuousClock.Instant) throws(KafkaFault) {
        let news = consumer.look()
        unanswered -= news.committed.count
        for (position, fault) in news.committed {
            if fault != nil { readers[position.partition]?.refused(position.offset) }
            if let notice = health.commits(fault, now) { notices.append(notice) }
        }
        for fault in news.faults { hear(fault, now) }
        if let end = consumer.end { throw end }
    }

    private func hear(_ fault: KafkaFault, _ now: ContinuousClock.Instant) {
        if let notice = health.fails(fault, now) { notices.append(notice) }
    }

    /// Does what is due now and then.
    ///
    /// - Throws: ``KafkaFault`` when the consumer must be opened anew.
    func tend(_ now: ContinuousClock.Instant) throws(KafkaFault) {
        if let fault = health.refusal(now) { throw fault }
        if now - lastReminder >= Self.reminderInterval {
            lastReminder = now
            for number in readers.keys { readers[number]?.tellAgain() }
        }
        if now - lastCommit >= Self.commitInterval {
            lastCommit = now
            commit(now)
        }
        // Nothing is read anew before an answer to commits: that of one broker would be waited for by all partitions.
        guard unanswered <= 0 else { return }
        if !questions.isEmpty, now - lastQuestion >= Self.questionInterval {
            let before = questions.count
            _ = examine(now)
            if questions.count < before { try readAll() }
        }
        if reading.partitions == nil, now - lastGrowth >= Self.growthInterval {
            lastGrowth = now
            try grow(now)
        }
    }

    /// Tells the group what is durable, without waiting.
    private func commit(_ now: ContinuousClock.Instant) {
        let positions = readers.keys.sorted().compactMap { readers[$0]?.takeUntold() }
        guard !positions.isEmpty else { return }
        do throws(KafkaFault) {
            try consumer.commit(positions)
            unanswered += positions.count
        } catch {
            for position in positions { readers[position.partition]?.refused(position.offset) }
            if let notice = health.commits(error, now) { notices.append(notice) }
        }
    }

    /// Begins to read partitions that the topic has got. They are read from their first record: nobody has seen it.
    private func grow(_ now: ContinuousClock.Instant) throws(KafkaFault) {
        // Brokers that do not answer now are asked again.
        guard let count = try? consumer.partitions(milliseconds: Self.patience),
            case let new = (0..<Int32(clamping: count)).filter({ readers[$0] == nil && !questions.has($0) }),
            !new.isEmpty, (try? ask(of: new)) != nil
        else { return }
        _ = examine(now)
        notices.append(.note("the topic has \(count) partitions now, and all are read"))
        try readAll()
    }

    /// Reads no more, and tells the group what is durable; ``hear(at:)`` tells whether it has answered.
    func end(at now: ContinuousClock.Instant = .now) {
        try? consumer.read(from: [])
        commit(now)
    }

    /// Looks what has come behind ``end(at:)``; whether nothing more can come.
    func hear(at now: ContinuousClock.Instant = .now) -> Bool {
        while consumer.next() != nil {}
        do throws(KafkaFault) { try listen(now) } catch { return true }
        return unanswered <= 0
    }

    // MARK: For others

    /// What the operator should know since the last call, and how many records could not be read.
    func takeNews() -> KafkaNews {
        defer { (notices, missed) = ([], 0) }
        return KafkaNews(notices: notices, missed: missed)
    }

    /// How far it is.
    var progress: KafkaProgress {
        let open = readers.values.filter { !$0.isHalted }
        let behind = open.reduce(0) { sum, reader in
            sum + max(0, (consumer.knownEnd(of: reader.number) ?? reader.next) - reader.next)
        }
        return KafkaProgress(
            behind: Int(clamping: behind), halted: readers.count - open.count, isUp: health.isGood && questions.isEmpty)
    }
}
