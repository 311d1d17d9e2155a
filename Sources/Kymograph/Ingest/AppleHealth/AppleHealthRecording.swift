import KymographCore

/// An electrocardiogram of an export, which is a file of its own: ten lines of a label and a value, then a voltage in
/// each line.
///
///     Name,…                                    Lead,Lead I
///     Date of Birth,"Jan 15, 1990"              Unit,µV
///     Recorded Date,2026-08-03 10:00:00 +0200
///     Classification,Sinus Rhythm               -265.868
///     Symptoms,                                 -271.819
///     Software Version,1.90
///     Device,"Watch6,7"
///     Sample Rate,512 hertz
///
/// Apple does not describe the format: this is that of files in public repositories. Labels and some values are in the
/// language of the phone, decimals may have its comma, so that values are known by their order behind the only one that
/// is a time with a zone. It makes a file one of these; what stands before it, name and birthday, is not kept.
struct AppleHealthRecording: ~Copyable {
    /// What a file has turned out to be.
    enum Outcome: Equatable {
        /// No electrocardiogram.
        case other
        /// One, whose document is in ``view``.
        case document
        /// One that cannot be read.
        case rejected(Rejection)
    }

    private enum State {
        case header
        case voltages
        case other
    }

    /// More lines, and longer ones, than the header of any has.
    private static let mostLines = 16
    private static let mostLineBytes = 512
    /// Values that say that voltages follow: the signs are U+00B5 and U+03BC.
    private static let units: [StaticString] = ["\u{B5}V", "\u{3BC}V", "uV", "mcV", "mV"]

    private let patient: IdentifierText
    private let cap: Int
    private var state = State.header
    /// Whether there was a time, so that the file is one of these, whatever follows.
    private var isRecording = false
    /// Whether the line is longer than any may be.
    private var isLong = false
    private var line = ByteWriter(capacity: AppleHealthRecording.mostLineBytes)
    private var values: [[UInt8]] = []
    private var voltages = ByteWriter(capacity: 1_024)
    /// The sign before decimals, once there were any.
    private var point: UInt8?
    private var fault: Rejection?
    private var text = ByteWriter(capacity: 1_024)
    private var shown = ByteWriter(capacity: 1_024)

    /// Files of `patient`, whose documents have at most `cap` bytes.
    init(patient: IdentifierText, cap: Int) {
        self.patient = patient
        self.cap = cap
    }

    /// The document, once the file has ended as one.
    var view: ByteView { text.view }

    /// Bytes of a file that is rejected, from its last time on, or its voltages when it has none: as many as a document
    /// may have.
    var rejected: ByteView { shown.view }

    /// Expects the beginning of a file.
    mutating func begin() {
        state = .header
        line.removeAll()
        values.removeAll()
        voltages.removeAll()
        shown.removeAll()
        (point, fault) = (nil, nil)
        (isRecording, isLong) = (false, false)
    }

    /// Notes that the file is something else.
    mutating func giveUp() { state = .other }

    @inline(__always)
    mutating func take(_ byte: UInt8) {
        if case .other = state { return }
        guard byte != 0x0A else { return endLine() }
        if line.count < Self.mostLineBytes { line.append(byte) } else { isLong = true }
    }

    /// What the file was, whose end is here, or which ends for `reason`.
    mutating func end(for reason: Rejection?) -> Outcome {
        if reason == nil { endLine() }
        switch state {
        case .header where isRecording: return .rejected(reason ?? .frameMalformed)
        case .header, .other: return .other
        case .voltages: break
        }
        if let reason { return .rejected(reason) }
        if let fault { return .rejected(fault) }
        guard voltages.count > 0 else { return .rejected(.frameIncomplete) }
        guard write() else { return .rejected(.frameMalformed) }
        return text.count <= cap ? .document : .rejected(.frameTooLong)
    }

    // MARK: Lines

    private mutating func endLine() {
        defer {
            line.removeAll()
            isLong = false
        }
        let end = line.count > 0 && line.view[line.count - 1] == 0x0D ? line.count - 1 : line.count
        guard end > 0 else { return }
        switch state {
        case .header: readHeader(line.view(0..<end))
        case .voltages: readVoltage(line.view(0..<end))
        case .other: break
        }
    }

    /// Ends a header that is none: of something else before its time, and of a broken recording behind it.
    private mutating func breakHeader(_ bytes: ByteView) {
        guard isRecording else { return state = .other }
        show(bytes)
        (state, fault) = (.voltages, .frameMalformed)
    }

    private mutating func show(_ bytes: ByteView) {
        shown.append(bytes[0..<min(bytes.count, max(0, cap - shown.count))])
        if shown.count < cap { shown.append(0x0A) }
    }

    private mutating func readHeader(_ bytes: ByteView) {
        let isOther = values.count >= Self.mostLines || bytes[0] == UInt8(ascii: "<") || isLong && isRecording
        guard !isOther else { return breakHeader(bytes) }
        // A long name, for example.
        guard !isLong else { return values.append([]) }
        let comma = bytes.firstIndex(of: UInt8(ascii: ","), from: 0)
        let value = comma.map { Self.unquoted(bytes[($0 + 1)..<bytes.count]) } ?? []
        values.append(value)
        if Self.time(value) != nil {
            isRecording = true
            // A name may have several lines, and a birthday be such a time: what stands before another one is not kept.
            shown.removeAll()
        }
        // Not the name nor the birthday.
        if isRecording, values.count > 2 { show(bytes) }
        let isUnit = value.withByteView { value in Self.units.contains { value.equals(ByteView($0)) } }
        if isUnit { state = .voltages }
    }

    /// A value without its quotes (RFC 4180, section 2).
    private static func unquoted(_ bytes: ByteView) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        guard bytes.count > 1, bytes[0] == quote, bytes[bytes.count - 1] == quote else { return bytes.array }
        var value: [UInt8] = []
        var place = 1
        while place < bytes.count - 1 {
            value.append(bytes[place])
            place += bytes[place] == quote && bytes[place + 1] == quote && place + 2 < bytes.count ? 2 : 1
        }
        return value
    }

    private mutating func readVoltage(_ bytes: ByteView) {
        show(bytes)
        guard fault == nil else { return }
        guard !isLong else { return fault = .frameMalformed }
        guard let number = number(Self.unquoted(bytes)) else { return fault = .frameMalformed }
        if voltages.count > 0 { voltages.append(",") }
        voltages.append(number)
        if voltages.count > cap { fault = .frameTooLong }
    }

    /// `text` with a point before its decimals; nil when it is no number, or has another sign there than those before
    /// it: one of the two parts thousands.
    private mutating func number(_ text: [UInt8]) -> [UInt8]? {
        guard let place = text.firstIndex(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") }) else {
            return text.withByteView { PlainText.isNumber($0) } ? text : nil
        }
        guard point == nil || point == text[place] else { return nil }
        point = text[place]
        var number = text
        number[place] = UInt8(ascii: ".")
        return number.withByteView { PlainText.isNumber($0) } ? number : nil
    }

    // MARK: The document

    /// Writes the document; false when the header does not have what it must.
    private mutating func write() -> Bool {
        let times = values.indices.compactMap { index in Self.time(values[index]).map { (index, $0) } }
        // Classification, symptoms, version, device and rate follow the time; lead and unit are last.
        guard times.count == 1, let (place, instant) = times.first, values.count >= place + 8,
            let rate = Self.rate(values[place + 5])
        else { return false }
        text.removeAll()
        text.append("{\"element\":\"Electrocardiogram\",\"patientId\":\"")
        patient.utf8.withByteView { text.appendJSON($0) }
        text.append("\"")
        writeDevice(values[place + 4])
        write(",\"startDate\":\"", values[place])
        text.append(",\"startUtc\":\"")
        text.append(instant)
        text.append("\"")
        write(",\"classification\":\"", values[place + 1])
        write(",\"symptoms\":\"", values[place + 2])
        write(",\"softwareVersion\":\"", values[place + 3])
        write(",\"device\":\"", values[place + 4])
        write(",\"lead\":\"", values[values.count - 2])
        write(",\"unit\":\"", values[values.count - 1])
        text.append(",\"samplesPerSecond\":")
        text.append(rate)
        text.append(",\"samples\":[")
        text.append(voltages.view)
        text.append("]}")
        return true
    }

    /// Leaves out what the file does not say.
    private mutating func write(_ member: StaticString, _ value: [UInt8]) {
        guard !value.isEmpty else { return }
        text.append(member)
        value.withByteView { text.appendJSON($0) }
        text.append("\"")
    }

    /// A model of watch is other people's, too.
    private mutating func writeDevice(_ value: [UInt8]) {
        guard !value.isEmpty else { return }
        text.append(",\"deviceId\":\"")
        value.withByteView { text.appendJSON($0) }
        text.append(".")
        patient.utf8.withByteView { text.appendJSON($0) }
        text.append("\"")
    }

    private static func time(_ value: [UInt8]) -> Instant? {
        value.withByteView { view in
            view.withPadding { TimestampParser.iso8601($0).flatMap { $0.isLocal ? nil : $0.instant } }
        }
    }

    /// The number of a rate in hertz, whose name differs among languages; nil when it is in something else.
    private static func rate(_ value: [UInt8]) -> [UInt8]? {
        let digits = value.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == 0x2C || $0 == 0x2E }
        let number = digits.map { $0 == UInt8(ascii: ",") ? UInt8(ascii: ".") : $0 }
        // Blanks are those of ASCII, or U+00A0 and U+202F.
        let name = value.dropFirst(digits.count).drop { [0x20, 0xC2, 0xA0, 0xE2, 0x80, 0xAF].contains($0) }
        guard let first = name.first, first | 0x20 == UInt8(ascii: "h") || first >= 0x80 else { return nil }
        return number.withByteView { PlainText.isNumber($0) } ? number : nil
    }
}
