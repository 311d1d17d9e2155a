import Foundation
@testable import Kymograph
import KymographCore
import KymographTemplates
import Synchronization
import Testing

/// What the log makes of entries.
@Suite struct LogTests {
    private let noon = Instant(nanoseconds: 1_772_366_400_045_600_000)
    private let entry = LogEntry(
        .warning, "a \"sink\" is\naway", fields: [("event", .text("sink.unreachable")), ("seconds", .number(7))])

    /// A log and what it has written.
    private final class Written: Sendable {
        private let bytes = Mutex<[UInt8]>([])
        var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
        let counts = LogCounts()
        func log(_ level: LogLevel = .info, _ style: LogStyle = .short, isTerminal: Bool = false) -> Log {
            Log(level: level, style: style, isTerminal: isTerminal, counts: counts) { added in
                self.bytes.withLock { $0 += added }
            }
        }
    }

    @Test func eachStyleHasItsLine() throws {
        #expect(LogStyle.short.line(.info("here"), at: noon) == "kymo: here\n")
        #expect(LogStyle.short.line(.info("a.json:1:2: error"), at: noon, isPlain: true) == "a.json:1:2: error\n")
        #expect(LogStyle.timed.line(.error("here"), at: noon) == "2026-03-01T12:00:00.045Z error kymo: here\n")
        #expect(LogStyle.journald.line(entry, at: noon) == "<4>a \"sink\" is\n<4>  away\n")
        let gaps = LogEntry(.warning, "\na\n\n  b\n \n\nc\n")
        #expect(LogStyle.journald.line(gaps, at: noon) == "<4>  a\n<4>  b\n<4>   \n<4>  c\n")
        let line = LogStyle.json.line(entry, at: noon)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["time"] as? String == "2026-03-01T12:00:00.045Z" && object["level"] as? String == "warning")
        #expect(object["message"] as? String == "a \"sink\" is\naway" && object["seconds"] as? Int == 7)
        #expect(object.count == 5 && line.hasSuffix("}\n") && line.count { $0 == "\n" } == 1)
    }

    /// What somebody did is written each time, whatever the level.
    @Test func entriesOfTheAuditAreNeitherLeftOutNorFolded() {
        let written = Written()
        let log = written.log(.error)
        let audit = LogEntry.deed(.consoleReveal, by: "somebody", "has revealed 7")
        for _ in 0..<3 { log.write(audit) }
        log.write(.warning("something else"))
        log.close()
        #expect(written.text == String(repeating: "kymo: has revealed 7\n", count: 3))
    }

    /// What senders can cause is written for so many kinds alone; the rest of it is counted, and of other entries none.
    @Test func manyKindsOfTheAuditAreFoldedTogether() {
        let written = Written()
        let log = written.log(.error)
        for number in 0..<3_000 {
            var entry = LogEntry.deed(.peerRefused, by: "", "refused \(number)")
            entry.isFolded = true
            log.write(entry)
            if number % 1_000 == 999 { log.write(.error("failed \(number)")) }
        }
        let lines = written.text.split(separator: "\n")
        #expect(lines.count == 512 + 1 + 3 && lines.count { $0.contains("failed") } == 3, "\(lines.count)")
        #expect(written.counts.suppressed == 3_000 - 513)
        log.close()
        #expect(written.text.contains("2487 more of this or other kinds in 1 s: refused 2999"), "\(lines.last ?? "")")
    }

    @Test func timesAlwaysHaveMilliseconds() {
        #expect(LogStyle.time(Instant(seconds: 0)) == "1970-01-01T00:00:00.000Z")
        #expect(LogStyle.time(Instant(nanoseconds: -1)) == "1969-12-31T23:59:59.999Z")
    }

    @Test func theStyleIsChosen() {
        #expect(LogStyle(.auto, isJournal: true, endsByItself: false) == .journald)
        #expect(LogStyle(.auto, isJournal: false, endsByItself: false) == .timed)
        #expect(LogStyle(.auto, isJournal: false, endsByItself: true) == .short)
        #expect(LogStyle(.text, isJournal: true, endsByItself: false) == .short)
        #expect(LogStyle(.json, isJournal: true, endsByItself: true) == .json)
        #expect(LogStyle(.journald, isJournal: false, endsByItself: true) == .journald)
    }

    @Test func whatMattersLessIsLeftOut() {
        for (level, count) in zip(LogLevel.allCases, 1...) {
            let written = Written()
            let log = written.log(level)
            for level in LogLevel.allCases { log.write(LogEntry(level, level.rawValue)) }
            #expect(written.text.split(separator: "\n").count == count, "\(level)")
        }
    }

    @Test func repeatsAreFolded() throws {
        var folding = LogFolding()
        let start = ContinuousClock.now
        func change(_ count: Int) -> LogEntry { .change(.warning, "sink.refusing", ("sink", "a"), "try \(count)") }
        var isFirst = folding.admits(change(0), at: start)
        #expect(isFirst)
        let repeats = (1...37).map { folding.admits(change($0), at: start.advanced(by: .milliseconds(100 * $0))) }
        #expect(!repeats.contains(true))
        isFirst = folding.admits(.change(.warning, "sink.refusing", ("sink", "b"), "try"), at: start)
        #expect(isFirst)
        isFirst = folding.admits(.change(.info, "sink.refusing", ("sink", "a"), "try"), at: start)
        #expect(isFirst)
        let early = folding.ended(at: start.advanced(by: .milliseconds(9_999)))
        #expect(early.isEmpty)
        let ended = folding.ended(at: start.advanced(by: .seconds(10)))
        #expect(ended.map(\.text) == ["… 37 more like this in 10 s: try 37"])
        #expect(ended.first?.level == .warning)
        #expect(ended.first?.fields.last.map { $0.name == "suppressed" && $0.value == .number(37) } == true)
        // The next one is written again.
        let later = (38...40).map { folding.admits(change($0), at: start.advanced(by: .seconds(11))) }
        #expect(later == [true, false, false])
        let last = folding.ended(at: start.advanced(by: .seconds(13)), isLast: true)
        #expect(last.map(\.text) == ["… 2 more like this in 2 s: try 40"])
    }

    /// Who has asked for something waits for the answer, and takes an old one for it.
    @Test func answersAreWrittenEachTime() {
        let written = Written()
        let log = written.log()
        for _ in 0..<3 { log.write(LogEntry.error("refused").answered) }
        log.write([Diagnostic(.error, file: "kymo.yaml", position: .start, message: "wrong")])
        log.write([Diagnostic(.error, file: "kymo.yaml", position: .start, message: "wrong")])
        log.close()
        let lines = written.text.split(separator: "\n")
        #expect(lines.count == 5 && written.counts.suppressed == 0, "\(written.text)")
        #expect(lines.count { $0.contains("wrong") } == 2, "\(written.text)")
    }

    @Test func theLogTellsOfRepeatsAtItsEnd() {
        let written = Written()
        let log = written.log()
        for _ in 0..<4 { log.write(.error("no room")) }
        log.write(.error("other"))
        #expect(written.text == "kymo: no room\nkymo: other\n" && written.counts.suppressed == 3)
        log.close()
        #expect(written.text == "kymo: no room\nkymo: other\nkymo: … 3 more like this in 1 s: no room\n")
    }

    /// A line that changes is cleared before each entry, and only a terminal has one.
    @Test func theLiveLineMakesRoom() {
        let (terminal, file) = (Written(), Written())
        for (written, isTerminal) in [(terminal, true), (file, false)] {
            let log = written.log(isTerminal: isTerminal)
            log.show(live: "received 1")
            log.write(.info("one"))
            log.close()
        }
        #expect(terminal.text == "\rreceived 1\u{1B}[K\r\u{1B}[Kkymo: one\n")
        #expect(file.text == "kymo: one\n")
    }
}
