import Glibc
import KymographCore

/// A message of a file or of standard input.
package struct InputMessage: Sendable {
    /// The file as it was named, `-` for standard input.
    package var file: String
    /// Its first line in the file, from 1.
    package var line: Int
    /// The message without its line end. Of one that is too long, its beginning, to show it.
    package var bytes: [UInt8]
    /// Whether it is longer than ``MessageReader/longest``.
    package var isTooLong = false

    /// Makes a message.
    package init(file: String, line: Int, bytes: [UInt8], isTooLong: Bool = false) {
        (self.file, self.line, self.bytes, self.isTooLong) = (file, line, bytes, isTooLong)
    }
}

/// Why messages cannot be read.
package struct MessageInputError: Error, Sendable {
    /// What is wrong, and what to do.
    package var message: String
    /// The exit status of a command that ends with it.
    package var exitCode = ExitStatus.noInput
}

extension MessageInputError {
    /// What this user may not read.
    static func forbidden(_ name: String) -> MessageInputError {
        MessageInputError(
            message: "\(name) cannot be read: permission denied; let this user read it (chmod, chown)",
            exitCode: ExitStatus.noPermission)
    }

    /// What does not exist, or cannot be read for another reason.
    static func missing(_ name: String, isMissing: Bool) -> MessageInputError {
        let cause = isMissing ? ": there is no such file" : ""
        return MessageInputError(message: "\(name) cannot be read\(cause); name a file or folder of messages")
    }
}

/// Reads the messages of a file or of standard input, a piece at a time: a file that is one JSON document is one
/// message, and so is one that is no text; any other has one message a line. Blank lines are passed over.
package struct MessageReader: ~Copyable {
    /// What is taken for a message.
    package enum Form: Sendable {
        /// The whole input.
        case whole
        /// A line, unless the first one shows that the input is one document.
        case lines
    }

    /// Longest message in bytes. More is needed for no device, and would be held in memory.
    package static let longest = 64 << 20
    private static let piece = 1 << 18
    /// Bytes that are kept of a message that is too long.
    private static let shown = 1_024

    private let file: String
    private let descriptor: Descriptor?
    private var form: Form
    private var isDecided: Bool
    private var buffer: [UInt8] = []
    private var start = 0
    private var line = 1
    private var hasEnded = false

    /// Opens `path`, nil or `-` for standard input.
    ///
    /// - Throws: ``MessageInputError`` when it cannot be opened.
    package init(_ path: String?, form: Form) throws(MessageInputError) {
        file = path ?? "-"
        self.form = form
        let name = file.lowercased()
        isDecided = form == .whole || MessageReader.isCalledLines(name)
        guard file != "-" else {
            descriptor = nil
            return
        }
        let raw = FileSystem.open(file, O_RDONLY)
        guard raw >= 0 else { throw MessageReader.unreadable(file, -raw) }
        descriptor = Descriptor(raw)
    }

    /// Whether a file of this name has one message a line.
    package static func isCalledLines(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasSuffix(".ndjson") || name.hasSuffix(".jsonl")
    }

    /// The first bytes of the file `path`.
    ///
    /// - Throws: ``MessageInputError`` when it cannot be read.
    static func beginning(of path: String) throws(MessageInputError) -> [UInt8] {
        var reader = try MessageReader(path, form: .whole)
        _ = try reader.fill()
        return reader.buffer
    }

    /// The next message, nil at the end.
    ///
    /// - Throws: ``MessageInputError`` when it cannot be read.
    package mutating func next() throws(MessageInputError) -> InputMessage? {
        if form == .whole { return try rest() }
        while let line = try nextLine() {
            let isBlank = line.bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            guard !isBlank else { continue }
            if !isDecided {
                isDecided = true
                if MessageReader.goesOn(line.bytes) || !MessageReader.isText(line.bytes)
                    || MessageReader.beginsMessage(line.bytes)
                {
                    form = .whole
                    buffer.replaceSubrange(..<start, with: line.bytes + [0x0A])
                    (start, self.line) = (0, line.line)
                    return try rest()
                }
            }
            return line
        }
        return nil
    }

    private mutating func nextLine() throws(MessageInputError) -> InputMessage? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0A) { return take(to: end, behind: end + 1) }
            searched = buffer.count
            if buffer.count - start > MessageReader.longest { return try skipLine() }
            guard try fill() else {
                return start < buffer.count ? take(to: buffer.count, behind: buffer.count) : nil
            }
            // Filling moves what is there to the beginning.
            searched -= moved
        }
    }

    private var moved = 0

    private mutating func take(to end: Int, behind next: Int) -> InputMessage {
        defer { (start, line) = (next, line + 1) }
        return InputMessage(file: file, line: line, bytes: Array(buffer[start..<end]))
    }

    /// Passes over a line that is too long.
    private mutating func skipLine() throws(MessageInputError) -> InputMessage {
        let shown = Array(buffer[start...].prefix(MessageReader.shown))
        start = buffer.count
        while true {
            if let end = buffer[start...].firstIndex(of: 0x0A) {
                start = end + 1
                break
            }
            start = buffer.count
            guard try fill() else { break }
        }
        defer { line += 1 }
        return InputMessage(file: file, line: line, bytes: shown, isTooLong: true)
    }

    /// What is left, as one message.
    private mutating func rest() throws(MessageInputError) -> InputMessage? {
        guard !hasEnded || start < buffer.count else { return nil }
        while buffer.count - start <= MessageReader.longest, try fill() {}
        let bytes = buffer[start...].prefix(hasEnded ? .max : MessageReader.shown)
        let message = InputMessage(file: file, line: line, bytes: Array(bytes), isTooLong: !hasEnded)
        (start, hasEnded) = (buffer.count, true)
        return message
    }

    /// Reads more; false at the end.
    private mutating func fill() throws(MessageInputError) -> Bool {
        moved = 0
        guard !hasEnded else { return false }
        if start > 0 {
            moved = start
            buffer.removeFirst(start)
            start = 0
        }
        guard let count = FileSystem.read(descriptor?.raw ?? STDIN_FILENO, MessageReader.piece, into: &buffer) else {
            throw MessageReader.unreadable(file, EIO)
        }
        hasEnded = count == 0
        return count > 0
    }

    private static func unreadable(_ file: String, _ code: Int32) -> MessageInputError {
        let name = file == "-" ? "standard input" : file
        guard code != EACCES else { return .forbidden(name) }
        return .missing(name, isMissing: code == ENOENT)
    }

    /// Whether a JSON document begins in `line` and does not end in it.
    private static func goesOn(_ line: [UInt8]) -> Bool {
        var (depth, isInText, isEscaped) = (0, false, false)
        for byte in line {
            if isInText {
                if byte == UInt8(ascii: "\""), !isEscaped { isInText = false }
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInText = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
        return depth > 0
    }

    /// Whether `line` is the first segment of a message of HL7 v2, whose other segments may be lines.
    private static func beginsMessage(_ line: [UInt8]) -> Bool { line.starts(with: Array("MSH|".utf8)) }

    private static func isText(_ line: [UInt8]) -> Bool {
        line.allSatisfy { $0 >= 0x20 || $0 == 0x09 || $0 == 0x0D } && String(validating: line, as: UTF8.self) != nil
    }
}
