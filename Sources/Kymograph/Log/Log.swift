import KymographCore
package import KymographTemplates
import Synchronization

/// The log of a run: filters by level, folds repeats, and writes lines in one style. For any thread.
package final class Log: Sendable {
    private struct State {
        var folding = LogFolding()
        var live = LiveLine()
    }

    /// How lines are written.
    package let style: LogStyle
    private let chosenLevel: Mutex<LogLevel>
    private let isTerminal: Bool
    private let output: @Sendable ([UInt8]) -> Void
    private let counts: LogCounts
    private let state = Mutex(State())

    /// A log of entries of `level` and those that matter more. `output` takes whole lines, one call at a time;
    /// `isTerminal`: they go to a terminal, where ``show(live:)`` has its line. Repeats are added to `counts`.
    package init(
        level: LogLevel, style: LogStyle, isTerminal: Bool = false, counts: LogCounts = LogCounts(),
        output: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.counts = counts
        chosenLevel = Mutex(level)
        self.style = style
        self.isTerminal = isTerminal && style.isText
        self.output = output
    }

    private var level: LogLevel { chosenLevel.withLock { $0 } }

    /// Goes by another level from here on.
    package func follow(_ level: LogLevel) { chosenLevel.withLock { $0 = level } }

    /// Writes an entry, unless it is a repeat, which is counted, or of another level; one for the audit in any case.
    @Sendable
    package func write(_ entry: LogEntry) { write(entry, isPlain: false) }

    /// Writes what was found in files, each time that they are read.
    @Sendable
    package func write(_ findings: [Diagnostic]) {
        for finding in findings {
            write(LogEntry(finding.severity == .error ? .error : .warning, finding.fullText).answered, isPlain: true)
        }
    }

    /// Writes how many repeats there were, once their time is up. To be called about every second.
    package func tick() {
        state.withLock { state in fold(&state, isLast: false) }
    }

    /// Writes what repeats are left, and clears the live line.
    package func close() {
        state.withLock { state in
            fold(&state, isLast: true)
            if let text = state.live.clear() { output(Array(text.utf8)) }
        }
    }

    /// Shows `text` in a line of a terminal that changes, at most once a second; nothing elsewhere.
    package func show(live text: @autoclosure () -> String) {
        guard isTerminal, level >= .info else { return }
        state.withLock { state in
            if let shown = state.live.show(text(), at: .now) { output(Array(shown.utf8)) }
        }
    }

    private func write(_ entry: LogEntry, isPlain: Bool) {
        guard entry.level <= level || entry.deed != nil else { return }
        state.withLock { state in
            fold(&state, isLast: false)
            guard entry.isAnswer || entry.deed != nil && !entry.isFolded || state.folding.admits(entry, at: .now) else {
                return counts.addRepeat()
            }
            put(entry, &state, isPlain: isPlain)
        }
    }

    private func fold(_ state: inout State, isLast: Bool) {
        for entry in state.folding.ended(at: .now, isLast: isLast) { put(entry, &state, isPlain: false) }
    }

    private func put(_ entry: LogEntry, _ state: inout State, isPlain: Bool) {
        let line = (state.live.clear() ?? "") + style.line(entry, at: WallClock.now(), isPlain: isPlain)
        output(Array(line.utf8))
    }
}

/// One line that is written again and again on a terminal.
private struct LiveLine {
    private var shown: ContinuousClock.Instant?
    private var isVisible = false

    /// What to write to show `text`, at most once a second.
    mutating func show(_ text: @autoclosure () -> String, at now: ContinuousClock.Instant) -> String? {
        if let shown, shown.duration(to: now) < .seconds(1) { return nil }
        shown = now
        isVisible = true
        return "\r\(PrintableText.line(text()))\u{1B}[K"
    }

    /// What to write to clear the line; nil when there is none.
    mutating func clear() -> String? {
        defer { isVisible = false }
        return isVisible ? "\r\u{1B}[K" : nil
    }
}
