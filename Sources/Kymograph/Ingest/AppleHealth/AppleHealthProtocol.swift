import KymographCore

/// `export.xml` of Apple Health, or the archive with it: each record, blood pressure, meal, workout and
/// electrocardiogram becomes a JSON document (docs/tutorials/apple-health.md).
///
/// No reader for XML of all kinds: exports of iOS 16 declare elements wrongly (DTD), and values have control
/// characters, both of which such readers must refuse. Elements are found by their tags alone, and one that is broken
/// is rejected by itself.
final class AppleHealthProtocol: StreamProtocol {
    static let descriptor = FramingDescriptor(name: "apple-health") {
        (options) throws(SettingProblem) -> CustomFraming in
        let patient = IdentifierText(try AppleHealthProtocol.patient(options))
        let text = "apple-health,patient=\(patient)"
        let content = CustomFraming(text: text, hidesCuts: false) { AppleHealthProtocol(patient: patient, cap: $0) }
        return CustomFraming(text: text, hidesCuts: false) {
            RecognisingProtocol(.custom(content), cap: $0, formats: CompressionFormat.ofFiles + [.zip])
        }
    }

    /// Whose readings these are. Not in the export, which has no identifier of anybody. It may have commas.
    private static func patient(_ options: [String]) throws(SettingProblem) -> String {
        let text = options.joined(separator: ",")
        guard text.hasPrefix("patient="), !IdentifierText(String(text.dropFirst(8))).isBlank else {
            throw SettingProblem(
                message: "'apple-health' does not say whose readings the export has",
                advice: "write the patient's identifier: apple-health,patient=p-0042")
        }
        return try IdentifierSetting.parse(String(text.dropFirst(8)), "patient")
    }

    private enum Place: Equatable {
        /// Before the element that holds all others, of whose beginning so many bytes have come; and behind it.
        case outside(Int)
        /// Between tags.
        case between
        /// In a tag, and in a value that this quote ends.
        case tag(UInt8?)
        /// In a comment, behind so many hyphens, two at most (XML 1.0, section 2.5): what looks like a record is none.
        case comment(Int)
    }

    /// An element that is not complete.
    private struct Element {
        var name: [UInt8]
        /// Whether a tag of it could not be read.
        var isBroken: Bool
        /// Elements within it that are not complete.
        var depth = 0

        /// Whether an element called `name` cannot be in it, so that its own end is missing.
        func excludes(_ name: ByteView) -> Bool {
            if name.equals(ByteView("Record")) { return depth > 0 || self.name != Array("Correlation".utf8) }
            return name.equals(ByteView("Correlation")) || name.equals(ByteView("Workout"))
        }
    }

    private static let beginning = Array("<HealthData".utf8)
    /// Bytes that are shown of input that is no export, nor a table: its first line may be a name.
    private static let mostShown = 1_024

    private let cap: Int
    private var place = Place.outside(0)
    /// Whether there was an export.
    private var hasExport = false
    /// Whether there was a file that is neither an export nor an electrocardiogram.
    private var hasOther = false
    private var tag = ByteWriter(capacity: 1_024)
    private var element: Element?
    /// The bytes of ``element``, or of the tag that is rejected.
    private var raw = ByteWriter(capacity: 1_024)
    private var document: AppleHealthDocument
    private var pressures = AppleHealthPressures()
    private var recording: AppleHealthRecording

    /// Readings of `patient`, of elements of at most `cap` bytes.
    init(patient: IdentifierText, cap: Int) {
        self.cap = cap
        document = AppleHealthDocument(patient: patient)
        recording = AppleHealthRecording(patient: patient, cap: cap)
    }

    /// Whoever pipes a file in asks for nothing.
    var acknowledging: Acknowledging { .never }

    func take(
        _ piece: StreamPiece, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        for index in 0..<piece.bytes.count { take(piece.bytes[index], &intake, &consumer) }
        return true
    }

    func end(
        _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        var reason: Rejection?
        if case .cut(let cut) = ending { reason = cut }
        endFile(for: reason, &intake, &consumer)
        guard !hasExport, hasOther else { return }
        if mayHaveName { raw.removeAll() }
        reject(reason ?? .frameMalformed, &intake, &consumer)
    }

    /// Whether ``raw`` may be the header of an electrocardiogram, which begins with a name and a birthday.
    private var mayHaveName: Bool {
        raw.count > 0 && raw.view[0] != Self.beginning[0]
            && [",", ";", "\t"].contains { raw.view.firstIndex(of: UInt8(ascii: $0), from: 0) != nil }
    }

    /// An archive has a file for each electrocardiogram, beside that of the records.
    func fileEnded(_ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable) {
        endFile(for: nil, isOfArchive: true, &intake, &consumer)
        raw.removeAll()
    }

    private func endFile(
        for reason: Rejection?, isOfArchive: Bool = false, _ intake: inout StreamIntake,
        _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        if case .outside = place {
            // A file of an archive without content, too: it may be all that there is of the export.
            let isRecording = endRecording(for: reason, &intake, &consumer)
            if !isRecording, isOfArchive || raw.count > 0 { hasOther = true }
        } else {
            // Also when it ends between elements: others may be missing.
            if place != .between { keep(tag.view) }
            reject(reason ?? .frameIncomplete, &intake, &consumer)
        }
        place = .outside(0)
        recording.begin()
        handOnPressures(&intake, &consumer)
    }

    /// Whether the file that ends is an electrocardiogram, which is handed on or rejected.
    private func endRecording(
        for reason: Rejection?, _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        let outcome = recording.end(for: reason)
        guard outcome != .other else { return false }
        raw.removeAll()
        if case .rejected(let reason) = outcome {
            recording.rejected.withPadding { intake.reject(reason, $0, to: &consumer) }
        } else {
            recording.view.withPadding { intake.payload($0, to: &consumer) }
        }
        return true
    }

    // MARK: Tags

    private func take(
        _ byte: UInt8, _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        switch place {
        case .outside(let matching):
            recording.take(byte)
            look(for: matching, byte)
        case .between: if byte == UInt8(ascii: "<") { beginTag() }
        case .tag(let quote):
            // No value has one as it is (XML 1.0, section 2.3): what came before has no end.
            if byte == UInt8(ascii: "<") { return breakTag(&intake, &consumer) }
            guard tag.count < cap else { return giveUpTag(&intake, &consumer) }
            tag.append(byte)
            if tag.count == 4, tag.view.equals(ByteView("<!--")) { return place = .comment(0) }
            if quote != nil {
                if byte == quote { place = .tag(nil) }
            } else if XMLTag.isQuote(byte) {
                place = .tag(byte)
            } else if byte == UInt8(ascii: ">") {
                place = .between
                endTag(&intake, &consumer)
            }
        case .comment(let hyphens):
            if byte == UInt8(ascii: ">"), hyphens == 2 { return place = .between }
            place = .comment(byte == UInt8(ascii: "-") ? min(hyphens + 1, 2) : 0)
        }
    }

    /// Looks whether `byte` is the next one of the export's beginning, of which `matching` have come.
    private func look(for matching: Int, _ byte: UInt8) {
        if !hasExport, raw.count < Self.mostShown { raw.append(byte) }
        guard byte == Self.beginning[matching] else {
            return place = .outside(byte == Self.beginning[0] ? 1 : 0)
        }
        place = .outside(matching + 1)
        guard matching + 1 == Self.beginning.count else { return }
        raw.removeAll()
        hasExport = true
        recording.giveUp()
        beginTag()
        Self.beginning.withByteView { tag.append($0[1..<$0.count]) }
    }

    private func beginTag() {
        tag.removeAll()
        tag.append(UInt8(ascii: "<"))
        place = .tag(nil)
    }

    /// Rejects a tag that has no end, with the element that it is in, and begins the next one.
    private func breakTag(_ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable) {
        // Not a comment with an apostrophe.
        if tag.count < 2 || tag.view[1] != UInt8(ascii: "!") {
            keep(tag.view)
            reject(.frameMalformed, &intake, &consumer)
        }
        beginTag()
    }

    private func endTag(_ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable) {
        guard let read = tag.view.withPadding({ XMLTag($0) }) else {
            keep(tag.view)
            if element == nil { reject(.frameMalformed, &intake, &consumer) } else { element?.isBroken = true }
            return
        }
        let name = tag.view(read.name)
        if name.equals(ByteView("HealthData")) {
            if read.kind != .opening { endExport(&intake, &consumer) }
        } else if read.kind == .closing {
            close(name, &intake, &consumer)
        } else {
            open(read, name, &intake, &consumer)
        }
    }

    // MARK: Elements

    private func open(
        _ read: XMLTag, _ name: ByteView, _ intake: inout StreamIntake,
        _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        if element?.excludes(name) ?? false { reject(.frameIncomplete, &intake, &consumer) }
        guard let depth = element?.depth else { return begin(read, name, &intake, &consumer) }
        keep(tag.view)
        if depth == 0 {
            // What is too long is rejected at its end, so that no more of it is kept.
            if document.count <= cap, !document.add(read, tag.view) { element?.isBroken = true }
            if name.equals(ByteView("Record")) { pressures.pair(read, tag.view) }
        }
        if read.kind == .opening { element?.depth += 1 }
    }

    private func begin(
        _ read: XMLTag, _ name: ByteView, _ intake: inout StreamIntake,
        _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        guard Self.isKept(name, read, tag.view) else { return }
        keep(tag.view)
        element = Element(name: name.array, isBroken: !document.begin(read, tag.view))
        if read.kind == .whole { finish(&intake, &consumer) }
    }

    /// Whether an element is a reading. The records of correlations other than blood pressure and food are readings by
    /// themselves, and stand alone, too (the export's own DTD says so): they are duplicates then.
    private static func isKept(_ name: ByteView, _ read: XMLTag, _ bytes: ByteView) -> Bool {
        if name.equals(ByteView("Record")) || name.equals(ByteView("Workout")) { return true }
        guard name.equals(ByteView("Correlation")), let type = read.value(of: ByteView("type"), in: bytes) else {
            return false
        }
        return bytes[type].equals(ByteView("HKCorrelationTypeIdentifierBloodPressure"))
            || bytes[type].equals(ByteView("HKCorrelationTypeIdentifierFood"))
    }

    private func close(
        _ name: ByteView, _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        guard let open = element else { return }
        keep(tag.view)
        guard open.depth == 0 else {
            element?.depth -= 1
            return
        }
        if !name.equals(open.name) { element?.isBroken = true }
        finish(&intake, &consumer)
    }

    /// Hands on the element, unless it may be a part of one that comes later.
    private func finish(_ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable) {
        let isBroken = element?.isBroken ?? true
        guard !isBroken else { return reject(.frameMalformed, &intake, &consumer) }
        document.finish()
        guard raw.count < cap, document.count <= cap else { return reject(.frameTooLong, &intake, &consumer) }
        element = nil
        if !pressures.hold(raw.view, document.view) {
            document.view.withPadding { intake.payload($0, to: &consumer) }
        }
        raw.removeAll()
    }

    private func endExport(_ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable) {
        if element != nil { reject(.frameIncomplete, &intake, &consumer) }
        handOnPressures(&intake, &consumer)
        place = .outside(0)
    }

    /// Pressures that belong to no pair.
    private func handOnPressures(_ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable) {
        for document in pressures.takeRest() {
            document.withByteView { view in view.withPadding { intake.payload($0, to: &consumer) } }
        }
    }

    // MARK: What is rejected

    private func keep(_ bytes: ByteView) { raw.append(bytes[0..<min(bytes.count, max(0, cap - raw.count))]) }

    private func giveUpTag(_ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable) {
        keep(tag.view)
        reject(.frameTooLong, &intake, &consumer)
        place = .between
    }

    private func reject(
        _ reason: Rejection, _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        raw.view.withPadding { intake.reject(reason, $0, to: &consumer) }
        raw.removeAll()
        element = nil
    }
}
