import KymographCore

/// What `kymo top` shows of a report, for a terminal of some size.
package struct TopScreen: Sendable {
    /// Columns and lines of the terminal.
    private let columns: Int
    private let lines: Int

    /// A screen for a terminal; smaller ones than 40 by 12 show what fits.
    package init(columns: Int, lines: Int) {
        self.columns = max(20, columns)
        self.lines = max(6, lines)
    }

    /// The lines of a report, none longer than the terminal is wide, and no more than it has.
    package func text(_ report: TopReport) -> [String] {
        var head = [title(report), ""]
        head += engine(report)
        let tail = [""] + store(report)
        // Sinks in trouble say why in a line of their own.
        let sinks = report.sinks.flatMap(sink)
        let room = lines - head.count - tail.count - 4
        let forSinks = min(sinks.count, max(room / 2, room - report.sources.count))
        let sources = fitting(report.sources.map(source), room - forSinks, "sources")
        let names = columns - 44
        head += ["", padded("SOURCE", names) + cells(["READINGS/S", "BYTES/S", "REJECTED/S", "DROPPED"])] + sources
        head += ["", padded("SINK", names) + cells(["ENTRIES/S", "WAITING", "IN FLIGHT", "CIRCUIT"])]
        return (head + fitting(sinks, forSinks, "lines of sinks") + tail).prefix(lines).map(cut)
    }

    /// The lines that are shown while no instance answers; `since` is the time since when.
    package func text(missing directory: String, since: Instant) -> [String] {
        [
            "kymo top  q ends", "", "waiting for the instance", "none has run since \(TopScreen.time(since.text))",
            "in \(directory)",
        ].prefix(lines).map(cut)
    }

    private func title(_ report: TopReport) -> String {
        let process = report.process.map { "process \($0)" } ?? ""
        let start = report.started.map { "since \(TopScreen.time($0))" } ?? ""
        let now = TopScreen.time(report.time).drop { $0 != "T" }.dropFirst()
        return "kymo \(report.version)  \(process)  \(start)  \(now)  q ends"
    }

    private func engine(_ report: TopReport) -> [String] {
        let engine = report.engine
        let counts = [
            ("received", engine.received), ("accepted", engine.accepted), ("duplicate", engine.duplicate),
            ("conflict", engine.conflict), ("rejected", engine.rejected),
        ].map { "\($0) \(TopScreen.short($1))" }
        let output = [
            ("windows", engine.windows), ("observations", engine.observations), ("bundles", engine.bundles),
        ].map { "\($0) \(TopScreen.short($1))" }
        var lines = ["per second  " + counts.joined(separator: "  ")]
        lines.append("            " + output.joined(separator: "  ") + "  in flight \(engine.inFlight)")
        if let ring = engine.fullestRing, ring.slots > 0 {
            lines.append(
                "engine      lanes \(engine.lanes), shards \(engine.shards), the fullest ring "
                    + "\(ring.used * 100 / ring.slots) % of \(ring.slots) slots")
        }
        let waits = engine.rings.reduce(0) { $0 + $1.waits }
        let commit = engine.commitMilliseconds.map { "a commit takes \($0) ms, " } ?? ""
        lines.append("lag         \(commit)lanes wait for room \(TopScreen.short(waits)) times a second")
        return lines
    }

    private func source(_ source: TopReport.Source) -> String {
        padded(source.name, columns - 44)
            + cells([
                TopScreen.short(source.readings), TopScreen.short(source.bytes), TopScreen.short(source.rejected),
                TopScreen.short(Double(source.droppedTotal)),
            ])
    }

    private func sink(_ sink: TopReport.Sink) -> [String] {
        let delivery = sink.delivery
        let entries = sink.entries.map(TopScreen.short) ?? "-"
        let row = cells([
            entries, TopScreen.short(Double(sink.waiting)), delivery.map { "\($0.inFlight)" } ?? "-",
            delivery?.circuit ?? "-",
        ])
        let line = padded(sink.name, columns - 44) + row
        guard let trouble = delivery?.trouble else { return [line] }
        return [line, "  \(trouble.cause.rawValue) since \(TopScreen.time(trouble.since)): \(trouble.reason)"]
    }

    private func store(_ report: TopReport) -> [String] {
        let store = report.store
        let percent = store.limitBytes > 0 ? " (\(store.usedBytes * 100 / store.limitBytes) %)" : ""
        let oldest = store.outboxOldestAge.map { ", the oldest for \(Int($0)) s" } ?? ""
        return [
            "outbox      \(CountText.of(store.outboxRows, one: "bundle waits", many: "bundles wait"))\(oldest)",
            "store       \(TopScreen.short(Double(store.usedBytes)))B of \(TopScreen.short(Double(store.limitBytes)))B"
                + "\(percent), windows \(store.windows), journal "
                + CountText.of(store.journalReadings, "reading"),
            "letters     dead \(store.deadLetters), quarantined \(store.quarantined), lost \(store.lost)",
        ]
    }

    /// As many of `rows` as there is room for, and how many there are more.
    private func fitting(_ rows: [String], _ room: Int, _ noun: String) -> [String] {
        guard rows.count > max(1, room) else { return rows }
        return rows.prefix(max(0, room - 1)) + ["  … \(rows.count - max(0, room - 1)) more \(noun)"]
    }

    private func cells(_ texts: [String]) -> String {
        texts.map { String(repeating: " ", count: max(1, 11 - $0.count)) + $0 }.joined()
    }

    private func padded(_ text: String, _ width: Int) -> String {
        let (text, width) = (PrintableText.line(text), max(8, width))
        let shown = text.count > width ? text.prefix(width - 1) + "…" : text[...]
        return shown + String(repeating: " ", count: width - shown.count)
    }

    private func cut(_ line: String) -> String {
        let line = PrintableText.line(line)
        return line.count > columns ? line.prefix(columns - 1) + "…" : line
    }

    /// The time without its fraction.
    private static func time(_ text: String) -> String {
        guard let point = text.firstIndex(of: ".") else { return text }
        return text[..<point] + "Z"
    }

    /// A number in at most six characters: `0.4`, `999`, `12.3k`, `4.5M`, `17.1G`.
    static func short(_ number: Double) -> String {
        for (divisor, unit) in [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")] where number >= divisor {
            let scale = unit == "k" ? 1e3 : divisor
            return "\((number / scale * 10).rounded() / 10)\(unit)"
        }
        return number == number.rounded() ? "\(Int(number))" : "\((number * 10).rounded() / 10)"
    }
}
