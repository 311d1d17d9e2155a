import KymographCore

/// Reads the partitions of a topic as frames for a lane, and tells the group what the lane has made durable; all of it
/// but the thread and the socket. Belongs to one thread.
///
/// Each partition is read by this session alone: the group keeps positions, and deals out nothing. So the windows of a
/// device stay in one store (docs/decisions/0045).
final class KafkaSession {
    /// How often brokers are asked where to begin.
    static let attempts = 5
    /// Longest wait for an answer of brokers, in milliseconds: the lane may end meanwhile; and about a partition, where
    /// others are read, and wait.
    private static let (patience, shortPatience): (Int32, Int32) = (2_000, 300)
    /// How often the group is told positions, and brokers are asked about a partition at most, about one that gives
    /// nothing, and what partitions there are.
    private static let (commitInterval, questionInterval, quietInterval, growthInterval) = (
        Duration.seconds(1), Duration.seconds(1), Duration.seconds(10), Duration.seconds(60)
    )
    /// How often the group is asked whether it has what it was told.
    private static let foreignInterval = Duration.seconds(60)
    /// How often the group is told positions that it knows: brokers forget those of a group that is silent for days
    /// (`offsets.retention.minutes`).
    private static let reminderInterval = Duration.seconds(3_600)

    let reading: KafkaReading
    let topic: String
    let consumer: any RecordConsumer
    private let frames: FrameQueue
    /// What outlasts the process.
    let keeper: any PositionKeeper
    /// Where it is.
    var places: KafkaPlaces
    private var quiet = QuietPartitions()
    var health: TopicHealth
    private var lastCommit, lastQuestion, lastQuiet, lastGrowth, lastReminder, lastForeign: ContinuousClock.Instant
    /// Whether what is read has changed, and the consumer is to be told.
    private var wantsReading = false
    var notices: [KafkaNotice] = []
    /// What brokers said while nobody answered.
    private var heard: KafkaFault?
    /// Records that no broker has any more, and that nobody was told of.
    private var missed: UInt64 = 0
    /// Whether the consumer may have more.
    private(set) var hasMore = false
    /// What the store was told last; nil when that is durable, and the group was told.
    var unkept: Int?
    /// Positions that the group was told, and has not answered.
    var unanswered = 0

    /// Reads `topic` by `consumer` into `frames`. Goes on in the partitions of `places`, where all is durable, and has
    /// `keeper` keep how far that is.
    init(
        _ reading: KafkaReading, topic: String, into frames: FrameQueue, by consumer: any RecordConsumer,
        from places: KafkaPlaces = KafkaPlaces(), keeping keeper: any PositionKeeper = NoPositions(),
        at now: ContinuousClock.Instant = .now
    ) {
        (self.reading, self.topic, self.frames, self.consumer) = (reading, topic, frames, consumer)
        (self.places, self.keeper) = (places, keeper)
        self.places.rewind()
        health = TopicHealth(group: reading.group)
        (lastCommit, lastQuestion, lastQuiet, lastGrowth, lastReminder) = (now, now, now, now, now)
        lastForeign = now
    }

    // MARK: Beginning

    /// Asks where to begin, and begins. Waits for answers, for two seconds each.
    ///
    /// - Throws: ``KafkaFault`` with why it cannot be; it may be tried again.
    func begin(at now: ContinuousClock.Instant = .now) throws(KafkaFault) {
        do throws(KafkaFault) {
            let wanted = try wanted(of: try consumer.partitions(milliseconds: Self.patience))
            let isNew = places.readers.isEmpty
            try ask(of: wanted)
            let fault = examineAll(now)
            if places.readers.isEmpty, let fault { throw fault }
            if isNew, reading.beginning == .latest { try holdBeginning(now) }
            try readAll()
            let text = CountText.of(wanted.count, "partition")
            notices.append(.connected("reading \(text) of \(topic)"))
            tellQuestions(fault)
        } catch {
            throw reason(error)
        }
    }

    private func tellQuestions(_ fault: KafkaFault?) {
        for number in places.questions.numbers {
            notices.append(
                .note("partition \(number) is not read yet, and asked for again: \(fault?.message ?? "no answer")"))
        }
    }

    /// Has the group take where it begins, before anything comes behind that: the next start would begin later.
    private func holdBeginning(_ now: ContinuousClock.Instant) throws(KafkaFault) {
        keep(now)
        var last: KafkaFault?
        for _ in 0..<Self.patience / 10 where unanswered > 0 || unkept != nil {
            let news = consumer.look()
            answer(news)
            last = news.committed.compactMap(\.fault).last ?? last
            if unkept != nil { tellKept(now) }
            if unanswered > 0 || unkept != nil { Wait.milliseconds(10) }
        }
        guard unanswered > 0 || unkept != nil || last != nil else { return }
        let why = last?.message ?? (unkept == nil ? "it does not answer" : "the store takes none")
        (places, unanswered, unkept) = (KafkaPlaces(), 0, nil)
        throw KafkaFault(
            .unable, "the group \(reading.group) takes no position, without which startAt: latest is lost: \(why)")
    }

    private func wanted(of count: Int) throws(KafkaFault) -> [Int32] {
        let all = Int32(clamping: count)
        guard let stated = reading.partitions?.numbers else { return Array(0..<all) }
        guard let absent = stated.first(where: { $0 >= all }) else { return stated }
        let partitions = CountText.of(count, "partition")
        throw KafkaFault(.unfit, "the topic has \(partitions), from 0 on, and partitions names \(absent)")
    }

    /// Asks for the positions in those of `numbers` that are not known.
    private func ask(of numbers: [Int32]) throws(KafkaFault) {
        let strangers = numbers.filter { places.readers[$0] == nil && !places.questions.has($0) }
        guard !strangers.isEmpty else { return }
        let told = try consumer.positions(in: strangers, milliseconds: Self.patience)
        let kept = keeper.positions(of: name)
        // What a group that has read before has not seen is to be read, and not passed over.
        let isNew = told.isEmpty && places.isEmpty && kept.isEmpty
        if isNew, keeper.knowsOthers(than: name) { noteOtherCluster() }
        for number in strangers {
            places.questions.add(
                number,
                PartitionStart.Known(
                    group: told.first { $0.partition == number }?.offset, store: kept[number],
                    beginning: isNew ? reading.beginning : .earliest))
        }
    }

    /// Asks brokers which records they have of all partitions that are in question; the last failure.
    private func examineAll(_ now: ContinuousClock.Instant) -> KafkaFault? {
        var failure: KafkaFault?
        for number in places.questions.numbers {
            failure = examine(number, now, milliseconds: failure == nil ? Self.patience : Self.shortPatience) ?? failure
        }
        return failure
    }

    /// Asks brokers which records they have of a partition that is in question; why that is not known.
    private func examine(_ number: Int32, _ now: ContinuousClock.Instant, milliseconds: Int32) -> KafkaFault? {
        do throws(KafkaFault) {
            settle(number, try consumer.offsets(of: number, milliseconds: milliseconds), now)
            if places.questions.has(number) { places.questions.postpone(number, now) } else { wantsReading = true }
            return nil
        } catch {
            places.questions.postpone(number, now)
            return error
        }
    }

    /// Decides on a partition that is in question, now that it has the records `offsets`.
    private func settle(_ number: Int32, _ offsets: Range<Int64>, _ now: ContinuousClock.Instant) {
        guard let question = places.questions[number] else { return }
        let former = places.readers[number]
        let start = PartitionStart(question.known, offsets: offsets)
        var reader = former ?? PartitionReader(number, start, question.known, at: now)
        let before = reader.next
        switch reader.compare(with: offsets) {
        case .goesOn:
            if former != nil, reader.isDoubtedAgain(offsets) {
                halt(&reader, "its brokers have the record \(before), and do not give it")
            }
            // It may have been made again, and have grown since it ended before its position.
            if former != nil { _ = reader.proveAgain() }
        case .hasMissed(let count):
            missed += UInt64(clamping: count)
            notices.append(
                .note(
                    "partition \(number): records from \(before) up to \(reader.next) are no longer there, \(count) at "
                        + "most: the topic keeps them for less time than kymo was away"))
        case .isShort:
            guard places.questions.hasWaited(number, now) else { return }
            halt(
                &reader,
                "it ends at \(offsets.upperBound), and was read up to \(before): its brokers have lost records, or the "
                    + "topic was removed and made again")
        }
        if former == nil { note(start, of: number) }
        if reader.losesProof(offsets) { noteUnproven(number, before) }
        places.readers[number] = reader
        places.questions.remove(number)
    }

    /// Tells where a partition begins, unless that is where it was left.
    private func note(_ start: PartitionStart, of number: Int32) {
        missed += UInt64(clamping: start.passedOver)
        if let text = start.note { notices.append(.note("partition \(number): \(text)")) }
    }

    private func noteUnproven(_ number: Int32, _ position: Int64) {
        notices.append(
            .note(
                "partition \(number): the record before \(position) is no longer there, so that nothing shows whether "
                    + "what follows is what was to come"))
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
        var faults = consumer.look().faults
        // No record can come yet.
        while let event = consumer.next() {
            if case .fault(_, let fault) = event { faults.append(fault) }
        }
        // It is said once, and asked for several times.
        heard = faults.last { $0.kind != .unreachable } ?? faults.last { !$0.isOfAllBrokers } ?? heard
        return heard ?? fault
    }

    private func readAll() throws(KafkaFault) {
        (hasMore, wantsReading) = (true, false)
        try consumer.read(from: places.positions)
        places.begin()
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
            hasMore = true
            switch event {
            case .record(let position, let record, let content): take(position, record, content)
            case .fault(let partition, let fault): hear(fault, of: partition, now)
            }
        }
        places.close()
        try listen(now)
    }

    private func take(_ position: RecordPosition, _ record: TopicRecord, _ content: RecordContent) {
        switch places.take(position, record) {
        case .passed: return
        case .another: return haltAnother(position)
        case .newUnproven: noteUnproven(position.partition, position.offset)
        case .new: break
        }
        frames.append(position, content)
        if health.reads(position.partition) { notices.append(.connected("reading again")) }
    }

    private func haltAnother(_ position: RecordPosition) {
        guard var reader = places.readers[position.partition] else { return }
        halt(
            &reader,
            "the record \(position.offset), which was the last to be read, is another one now: its brokers have lost "
                + "records, or the topic was removed and made again")
        places.readers[position.partition] = reader
        wantsReading = true
    }

    private func hear(_ fault: KafkaFault, of partition: Int32, _ now: ContinuousClock.Instant) {
        // Of a group, or of all: it names no partition.
        guard partition >= 0 else { return hear(fault, now) }
        guard var reader = places.readers[partition], !reader.isHalted else { return }
        switch fault.kind {
        case .nowhere:
            guard !places.questions.has(partition) else { return }
            places.questions.add(partition)
        case .unreadable, .tooLarge:
            halt(&reader, "what it has at \(reader.next), or behind that, cannot be read: \(fault.message)")
            places.readers[partition] = reader
            wantsReading = true
        case .insecure, .refused, .unfit:
            hear(fault, now)
            proveAgain([partition])
        case .unreachable, .content, .ended, .unable:
            if let notice = health.fails(fault, at: partition, now) { notices.append(notice) }
        }
    }

    /// Notes that all of a partition before `position` is durable.
    func finish(_ position: RecordPosition) {
        places.readers[position.partition]?.finish(before: position.offset)
    }

    // MARK: Brokers

    private func listen(_ now: ContinuousClock.Instant) throws(KafkaFault) {
        let news = consumer.look()
        answer(news)
        for (_, fault) in news.committed {
            if let notice = health.commits(fault, now) { notices.append(notice) }
        }
        for fault in news.faults { hear(fault, now) }
        if let end = consumer.end { throw end }
    }

    private func hear(_ fault: KafkaFault, _ now: ContinuousClock.Instant) {
        if let notice = health.fails(fault, now) { notices.append(notice) }
        // Whatever comes next may be of brokers that have lost all, or of others.
        if fault.isOfAllBrokers { proveAgain(Array(places.readers.keys)) }
    }

    /// Has the last record of each of `numbers` compared again before another one is taken.
    private func proveAgain(_ numbers: [Int32]) {
        for number in numbers where places.readers[number]?.proveAgain() == true { wantsReading = true }
    }

    /// Does what is due now and then.
    ///
    /// - Throws: ``KafkaFault`` when the consumer must be opened anew.
    func tend(_ now: ContinuousClock.Instant) throws(KafkaFault) {
        if let fault = health.refusal(now) { throw fault }
        if now - lastReminder >= Self.reminderInterval {
            lastReminder = now
            for number in places.readers.keys { places.readers[number]?.telling.tellAgain() }
        }
        // One answer is waited for at a time; and what is read changes only where none is: that of one broker would be
        // waited for by all partitions.
        guard unanswered <= 0 else { return }
        look(now)
        if wantsReading { return try readAll() }
        if unkept != nil { return tellKept(now) }
        guard now - lastCommit >= Self.commitInterval else { return }
        lastCommit = now
        keep(now)
    }

    /// Asks brokers what is due, of one partition at a time.
    private func look(_ now: ContinuousClock.Instant) {
        if now - lastQuestion >= Self.questionInterval, let number = places.questions.due(now) {
            lastQuestion = now
            _ = examine(number, now, milliseconds: Self.shortPatience)
        } else if now - lastQuiet >= Self.quietInterval {
            lastQuiet = now
            lookAfterQuiet(now)
        } else if reading.partitions == nil, now - lastGrowth >= Self.growthInterval {
            lastGrowth = now
            grow(now)
        } else if now - lastForeign >= Self.foreignInterval {
            lastForeign = now
            lookForOthers(now, milliseconds: Self.shortPatience)
        }
    }

    /// Asks about a partition that has given nothing for a while: its broker may be the only one that is away.
    private func lookAfterQuiet(_ now: ContinuousClock.Instant) {
        guard let position = quiet.next(of: places.positions) else { return }
        do throws(KafkaFault) {
            _ = try consumer.offsets(of: position.partition, milliseconds: Self.shortPatience)
            if health.answers(position.partition) { notices.append(.connected("reading again")) }
        } catch {
            quiet.repeatLast()
            if let notice = health.fails(error, at: position.partition, now) { notices.append(notice) }
        }
    }

    /// Begins to read partitions that the topic has got. They are read from their first record: nobody has seen it.
    private func grow(_ now: ContinuousClock.Instant) {
        // Brokers that do not answer now are asked again.
        guard let count = try? consumer.partitions(milliseconds: Self.shortPatience),
            case let all = 0..<Int32(clamping: count),
            all.contains(where: { places.readers[$0] == nil && !places.questions.has($0) }),
            (try? ask(of: Array(all))) != nil
        else { return }
        notices.append(.note("the topic has \(CountText.of(count, "partition")) now"))
    }

    /// Reads no more, and tells the group what is durable; ``hear(at:)`` tells whether it has answered.
    func end(at now: ContinuousClock.Instant = .now) {
        try? consumer.read(from: [])
        keep(now)
        keeper.hurry()
    }

    /// Looks what has come behind ``end(at:)``; whether nothing more can come.
    func hear(at now: ContinuousClock.Instant = .now) -> Bool {
        while consumer.next() != nil {}
        do throws(KafkaFault) { try listen(now) } catch { return true }
        if unkept != nil { tellKept(now) }
        guard unanswered <= 0, unkept == nil else { return false }
        // What the group has taken, if the process lasts as long.
        noteDurable()
        return true
    }

    // MARK: For others

    /// What the operator should know since the last call, and how many records could not be read.
    func takeNews() -> KafkaNews {
        defer { (notices, missed) = ([], 0) }
        return KafkaNews(notices: notices, missed: missed)
    }

    /// How far it is.
    var progress: KafkaProgress {
        let open = places.readers.values.filter { !$0.isHalted }
        let behind = open.reduce(0) { sum, reader in
            sum + max(0, (consumer.knownEnd(of: reader.number) ?? reader.next) - reader.next)
        }
        return KafkaProgress(
            behind: Int(clamping: behind), halted: places.readers.count - open.count,
            isUp: health.isGood && places.questions.isEmpty && places.contested.isEmpty)
    }
}
