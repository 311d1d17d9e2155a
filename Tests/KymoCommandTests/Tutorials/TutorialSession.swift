import CommandSupport
import Foundation
import Glibc

/// One shell, in which the steps of a tutorial are run one after another.
final class TutorialSession {
    /// What a step did that the page does not say.
    struct Surprise: Error, CustomStringConvertible {
        var description: String
    }

    private let folder: TutorialFolder
    private let control = TemporaryFolder()
    private let shell: ChildProcess
    /// How much of the output belongs to earlier steps, in bytes.
    private var seen = 0

    init(_ tutorial: Tutorial) throws {
        folder = try TutorialFolder(tutorial)
        // A session of its own, whose processes are ended together by its id.
        shell = try ChildProcess(
            "setsid", ["bash", "--norc"], environment: ["HOME": folder.path, "LC_ALL": "C.UTF-8"],
            directory: folder.path, input: .pipe)
        // What runs in the background writes to the same place, in the order in which it is written. A status of any
        // command but the last of a step is noted where it is not 0.
        shell.write(
            Array(
                """
                exec >>'\(control.file("output"))' 2>&1
                set -o pipefail
                PATH='\(folder.programs)':$PATH
                trap 'echo $? >>"\(control.file("failed"))"' ERR

                """.utf8))
    }

    deinit { kill(-shell.pid, SIGKILL) }

    /// Runs a step, and waits until it has printed what the page shows.
    ///
    /// - Throws: ``Surprise``, with what came instead.
    func run(_ step: TutorialStep) throws {
        Files.write(Array(folder.localised(step.script).utf8), to: control.file("step"))
        start()
        do {
            try Waiting.until("what the page shows") {
                guard let status else { return false }
                if status == step.expectedStatus, step.shown.matches(printed) { return true }
                if step.kind == .again {
                    // The reader looks again after a while.
                    usleep(100_000)
                    start()
                }
                return false
            }
            try checkStatuses(step)
        } catch is WaitError {
            let now = status.map { "exit status \($0)" } ?? "it has not ended"
            throw Surprise(description: "\(now), and it has printed:\n\(printed)")
        }
        seen = Files.read(control.file("output")).count
    }

    private func start() {
        seen = Files.read(control.file("output")).count
        for name in ["status", "failed"] { unsafe unlink(control.file(name)) }
        let file = control.file("status")
        shell.write(
            Array(". '\(control.file("step"))' </dev/null; echo $? >'\(file).new'; mv '\(file).new' '\(file)'\n".utf8))
    }

    /// The status of the step's last command, once it has ended.
    private var status: Int32? {
        Int32(Files.text(control.file("status")).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// What the step, and what runs in the background, have printed since it began.
    private var printed: String {
        folder.asOnPage(String(decoding: Files.read(control.file("output")).dropFirst(seen), as: UTF8.self))
    }

    /// Every command but the last must have exited with 0. The status of the last is noted, too, and that of the whole.
    private func checkStatuses(_ step: TutorialStep) throws {
        let failed = Files.text(control.file("failed")).split(separator: "\n").compactMap { Int32($0) }
        let isAsStated = step.expectedStatus == 0 ? failed.isEmpty : failed.count <= 2
        guard isAsStated, failed.allSatisfy({ $0 == step.expectedStatus }) else {
            throw Surprise(description: "commands of the step have exited with \(failed); it has printed:\n\(printed)")
        }
    }
}
