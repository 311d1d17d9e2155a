package import Glibc

/// A program that a test started, ended with its last reference at the latest.
///
/// Output goes to files, so that a program never waits for a test to read, unless a test asks for a pipe.
package final class ChildProcess {
    /// Where the program reads from.
    package enum Input {
        /// Nothing to read.
        case null
        /// A file with these bytes.
        case bytes([UInt8])
        /// A pipe whose other end is ``ChildProcess/inputPipe``.
        case pipe
        /// What is open already, such as another program's output.
        case open(OpenFile)
    }

    /// Where the program's standard output goes.
    package enum Output {
        /// A file that ``ChildProcess/output`` reads.
        case file
        /// A pipe whose other end is ``ChildProcess/outputPipe``.
        case pipe
        /// An existing file or device.
        case path(String)
    }

    /// How a program ended.
    package enum End: Equatable {
        case exit(Int32)
        case signal(Int32)
    }

    package let pid: pid_t
    /// The end of a pipe to the program, until it is closed.
    package private(set) var inputPipe: OpenFile?
    /// The end of a pipe from the program, until it is closed.
    package private(set) var outputPipe: OpenFile?
    /// Whether the kernel has written a core file of it, or given one to a handler, when it ended.
    package private(set) var hasDumpedCore = false
    private let folder = TemporaryFolder()
    private var end: End?

    /// Starts `program`. `environment` is all that it gets besides PATH and a state folder of its own.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], directory: String? = nil,
        input: Input = .null, output: Output = .file
    ) throws {
        let (standardInput, inputEnd) = try ChildProcess.open(input, folder)
        let (standardOutput, outputEnd) = try ChildProcess.open(output, folder)
        let standardError = try OpenFile(creating: folder.file("stderr"))
        inputPipe = inputEnd
        outputPipe = outputEnd
        let path = "PATH=\(SharedMaterial.environment["PATH"] ?? "/usr/bin:/bin")"
        let state = "XDG_STATE_HOME=\(folder.file("state"))"
        pid = try Spawn.start(
            [program] + arguments, environment: [path, state] + environment.map { "\($0)=\($1)" }, directory: directory,
            descriptors: [standardInput.descriptor, standardOutput.descriptor, standardError.descriptor])
    }

    deinit {
        guard end == nil else { return }
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
    }

    /// What the program has written to standard output.
    package var output: [UInt8] { Files.read(folder.file("stdout")) }

    /// What the program has written to standard error.
    package var errorText: String { String(decoding: Files.read(folder.file("stderr")), as: UTF8.self) }

    /// Sends a signal.
    package func signal(_ number: Int32) { kill(pid, number) }

    /// Writes to the input pipe; false when the program reads no more.
    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool { inputPipe?.write(bytes) ?? false }

    /// Ends the program's input.
    package func closeInput() { inputPipe = nil }

    /// Stops reading the program's output, as a reader that ends does.
    package func closeOutput() { outputPipe = nil }

    /// Waits for the program's end.
    ///
    /// - Throws: ``WaitError`` after `seconds`.
    @discardableResult
    package func wait(seconds: Double = 60) throws -> End {
        if let end { return end }
        var status: Int32 = 0
        try Waiting.until("the end of process \(pid): \(errorText.suffix(600))", seconds: seconds) {
            unsafe waitpid(pid, &status, WNOHANG) == pid
        }
        let result = status & 0x7F == 0 ? End.exit(status >> 8 & 0xFF) : End.signal(status & 0x7F)
        end = result
        hasDumpedCore = status & 0x7F != 0 && status & 0x80 != 0
        return result
    }

    private static func open(_ input: Input, _ folder: TemporaryFolder) throws -> (OpenFile, OpenFile?) {
        switch input {
        case .null: return (try OpenFile(reading: "/dev/null"), nil)
        case .bytes(let bytes):
            Files.write(bytes, to: folder.file("stdin"))
            return (try OpenFile(reading: folder.file("stdin")), nil)
        case .pipe:
            let (reader, writer) = try OpenFile.pipe()
            return (reader, writer)
        case .open(let file): return (file, nil)
        }
    }

    private static func open(_ output: Output, _ folder: TemporaryFolder) throws -> (OpenFile, OpenFile?) {
        switch output {
        case .file: return (try OpenFile(creating: folder.file("stdout")), nil)
        case .path(let path): return (try OpenFile(writing: path), nil)
        case .pipe:
            let (reader, writer) = try OpenFile.pipe()
            return (writer, reader)
        }
    }
}
