/// Finds packets in what people copy from their terminals: the output of `gatttool`, `bluetoothctl` and `btmon`, and
/// the log of nRF Connect. All other lines are passed over.
package struct TextCapture {
    /// What the lines so far have begun.
    private enum Open {
        case nothing
        /// Bytes of an attribute that `bluetoothctl` dumps, line by line.
        case dump(CapturedPacket)
        /// A notification of `btmon` without its handle yet, and with it.
        case notification
        case handle(UInt16)
    }

    /// Bytes in a full line of a dump.
    private static let dumpWidth = 16
    /// Bytes of the longest value of a characteristic (Bluetooth Core, volume 3, part F, section 3.2.9).
    private static let longestValue = 512

    private var open = Open.nothing
    /// The device that `gatttool` shows in its prompt.
    private var prompt: IdentifierText?

    /// Begins.
    package init() {}

    /// All packets of a recording.
    package static func packets(of bytes: [UInt8]) -> [CapturedPacket] {
        var capture = TextCapture()
        // Prompts are drawn again and again on one line, with carriage returns between.
        let lines = bytes.split { $0 == 0x0A || $0 == 0x0D }
        return lines.flatMap { capture.packets(in: String(decoding: $0, as: UTF8.self)) } + capture.finish()
    }

    /// Takes the next line, and gives the packets that are now complete.
    package mutating func packets(in line: some StringProtocol) -> [CapturedPacket] {
        let text = TextCapture.plain(line)
        var found: [CapturedPacket] = []
        if case .dump(var packet) = open {
            if let bytes = TextCapture.dumped(text) {
                packet.value += bytes
                guard packet.value.count <= TextCapture.longestValue else {
                    open = .nothing
                    return []
                }
                open = .dump(packet)
                // A line that is not full is the last one.
                return bytes.count < TextCapture.dumpWidth ? finish() : []
            }
            found += finish()
        }
        if let packet = announced(text) { found.append(packet) } else { begin(text, &found) }
        return found
    }

    /// Gives the packet that the last lines have begun.
    package mutating func finish() -> [CapturedPacket] {
        defer { open = .nothing }
        guard case .dump(let packet) = open, !packet.value.isEmpty else { return [] }
        return [packet]
    }

    // MARK: One line a packet

    /// `Notification handle = 0x0012 value: 16 3c` of gatttool, or `Notification received from 00002a37-…, value: (0x)
    /// 16-3C` of nRF Connect; indications alike.
    private mutating func announced(_ text: String) -> CapturedPacket? {
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            let address = String(text[text.index(after: text.startIndex)..<end])
            if TextCapture.isAddress(address) { prompt = IdentifierText(String(address)) }
        }
        if let handle = TextCapture.between(text, " handle = ", " value:"),
            let number = TextCapture.hexNumber(handle), let tail = TextCapture.after(text, " value:"),
            let value = TextCapture.bytes(tail)
        {
            return CapturedPacket(device: prompt, name: .handle(number), value: value)
        }
        if let uuid = TextCapture.between(text, " received from ", ", value: (0x)"),
            let tail = TextCapture.after(text, ", value: (0x)"), let value = TextCapture.bytes(tail),
            uuid.allSatisfy({ $0.isHexDigit || $0 == "-" })
        {
            return CapturedPacket(name: .uuid(uuid), value: value)
        }
        return nil
    }

    // MARK: Several lines a packet

    private mutating func begin(_ text: String, _ found: inout [CapturedPacket]) {
        if let path = TextCapture.between(text, "Attribute /org/bluez/", " Value:") {
            if let packet = TextCapture.attribute(path) { open = .dump(packet) }
            return
        }
        if text.hasPrefix("ATT: Handle Value") {
            open = .notification
            return
        }
        switch open {
        case .notification:
            let handle = TextCapture.after(text, "Handle: ").flatMap { TextCapture.hexNumber($0.prefix { $0 != " " }) }
            open = handle.map { .handle($0) } ?? .nothing
        case .handle(let handle):
            open = .nothing
            guard text.hasPrefix("Data"), let tail = TextCapture.after(text, ": "),
                let value = TextCapture.bytes(tail)
            else { return }
            found.append(CapturedPacket(name: .handle(handle), value: value))
        case .nothing, .dump: break
        }
    }

    /// `hci0/dev_A0_9E_1A_5B_3C_01/service000b/char000c`: the value is at the handle behind its declaration, which
    /// BlueZ names.
    private static func attribute(_ path: String) -> CapturedPacket? {
        let parts = path.split(separator: "/")
        guard let device = parts.first(where: { $0.hasPrefix("dev_") }),
            let characteristic = parts.last, characteristic.hasPrefix("char"),
            let handle = UInt16(characteristic.dropFirst(4), radix: 16), handle < .max
        else { return nil }
        return CapturedPacket(
            device: IdentifierText(String(device.dropFirst(4)).replacing("_", with: ":")), name: .handle(handle + 1),
            value: [])
    }

    /// The bytes of a line of a dump, which has them in text behind two blanks; nil when it is none.
    private static func dumped(_ text: String) -> [UInt8]? {
        let digits = between(text + "  ", "", "  ") ?? text
        return digits.isEmpty ? nil : bytes(digits)
    }

    // MARK: Parts of lines

    /// The line without what terminals colour it with, and without blanks around it.
    private static func plain(_ line: some StringProtocol) -> String {
        var text = ""
        var inEscape = false
        for scalar in line.unicodeScalars {
            if inEscape {
                // A control sequence ends with a letter.
                if scalar.properties.isAlphabetic { inEscape = false }
            } else if scalar == "\u{1B}" {
                inEscape = true
            } else if scalar.value >= 0x20 {
                text.unicodeScalars.append(scalar)
            }
        }
        let trimmed = text.drop { $0 == " " }
        return String(trimmed.reversed().drop { $0 == " " }.reversed())
    }

    private static func after(_ text: String, _ mark: String) -> Substring? {
        text.firstRange(of: mark).map { text[$0.upperBound...] }
    }

    private static func between(_ text: String, _ start: String, _ end: String) -> String? {
        guard let tail = start.isEmpty ? text[...] : after(text, start), let found = tail.firstRange(of: end) else {
            return nil
        }
        return String(tail[..<found.lowerBound])
    }

    private static func hexNumber(_ text: some StringProtocol) -> UInt16? {
        text.hasPrefix("0x") ? UInt16(text.dropFirst(2), radix: 16) : nil
    }

    /// Pairs of digits, with or without a blank or hyphen between; nil when it is something else.
    private static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = text.filter { $0 != " " && $0 != "-" }
        guard digits.count.isMultiple(of: 2), digits.allSatisfy({ $0.isHexDigit && $0.isASCII }) else { return nil }
        let nibbles = digits.compactMap { $0.hexDigitValue.map { UInt8($0) } }
        return stride(from: 0, to: nibbles.count, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] }
    }

    private static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 6 && parts.allSatisfy { $0.count == 2 && $0.allSatisfy(\.isHexDigit) }
    }
}
