/// Dead letters: by reason, in parts, one by one, and what an operator makes of them.
enum LetterRoutes {
    /// Most letters of one answer, and of one change.
    private static let (mostListed, mostChanged) = (1_000, 5_000)

    static let all: [ConsoleRoute] = [
        .get("letters/reasons") { (console, _) throws(ConsoleRefusal) in
            .json(
                try reading(console) { (reader) throws(PipelineError) in
                    try reader.letterReasons().map(LetterReasonView.init)
                })
        },
        .get("letters") { (console, request) throws(ConsoleRefusal) in .json(try list(console, request)) },
        .get("letters/:number") { (console, request) throws(ConsoleRefusal) in
            .json(LetterDetailView(try letter(console, request), revealed: false))
        },
        .post("letters/:number/reveal", .operate) { (console, request) throws(ConsoleRefusal) in
            let letter = try letter(console, request)
            // Before anybody sees it.
            console.subject.audit(.consoleReveal, request.session, "has revealed dead letter \(letter.number)")
            return .json(LetterDetailView(letter, revealed: true))
        },
        .post("letters/replay", .operate, .change) { (console, request) throws(ConsoleRefusal) in
            .json(try replay(console, request))
        },
        .post("letters/discard", .operate, .change) { (console, request) throws(ConsoleRefusal) in
            .json(try discard(console, request))
        },
    ]

    private static func reading<Value>(
        _ console: Console, _ body: (StoreReader) throws(PipelineError) -> Value
    ) throws(ConsoleRefusal) -> Value {
        let reader = try console.subject.reader()
        do throws(PipelineError) { return try body(reader) } catch { throw ConsoleRefusal(error) }
    }

    private static func list(_ console: Console, _ request: ConsoleRequest) throws(ConsoleRefusal) -> LetterListView {
        func given(_ name: String) -> String? { request.query[name].flatMap { $0.isEmpty ? nil : $0 } }
        var query = LetterQuery()
        (query.reason, query.kind, query.source) = (given("reason"), given("kind"), given("source"))
        query.withReplayed = request.query["replayed"] == "true"
        query.before = try request.number("before")
        query.limit = Int(clamping: min(max(1, try request.number("limit") ?? 100), Int64(mostListed)))
        let asked = query
        let page = try reading(console) { (reader) throws(PipelineError) in try reader.letters(asked) }
        return LetterListView(
            letters: page.rows.map(LetterRowView.init), total: page.total,
            before: page.hasMore ? page.rows.last?.number : nil)
    }

    private static func letter(_ console: Console, _ request: ConsoleRequest) throws(ConsoleRefusal) -> StoredLetter {
        guard let number = try request.number("number") else { throw ConsoleRefusal(400, "badNumber", "no number") }
        let letters = try reading(console) { (reader) throws(PipelineError) in try reader.letters([number]) }
        guard let letter = letters.first else {
            throw ConsoleRefusal(404, "noLetter", "there is no dead letter \(number): it may have been discarded")
        }
        return letter
    }

    // MARK: Changes

    private struct Numbers: Decodable {
        var letters: [Int64]
        /// Whether those are replayed of which only a part is there.
        var parts: Bool?
    }

    private struct Discarded: Encodable {
        var text: String
        var refusals: [LetterRefusal]
    }

    private static func numbers(_ request: ConsoleRequest) throws(ConsoleRefusal) -> Numbers {
        var numbers = try request.decode(Numbers.self)
        guard (1...mostChanged).contains(numbers.letters.count) else {
            throw ConsoleRefusal(400, "badNumber", "name 1 to \(mostChanged) letters")
        }
        numbers.letters = Set(numbers.letters).sorted()
        return numbers
    }

    private static func replay(
        _ console: Console, _ request: ConsoleRequest
    ) throws(ConsoleRefusal) -> ConsoleActions.Replay {
        guard let replay = console.subject.actions.replay else {
            throw ConsoleRefusal(
                501, "cannotReplay", "this instance is part of another program: use 'kymo dead replay'")
        }
        let numbers = try numbers(request)
        audit(console, request, .consoleReplay, "replays", numbers.letters)
        do throws(PipelineError) {
            return try replay(numbers.letters, numbers.parts ?? false)
        } catch {
            throw ConsoleRefusal(error)
        }
    }

    private static func discard(_ console: Console, _ request: ConsoleRequest) throws(ConsoleRefusal) -> Discarded {
        let numbers = try numbers(request)
        let present = try reading(console) { (reader) throws(PipelineError) in try reader.present(numbers.letters) }
        audit(console, request, .consoleDiscard, "discards", numbers.letters)
        do throws(PipelineError) {
            let refusals =
                present.isEmpty
                ? []
                : try DeadLetterChange.make(
                    ControlRequest(.discard, letters: present), console.subject.directory, notes: console.subject.notes)
            let count = present.count - refusals.count
            let gone = Set(numbers.letters).subtracting(present).sorted().map {
                LetterRefusal($0, "it was discarded before")
            }
            return Discarded(text: "discarded \(count) dead letter\(count == 1 ? "" : "s")", refusals: refusals + gone)
        } catch {
            throw ConsoleRefusal(error)
        }
    }

    /// Notes which letters somebody changes, all of them: what is discarded is named nowhere else.
    private static func audit(
        _ console: Console, _ request: ConsoleRequest, _ kind: DeedKind, _ deed: String, _ numbers: [Int64]
    ) {
        let ranges = NumberRanges.text(of: numbers).split(separator: ", ").map(String.init)
        let first = numbers.count == 1 ? "dead letter" : "\(numbers.count) dead letters:"
        for which in AuditDeed.parts("dead letters", first: first, ranges) {
            console.subject.audit(kind, request.session, "\(deed) \(which)")
        }
    }
}
