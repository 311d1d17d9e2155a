import KymographCore

/// Whose readings there are, their timelines, and whether their hours are complete. Identifiers are masked; a series is
/// named by its number in the store, so that none stands in an address.
enum SeriesRoutes {
    /// Most subjects of a list, windows of an answer, and readings of a window.
    private static let (mostSubjects, mostWindows, mostReadings) = (500, 500, 2_000)
    /// Most payloads of a window, and bytes of them.
    private static let (mostPayloads, mostPayloadBytes) = (100, 1 << 20)
    /// Hides identifiers as long as the process runs.
    static let mask = SubjectMask()

    static let all: [ConsoleRoute] = [
        .get("subjects") { (console, _) throws(ConsoleRefusal) in
            .json(
                bytes: mask.json(
                    try reading(console) { reader throws(PipelineError) in
                        try reader.subjects(limit: mostSubjects + 1)
                    }, limit: mostSubjects))
        },
        .post("subjects/find", .view) { (console, request) throws(ConsoleRefusal) in
            let text = try request.decode(Text.self).text
            return .json(
                bytes: mask.json(
                    try reading(console) { reader throws(PipelineError) in
                        try reader.subjects(named: IdentifierText(text), limit: mostSubjects + 1)
                    }, limit: mostSubjects))
        },
        .post("subjects/reveal", .operate) { (console, request) throws(ConsoleRefusal) in
            let number = try request.decode(Number.self).series
            let subject = try subject(console, number)
            // Before anybody sees it.
            console.subject.audit(.consoleReveal, request.session, "has revealed the identifiers of series \(number)")
            return .json(Revealed(device: subject.device, patient: subject.patient))
        },
        .get("subjects/chosen") { (console, request) throws(ConsoleRefusal) in
            let number = Int(clamping: try request.number("of") ?? -1)
            return .json(bytes: mask.json([try subject(console, number, withLatest: true)], limit: 1))
        },
        .get("timeline") { (console, request) throws(ConsoleRefusal) in try timeline(console, request) },
        .get("timeline/windows") { (console, request) throws(ConsoleRefusal) in try windows(console, request) },
        .get("timeline/window") { (console, request) throws(ConsoleRefusal) in
            var detail = try window(console, request.query["id"] ?? "") { mask.name($0) }
            detail.observations = detail.observations.compactMap { MaskedResource.of($0) }
            return .json(bytes: detail.json)
        },
        .post("timeline/reveal", .operate) { (console, request) throws(ConsoleRefusal) in
            let name = try request.decode(Name.self).id
            let window = try window(console, name)
            console.subject.audit(.consoleReveal, request.session, "has revealed window \(name)")
            return .json(bytes: window.json)
        },
        .post("timeline/payloads", .operate) { (console, request) throws(ConsoleRefusal) in
            .json(try payloads(console, request))
        },
        .get("hours") { (console, request) throws(ConsoleRefusal) in
            let (subject, span) = (try asked(console, request), try span(request))
            let lateness = console.subject.settings.windows.lateness
            let hours = try reading(console) { reader throws(PipelineError) in
                try reader.ledgerHours(
                    device: subject.device, patient: subject.patient, from: span.from, to: span.to,
                    now: WallClock.now(), lateness: lateness, isRunning: true)
            }
            return .json(bytes: hours.masked(by: mask).json)
        },
        .get("hours/proof") { (console, request) throws(ConsoleRefusal) in
            .json(mask.masked(try proof(console, request)))
        },
    ]

    private struct Text: Decodable { var text: String }
    private struct Number: Decodable { var series: Int }
    private struct Name: Decodable { var id: String }
    private struct Revealed: Encodable {
        var device: IdentifierText
        var patient: IdentifierText?
    }

    private static func reading<Value>(
        _ console: Console, _ body: (StoreReader) throws(PipelineError) -> Value
    ) throws(ConsoleRefusal) -> Value {
        let reader = try console.subject.reader()
        do throws(PipelineError) { return try body(reader) } catch { throw ConsoleRefusal(error) }
    }

    // MARK: What is asked for

    private static func subject(
        _ console: Console, _ number: Int, withLatest: Bool = false
    ) throws(ConsoleRefusal) -> StoreSubject {
        let found = try reading(console) { reader throws(PipelineError) in
            try reader.subject(ofSeries: number, withLatest: withLatest)
        }
        guard let found else { throw ConsoleRefusal(404, "noSeries", "the store has no series \(number)") }
        return found
    }

    /// Of the series `of`: with `by=patient` the patient alone, with `by=device` the device alone.
    private static func asked(
        _ console: Console, _ request: ConsoleRequest
    ) throws(ConsoleRefusal) -> (device: IdentifierText?, patient: IdentifierText?) {
        let number = try request.number("of") ?? -1
        let subject = try subject(console, Int(clamping: number))
        guard request.query["by"] == "patient" else { return (subject.device, nil) }
        guard let patient = subject.patient else {
            throw ConsoleRefusal(404, "noPatient", "the readings of this series name no patient: ask by device")
        }
        return (nil, patient)
    }

    /// The span from the second `from` since the epoch up to `to`.
    private static func span(_ request: ConsoleRequest) throws(ConsoleRefusal) -> (from: Instant, to: Instant) {
        guard let from = try request.number("from"), let to = try request.number("to"), from < to,
            earliest...latest ~= from, earliest...latest ~= to
        else {
            throw ConsoleRefusal(400, "badTime", "from and to are seconds since 1970, from before to, of 1700 to 2250")
        }
        return (Instant(seconds: from), Instant(seconds: to))
    }

    private static let (earliest, latest): (Int64, Int64) = (-8_520_336_000, 8_835_955_200)

    // MARK: Timelines

    private static func timeline(_ console: Console, _ request: ConsoleRequest) throws(ConsoleRefusal) -> HTTPReply {
        let (subject, span) = (try asked(console, request), try span(request))
        var query = TimelineQuery(
            device: subject.device, patient: subject.patient, from: span.from, to: span.to, now: WallClock.now())
        guard let bucket = TimelineBucket(rawValue: request.query["bucket"] ?? "1h") else {
            let names = TimelineBucket.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConsoleRefusal(400, "badBucket", "bucket is one of \(names)")
        }
        guard let zone = TimeZoneText.zone(request.query["zone"] ?? "UTC") else {
            throw ConsoleRefusal(400, "badZone", "there is no such time zone: use a name such as Europe/Berlin")
        }
        (query.bucket, query.zone, query.limits.buckets) = (bucket, zone, 2_000)
        let asked = query
        let found = try reading(console) { reader throws(PipelineError) in try reader.timeline(asked) }
        return .json(bytes: found.masked(by: mask).json)
    }

    private static func windows(_ console: Console, _ request: ConsoleRequest) throws(ConsoleRefusal) -> HTTPReply {
        let (number, span) = (Int(clamping: try request.number("series") ?? -1), try span(request))
        let windows = try reading(console) { reader throws(PipelineError) in
            try reader.timelineWindows(series: number, from: span.from, to: span.to, limit: mostWindows + 1)
        }
        var object = JSONMembers()
        object.add("windows", list: windows.prefix(mostWindows).map(\.json))
        object.add("isPartial", if: windows.count > mostWindows)
        return .json(bytes: object.finished())
    }

    /// A payload as it came.
    private struct PayloadView: Encodable {
        /// Bytes that are shown of one.
        static let mostBytes = 64 << 10

        var received: String
        var source: String
        var readings: Int
        var size: Int
        /// Its bytes as text, or else two digits each.
        var text: String?
        var hex: String?
        /// Whether it has more bytes than are shown.
        var isCut: Bool

        init(_ payload: WindowPayloads.Payload) {
            (received, source, readings) = (payload.received.text, payload.source, payload.readings)
            (size, isCut) = (payload.bytes.count, payload.bytes.count > Self.mostBytes)
            let shown = payload.bytes.prefix(Self.mostBytes)
            if String(validating: payload.bytes, as: UTF8.self) != nil {
                text = String(decoding: shown, as: UTF8.self)
            } else {
                hex = shown.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            }
        }
    }

    private struct PayloadsView: Encodable {
        /// Whether the store keeps payloads at all (`store.keepRaw`).
        var isKept: Bool
        var payloads: [PayloadView]
        var isPartial: Bool
        var isDamaged: Bool
    }

    private static func payloads(
        _ console: Console, _ request: ConsoleRequest
    ) throws(ConsoleRefusal) -> PayloadsView {
        let name = try request.decode(Name.self).id
        guard let cursor = ArchiveCursor(name) else { throw ConsoleRefusal(400, "badWindow", "id names no window") }
        let found = try reading(console) { reader throws(PipelineError) in
            try reader.payloads(ofWindow: cursor, limit: mostPayloads, bytes: mostPayloadBytes)
        }
        guard let found else { throw noWindow }
        // Before anybody sees them.
        if !found.payloads.isEmpty {
            console.subject.audit(.consoleReveal, request.session, "has revealed the payloads of window \(name)")
        }
        return PayloadsView(
            isKept: found.isKept, payloads: found.payloads.map(PayloadView.init), isPartial: found.isPartial,
            isDamaged: found.isDamaged)
    }

    private static let noWindow = ConsoleRefusal(
        404, "noWindow", "the archive has no such window: it may have been dropped for its age")

    private static func window(
        _ console: Console, _ id: String, naming: (([UInt8]) -> [UInt8])? = nil
    ) throws(ConsoleRefusal) -> TimelineWindowDetail {
        guard let cursor = ArchiveCursor(id) else { throw ConsoleRefusal(400, "badWindow", "id names no window") }
        let settings = console.subject.settings
        let found = try reading(console) { reader throws(PipelineError) in
            let former = try reader.archivedTypes()
            let set = ConfigurationLoader.checkMappings(settings, continuingStored: former).set
            return try reader.timelineWindow(
                cursor, set: set, options: settings.output, limit: mostReadings, naming: naming)
        }
        guard let found else { throw noWindow }
        return found
    }

    // MARK: Hours

    private static func proof(_ console: Console, _ request: ConsoleRequest) throws(ConsoleRefusal) -> LedgerReport {
        let span = try span(request)
        let device = try subject(console, Int(clamping: try request.number("device") ?? -1)).device
        var filter = ArchiveFilter()
        (filter.devices, filter.patients) = ([device], try asked(console, request).patient.map { [$0] })
        (filter.from, filter.to) = (span.from, span.to)
        let asked = filter
        return try reading(console) { reader throws(PipelineError) in try reader.ledger(asked, isRunning: true) }
    }
}
