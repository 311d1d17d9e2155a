import CommandSupport
import Foundation
import Glibc
import TrialSupport

/// Makes a mistake in a folder of its own.
struct MistakeRun {
    /// What takes the place of the device `watch-1` in all that the program reads, as long as that. Seeded, so that no
    /// message has it by chance.
    static let device = "z" + String(36 * 36 * 36 * 36 * 36 + Trials.seed(7) % (35 * 36 * 36 * 36 * 36), radix: 36)
    /// The patient of the reading in the store.
    static let patient = "y" + device.dropFirst()
    private static let reading = Readings.heartRate(second: 0, device: device)
        .replacing("{", with: "{\"patientId\":\"\(patient)\",\"encounterId\":\"e-\(patient)\",")

    /// Where any user may run the program. It goes with the process, which does not end its static values.
    private static let publicFolder: TemporaryFolder = {
        let folder = TemporaryFolder()
        unsafe chmod(folder.path, 0o755)
        atexit { try? FileManager.default.removeItem(atPath: MistakeRun.publicFolder.path) }
        return folder
    }()

    /// The program there.
    static let publicProgram: String? = {
        let path = publicFolder.file("kymo")
        return (try? FileManager.default.copyItem(atPath: Kymo.path, toPath: path)) != nil ? path : nil
    }()

    private let mistake: Mistake
    private let folder = TemporaryFolder()
    private var port: UInt16 = 0
    private var held: Int32 = -1

    init(_ mistake: Mistake) throws {
        self.mistake = mistake
        // A folder that all can write has a finding of its own.
        unsafe chmod(folder.path, mistake.needs.contains(.ordinaryUser) ? 0o777 : 0o755)
        for (name, bytes) in mistake.files {
            let path = folder.file(name)
            try FileManager.default.createDirectory(
                at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
            Files.write(Self.seeded(bytes), to: path)
        }
        if mistake.needs.contains(.store) || mistake.needs.contains(.instance) { try makeStore() }
        for name in mistake.shared { unsafe chmod(folder.file(name), 0o644) }
        for name in mistake.locked { unsafe chmod(folder.file(name), 0) }
        if mistake.needs.contains(.freePort) { port = try FreePort.find() }
        for (need, kind) in [(Mistake.Need.udpPort, SOCK_DGRAM), (.tcpPort, SOCK_STREAM)] {
            if mistake.needs.contains(need) { (held, port) = try FreePort.bound(kind, 0) }
        }
        if case .answer? = mistake.needs.first { (held, port) = try FreePort.bound(SOCK_STREAM, 0) }
        if held >= 0 { listen(held, 1) }
        if case .answer(let text)? = mistake.needs.first { Self.answer(text, at: held) }
    }

    /// Gives the first connection at `listener` the answer `text`, unless that is shut down before.
    private static func answer(_ text: String, at listener: Int32) {
        Thread.detachNewThread {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            var request = [UInt8](repeating: 0, count: 1 << 16)
            let answer = Array(text.utf8)
            // Safe: both arrays are as long as is said.
            let size = unsafe read(connection, &request, request.count)
            if size > 0 { _ = unsafe write(connection, answer, answer.count) }
            close(connection)
        }
    }

    /// The exit status, and all that was said.
    func finish() throws -> (end: ChildProcess.End, text: String) {
        defer {
            if held >= 0 {
                shutdown(held, Int32(SHUT_RDWR))
                close(held)
            }
        }
        let instance = mistake.needs.contains(.instance) ? try startInstance() : nil
        defer { withExtendedLifetime(instance) {} }
        var words = mistake.arguments.map { $0.replacing("{port}", with: "\(port)") }
        words.insert(Kymo.path, at: 0)
        if mistake.needs.contains(.ordinaryUser), let program = Self.publicProgram {
            words[0] = program
            if getuid() == 0 { words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"] + words }
        }
        if mistake.needs.contains(.closedInput) { words = ["sh", "-c", "exec \"$@\" <&-", "sh"] + words }
        if mistake.needs.contains(.closedOutput) { words = ["sh", "-c", "exec \"$@\" >&-", "sh"] + words }
        let child = try ChildProcess(
            words[0], Array(words.dropFirst()), environment: mistake.environment, directory: folder.path,
            input: .bytes(Self.seeded(mistake.input)),
            output: mistake.needs.contains(.fullOutput) ? .path("/dev/full") : .file)
        let done = try child.finish()
        let text = done.error + done.text
        return (done.end, port == 0 ? text : text.replacing("\(port)", with: "{port}"))
    }

    private static func seeded(_ bytes: [UInt8]) -> [UInt8] {
        bytes.replacing(Array("watch-1".utf8), with: Array(device.utf8))
    }

    private func makeStore() throws {
        let input = Array("\(Self.reading)\n{\"a\":1}\n".utf8)
        let done = try Kymo.run(["run", "--stdin", "--data", folder.file("store")], input: .bytes(input))
        guard done.end == .exit(0) else { throw WaitError(description: done.error) }
    }

    private func startInstance() throws -> ChildProcess {
        let instance = try Kymo.start(["run", "--udp", "127.0.0.1:0", "--data", folder.file("store")])
        _ = try instance.addresses()
        return instance
    }
}
