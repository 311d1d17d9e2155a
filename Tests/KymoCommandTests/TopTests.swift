import CommandSupport
import Foundation
import Glibc
import KymographTestKit
import Testing

/// `kymo top`, in a terminal and for programs.
@Suite struct TopTests {
    private let folder = TemporaryFolder()

    private func instance() throws -> (process: ChildProcess, address: String) {
        let run = try Kymo.start([
            "run", "--unix", folder.file("a.sock"), "--data", folder.file("data"), "--out", folder.file("out"),
        ])
        let address = try run.addresses()[0]
        return (run, address)
    }

    /// `kymo top` in a terminal, and what that was sent.
    private final class Screen {
        let terminal: PseudoTerminal
        let top: ChildProcess
        private(set) var shown = ""

        init(_ directory: String) throws {
            terminal = try PseudoTerminal()
            top = try Kymo.start(
                ["top", "--data", directory], input: .open(try OpenFile(reading: terminal.path)),
                output: .path(terminal.path))
        }

        func wait(for text: String) throws {
            try Waiting.until("'\(text)' in \(shown.suffix(2_000)); \(top.errorText)") {
                shown += String(decoding: terminal.received().filter { $0 != 0x0D }, as: UTF8.self)
                return shown.contains(text)
            }
        }
    }

    @Test func aTerminalShowsWhatGoesOn() throws {
        let first = try instance()
        let screen = try Screen(folder.file("data"))
        try screen.wait(for: "process \(first.process.pid)")
        for text in ["unix ", "\noutput ", "q ends"] { try screen.wait(for: text) }
        // It waits for an instance that ends, and shows the next one.
        #expect(try first.process.terminate().end == .exit(0))
        try screen.wait(for: "waiting for the instance")
        let second = try instance()
        try screen.wait(for: "process \(second.process.pid)")
        let frames = screen.shown.components(separatedBy: "\u{1B}[H").dropFirst().dropLast()
        #expect(frames.count >= 2)
        for frame in frames {
            let lines = frame.replacing("\u{1B}[K", with: "").replacing("\u{1B}[J", with: "")
                .components(separatedBy: "\n")
            #expect(lines.count <= 24 && lines.allSatisfy { $0.count <= 80 }, "\(lines)")
        }
        screen.terminal.write(Array("q".utf8))
        try screen.wait(for: "\u{1B}[?1049l")
        #expect(try screen.top.wait() == .exit(0))
        #expect(try second.process.terminate().end == .exit(0))
    }

    /// However it ends, the terminal is as it was.
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func aTerminalIsGivenBack(signal: Int32) throws {
        let run = try instance()
        let screen = try Screen(folder.file("data"))
        try screen.wait(for: "process \(run.process.pid)")
        #expect(!screen.terminal.isOfAShell)
        screen.top.signal(signal)
        try screen.wait(for: "\u{1B}[?25h\u{1B}[?1049l")
        #expect(try screen.top.wait() == .exit(0))
        #expect(screen.terminal.isOfAShell)
        #expect(try run.process.terminate().end == .exit(0))
    }

    @Test func aSignalEndsIt() throws {
        let run = try instance()
        let top = try Kymo.start(["top", "--data", folder.file("data"), "--format", "json"])
        try Waiting.until("two lines") { top.output.count { $0 == 0x0A } >= 2 }
        top.signal(SIGINT)
        #expect(try top.wait() == .exit(0))
        for line in top.output.split(separator: 0x0A) {
            let report = try JSONTree(parsing: Array(line))
            #expect(report["process"]?.integer == Int(run.process.pid))
        }
        #expect(try run.process.terminate().end == .exit(0))
    }

    @Test func onceLooksTwice() throws {
        let run = try instance()
        let top = try Kymo.start(["top", "--once", "--format", "json", "--data", folder.file("data")])
        var second = 0
        try Waiting.until("the end of top: \(top.errorText)") {
            try Sending.send(lines: [Readings.heartRate(second: second)], to: run.address)
            second += 1
            return top.output.last == 0x0A
        }
        let report = try JSONTree(parsing: top.output)
        #expect(try top.wait() == .exit(0))
        #expect(report["process"]?.integer == Int(run.process.pid))
        let source = try #require(report["sources"]?.elements?.first)
        #expect(source["name"]?.text == run.address)
        let readings = try #require(source["readings"])
        #expect("\(readings)" != "\(JSONTree.number("0"))", "\(source)")
        #expect(report["engine"]?["rings"]?.elements?.first?["slots"]?.integer == 8_192)
        let text = try Kymo.run(["top", "--once", "--data", folder.file("data")])
        #expect(text.end == .exit(0) && text.lines.count <= 24 && text.text.contains("process \(run.process.pid)"))
        #expect(try run.process.terminate().end == .exit(0))
    }

    @Test(arguments: [["--once"], []]) func withoutAnInstanceItFails(options: [String]) throws {
        let done = try Kymo.run(["top", "--data", folder.file("data")] + options)
        #expect(done.end == .exit(66) && done.output.isEmpty)
        #expect(done.error.contains("no instance runs in \(folder.file("data"))"))
    }
}
