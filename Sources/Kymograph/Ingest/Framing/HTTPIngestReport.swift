import KymographCore

/// Hands on what a body holds, and keeps what its sender is told of it.
struct HTTPIngestReport {
    /// Most lines or documents of a body.
    private static let mostPayloads = 100_000
    /// Most rejections that are told one by one.
    private static let mostTold = 100

    private let answer: HTTPIngestContent.Answer
    /// Lines or documents.
    private var received = 0
    /// Those of them of which anything was rejected, and the first reasons.
    private var (rejected, told): (Int, [(index: Int, reason: Rejection)]) = (0, [])
    /// Whether a reading was taken, and for what the sender may not bring others.
    private var (hasTaken, notAllowed, hasOtherReasons): (Bool, Rejection?, Bool) = (false, nil, false)
    /// What is told of each line or document; nil where that is not asked for, or cannot be known.
    private(set) var items: HTTPIngestItems?

    /// What a sender is told as `answer` says.
    init(_ answer: HTTPIngestContent.Answer) { self.answer = answer }

    /// Hands on each line or document of `body`, which is padded.
    ///
    /// - Throws: ``HTTPDecline`` when nothing was handed on: it is no JSON, or has too many of them.
    mutating func handOn(
        _ body: ByteView, _ form: HTTPIngestContent.Form, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) throws(HTTPDecline) {
        // What others have sent is none of this sender's business.
        _ = consumer.takeRejections()
        let before = consumer.taken
        defer { hasTaken = consumer.taken != before }
        if answer == .items { return try handOnItems(body, form, &intake, to: &consumer) }
        switch form {
        case .lines:
            try checkLines(body)
            handOnLines(body, &intake, to: &consumer)
        case .documents:
            for group in try documents(of: body) {
                if group.isArray { consumer.beginParts() }
                for place in group.places { handOn(body[place], at: received, &intake, to: &consumer) }
                if group.isArray { consumer.endParts() }
            }
        case .events: handOnEvents(body, try documents(of: body).flatMap(\.places), &intake, to: &consumer)
        }
    }

    /// Hands on the events in `places` of `body`, each once it is known that no properties of it follow.
    private mutating func handOnEvents(
        _ body: ByteView, _ places: [Range<Int>], _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        var reader = EventHubReader()
        var last = 0
        for (index, place) in places.enumerated() {
            do throws(EventHubReader.Refusal) {
                guard case .event(let isPreviousComplete) = try reader.read(body, place) else { continue }
                if isPreviousComplete { handOn(reader.payload, at: last, &intake, to: &consumer) }
                last = index
            } catch {
                // Properties that follow are not of the event before it.
                if reader.finish() { handOn(reader.payload, at: last, &intake, to: &consumer) }
                intake.reject(error.reason, body[place], to: &consumer)
                note(consumer.takeRejections(), at: index)
            }
        }
        if reader.finish() { handOn(reader.payload, at: last, &intake, to: &consumer) }
    }

    private mutating func handOn(
        _ document: ByteView, at index: Int, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        intake.document(document, to: &consumer)
        note(consumer.takeRejections(), at: index)
    }

    /// The reply where all that the body holds is of devices or patients that its sender may not bring readings of; nil
    /// where anything else is.
    var refusal: HTTPReply? {
        guard received > 0, rejected == received, !hasTaken, !hasOtherReasons, let notAllowed else { return nil }
        return .error(403, notAllowed.name, "nothing was taken: \(notAllowed.explanation)")
    }

    /// Whether what becomes of all readings together is told.
    var tellsSum: Bool { answer != .objects && answer != .items }

    /// The body of the reply, with or without room for what becomes of readings. Reasons are words of this program.
    func text(hasRoom: Bool) -> String {
        guard answer != .objects else { return objects }
        let list = told.map { "{\"index\":\($0.index),\"reason\":\"\($0.reason.name)\"}" }
        let reasons = list.joined(separator: ",")
        let end = hasRoom ? items?.room ?? Self.room : "}"
        return "{\"received\":\(received),\"rejectedCount\":\(rejected),\"rejected\":[\(reasons)]\(end)\n"
    }

    /// The end of a reply of which nothing more is known, as long as that of one that tells all.
    private static let room = "}" + String(repeating: " ", count: roomBytes - 1)
    static let roomBytes: Int = {
        var outcomes = ReadingOutcomes()
        let most = 9_999_999_999
        (outcomes.duplicate, outcomes.conflict, outcomes.rejected, outcomes.retractions) = (most, most, most, most)
        return text(of: 5 * most, outcomes).utf8.count
    }()

    /// Where ``room`` is in a reply of `count` bytes.
    static func room(in count: Int) -> Range<Int> { count - 1 - roomBytes..<count - 1 }

    /// The end of a reply that tells what became of `taken` readings.
    static func text(of taken: Int, _ outcomes: ReadingOutcomes) -> String {
        ",\"accepted\":\(taken - outcomes.total),\"duplicate\":\(outcomes.duplicate),"
            + "\"conflict\":\(outcomes.conflict),\"retractions\":\(outcomes.retractions),"
            + "\"rejectedLater\":\(outcomes.rejected)}"
    }

    /// An object for each document: clients of Nightscout count them. One that was rejected says why.
    private var objects: String {
        var objects = [String](repeating: "{}", count: received)
        for (index, reason) in told.reversed() { objects[index] = "{\"reason\":\"\(reason.name)\"}" }
        return "[\(objects.joined(separator: ","))]\n"
    }

    @inline(__always)
    private mutating func note(_ reasons: [Rejection], at index: Int) {
        if !reasons.isEmpty { tell(reasons, at: index) }
        received += 1
    }

    private mutating func tell(_ reasons: [Rejection], at index: Int) {
        rejected += 1
        for reason in reasons {
            let isNotAllowed = [.deviceNotAllowed, .patientNotAllowed].contains(reason)
            if isNotAllowed { notAllowed = notAllowed ?? reason } else { hasOtherReasons = true }
        }
        for reason in reasons where answer == .objects || told.count < Self.mostTold { told.append((index, reason)) }
    }

    // MARK: Lines

    private func checkLines(_ body: ByteView) throws(HTTPDecline) {
        guard body.count > 0 else { throw Self.empty }
        // A line has a byte at least.
        guard body.count > Self.mostPayloads else { return }
        var (lines, place) = (0, 0)
        while let end = body.firstIndex(of: 0x0A, from: place) {
            (lines, place) = (lines + 1, end + 1)
            guard lines <= Self.mostPayloads else { throw Self.tooMany }
        }
    }

    private mutating func handOnLines(
        _ body: ByteView, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        var start = body.startBehindByteOrderMark
        while start < body.count {
            if let length = intake.knownLine(body[start..<body.count], to: &consumer) {
                start += length + 1
                note(consumer.takeRejections(), at: received)
                continue
            }
            let end = body.firstIndex(of: 0x0A, from: start) ?? body.count
            let hasReturn = end > start && body[end - 1] == 0x0D
            let line = body[start..<(hasReturn ? end - 1 : end)]
            start = end + 1
            guard line.count > 0 else { continue }
            intake.line(line, to: &consumer)
            note(consumer.takeRejections(), at: received)
        }
    }

    // MARK: Items

    /// Hands on each line or document of `body`, and counts what becomes of its readings.
    private mutating func handOnItems(
        _ body: ByteView, _ form: HTTPIngestContent.Form, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) throws(HTTPDecline) {
        let groups = form == .lines ? [Documents(places: try lines(of: body))] : try documents(of: body)
        guard groups.reduce(0, { $0 + $1.places.count }) <= HTTPIngestItems.most else { throw Self.tooManyItems }
        var (items, isKnown) = (HTTPIngestItems(), true)
        consumer.beginItems()
        for group in groups {
            if group.isArray { consumer.beginParts() }
            for place in group.places {
                consumer.beginCount()
                if form == .lines {
                    intake.line(body[place], to: &consumer)
                } else {
                    intake.document(body[place], to: &consumer)
                }
                let reasons = consumer.takeRejections()
                if let count = consumer.endItem() { items.add(reasons, count) } else { isKnown = false }
                note(reasons, at: received)
            }
            if group.isArray { consumer.endParts() }
        }
        self.items = isKnown ? items : nil
    }

    /// Where the lines of `body` are, without those that are empty; no more than are too many.
    private func lines(of body: ByteView) throws(HTTPDecline) -> [Range<Int>] {
        guard body.count > 0 else { throw Self.empty }
        var (start, found): (Int, [Range<Int>]) = (body.startBehindByteOrderMark, [])
        while start < body.count, found.count <= HTTPIngestItems.most {
            let end = body.firstIndex(of: 0x0A, from: start) ?? body.count
            let hasReturn = end > start && body[end - 1] == 0x0D
            let line = start..<(hasReturn ? end - 1 : end)
            start = end + 1
            if !line.isEmpty { found.append(line) }
        }
        return found
    }

    // MARK: Documents

    /// Where the elements of an array are, which is one document, or documents that follow each other.
    private struct Documents {
        var isArray = false
        var places: [Range<Int>] = []
    }

    /// Where the documents of `body` are, and the elements of its arrays.
    private func documents(of body: ByteView) throws(HTTPDecline) -> [Documents] {
        var (borders, found): (DocumentBorders, [Documents]) = (DocumentBorders(), [])
        var (beginning, count, wasInArray): (Int?, Int, Bool) = (nil, 0, false)
        for place in body.startBehindByteOrderMark..<body.count {
            switch borders.step(body[place]) {
            case .between:
                if borders.isInArray, !wasInArray { found.append(Documents(isArray: true)) }
                wasInArray = borders.isInArray
            case .inside: if beginning == nil { beginning = place }
            case .last:
                // Behind an array, or at first.
                if !wasInArray, found.last?.isArray ?? true { found.append(Documents()) }
                found[found.count - 1].places.append((beginning ?? place)..<(place + 1))
                (beginning, count) = (nil, count + 1)
                guard count <= Self.mostPayloads else { throw Self.tooMany }
            case .broken: throw Self.broken(at: place, in: body)
            }
        }
        guard beginning == nil, !borders.isInArray else { throw Self.broken("it ends within one") }
        guard !found.isEmpty else { throw Self.empty }
        return found
    }

    private static let empty = HTTPDecline(400, "emptyBody", "the body is empty")
    private static func broken(_ what: String) -> HTTPDecline {
        HTTPDecline(400, "invalidJSON", "the body is not one JSON object, or an array of them: \(what)")
    }

    /// What brackets show to be wrong at `place` of `body`.
    private static func broken(at place: Int, in body: ByteView) -> HTTPDecline {
        let before = body[0..<place].array
        let start = (before.lastIndex(of: 0x0A) ?? -1) + 1
        let line = 1 + before.count { $0 == 0x0A }
        return broken("it is broken at line \(line), column \(place - start + 1)")
    }

    private static let tooManyItems = HTTPDecline(
        413, "tooMany", "with results=items a body has at most \(HTTPIngestItems.most) lines or objects; send fewer")
    private static let tooMany = HTTPDecline(
        413, "tooMany", "a body has at most \(mostPayloads) lines or objects; send fewer")
}
