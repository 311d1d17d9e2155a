import CKymographLinux
import Glibc

/// A serial line and how it is set, always raw and without flow control. It need not be there when the lane begins, and
/// may be unplugged: the lane waits for it.
package struct SerialLine: WrittenSource {
    /// What is sent besides the data bits, to find errors on the way.
    package enum Parity: Character, Sendable {
        /// Nothing.
        case none = "N"
        /// A bit that makes the number of ones even.
        case even = "E"
        /// A bit that makes the number of ones odd.
        case odd = "O"
    }

    /// The device, such as `/dev/ttyUSB0`; better one of `/dev/serial/by-id/`, which stays when the line is unplugged.
    package var path: String
    /// Bits per second.
    package var speed: Int
    /// Bits of a character, 5 to 8.
    package var dataBits = 8
    /// The parity bit.
    package var parity = Parity.none
    /// Stop bits, 1 or 2.
    package var stopBits = 1

    /// Makes a line with 8N1.
    package init(path: String, speed: Int) {
        self.path = path
        self.speed = speed
    }

    /// Reads `/dev/ttyUSB0:115200` or `/dev/ttyUSB0:9600,7E1`. The path may have colons.
    ///
    /// - Throws: ``SourceError`` of kind ``SourceError/Kind/invalidAddress``.
    package init(parsing text: String) throws(SourceError) {
        guard let colon = text.lastIndex(of: ":"), colon > text.startIndex else {
            throw .invalidLine(text, "it has no speed; write /dev/ttyUSB0:115200 or /dev/ttyUSB0:115200,8N1")
        }
        let words = text[text.index(after: colon)...].split(separator: ",", omittingEmptySubsequences: false)
        guard words.count <= 2, let first = words.first, let speed = Int(first), speed > 0 else {
            throw .invalidLine(text, "write the speed after the path, as in /dev/ttyUSB0:115200,8N1")
        }
        guard kymo_serial_has_speed(Int32(clamping: speed)) != 0 else {
            throw .invalidLine(text, "\(speed) is no speed of serial lines; usual ones are 9600, 57600 and 115200")
        }
        self.init(path: String(text[..<colon]), speed: speed)
        if words.count == 2 { try setCharacters(words[1], of: text) }
    }

    private mutating func setCharacters(_ word: Substring, of text: String) throws(SourceError) {
        let marks = Array(word.uppercased())
        guard marks.count == 3, let bits = marks[0].wholeNumberValue, 5...8 ~= bits,
            let parity = Parity(rawValue: marks[1]), let stops = marks[2].wholeNumberValue, 1...2 ~= stops
        else {
            throw .invalidLine(
                text, "'\(word)' is not data bits (5 to 8), parity (N, E, O) and stop bits (1, 2); write 8N1")
        }
        (dataBits, self.parity, stopBits) = (bits, parity, stops)
    }

    /// What all serial lines have in common.
    package static let descriptor: SourceDescriptor = {
        var descriptor = SourceDescriptor(
            key: "serial", form: "path and speed", about: "Serial line, such as `/dev/ttyUSB0:115200,8N1`",
            flag: .option(help: "Read a serial line: /dev/ttyUSB0:115200,8N1. Repeatable.", valueName: "path:speed"),
            capabilities: [.framing, .openEnds]
        ) { (text) throws(SettingProblem) in
            do throws(SourceError) {
                return try SerialLine(parsing: text)
            } catch {
                throw SettingProblem(message: error.message)
            }
        }
        descriptor.splitsAtCommas = false
        return descriptor
    }()

    /// `serial /dev/ttyUSB0`.
    package var name: String { "serial \(path)" }
    /// `/dev/ttyUSB0:115200,8N1`.
    package var text: String { "\(path):\(speed),\(dataBits)\(parity.rawValue)\(stopBits)" }
    /// The line.
    package var claim: String? { "the line \(path)" }

    /// Opens the line. One that is not there is waited for; everything else that is wrong shows at the start.
    ///
    /// - Throws: ``SourceError`` when the line is there and cannot be opened or set up.
    package func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        var descriptor = Descriptor(-1)
        do throws(SourceError) {
            descriptor = try openLine()
        } catch {
            guard error.kind == .missing else { throw error }
        }
        return OpenedSource(
            self, descriptor,
            .returningStream { [self] () throws(SourceError) in try openLine() })
    }

    /// Opens the line for this process alone and sets it. What came before is dropped.
    ///
    /// - Throws: ``SourceError``; of kind ``SourceError/Kind/missing`` when there is no such device now.
    private func openLine() throws(SourceError) -> Descriptor {
        let mark = Int32(parity.rawValue.asciiValue ?? 0)
        // Safe: Swift lends the path as a C string for the call.
        let raw = unsafe kymo_serial_open(path, Int32(speed), Int32(dataBits), mark, Int32(stopBits))
        guard raw >= 0 else { throw .serial(-raw, "serial \(path)") }
        return Descriptor(raw)
    }
}

extension SerialLine: FileChangingSource {
    /// A device that is plugged in again is another file: so all of `/dev`, where links from elsewhere lead, too.
    package var writePlaces: [WritePlace] { path.hasPrefix("/dev/") ? [.devices] : [.devices, .file(path)] }
}

extension SerialLine: ProbedSource {
    /// Looks at the device. It is not opened: many devices begin from scratch when it is.
    ///
    /// - Throws: ``SourceError`` when it is not there, or may not be used.
    package func probe(_ configuration: SourceConfiguration) throws(SourceError) {
        let code = FileSystem.access(path, R_OK | W_OK)
        guard code >= 0 else { throw .serial(-code, "serial \(path)") }
    }
}

extension SourceAddress where Self == SerialLine {
    /// A serial line.
    package static func serial(_ line: SerialLine) -> SerialLine { line }
}

extension SourceError {
    fileprivate static func invalidLine(_ text: String, _ advice: String) -> SourceError {
        SourceError(kind: .invalidAddress, message: "'\(text)' is no serial line: \(advice)")
    }

    /// The error for errno `code` (positive) of opening a serial line.
    fileprivate static func serial(_ code: Int32, _ name: String) -> SourceError {
        let (kind, advice): (Kind, String) =
            switch code {
            case ENOENT, ENXIO, ENODEV: (.missing, "plug the device in")
            case EACCES, EPERM: (.permission, "add the user to the group of the device, mostly dialout")
            case EBUSY, EWOULDBLOCK: (.addressInUse, "another process has it open: end that one")
            case ENOTTY: (.invalidAddress, "it is not a serial line")
            case EINVAL: (.invalidAddress, "the line cannot be set like this: change speed, bits or parity")
            default: (.system(code), "look at the kernel's log")
            }
        return SourceError(kind: kind, message: "cannot open \(name): \(ErrorText.of(code)); \(advice)")
    }
}
