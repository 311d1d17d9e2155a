/// Reads events as Azure Event Hubs takes them by HTTP: objects with a `Body` and perhaps `UserProperties` (Event Hubs
/// REST API, "Send batch events").
package struct EventHubReader: ~Copyable {
    /// What an object is.
    package enum Element {
        /// An event; the one before it, if there is one, is complete, and ``payload`` has it.
        case event(isPreviousComplete: Bool)
        /// Properties of the event before.
        case properties
    }

    private static let userProperties: UInt16 = 3

    private var scanner: JSONScanner
    private var body = ByteWriter(capacity: 4_096)
    private var properties = ByteWriter(capacity: 256)
    private var composed = ByteWriter(capacity: 4_096)
    /// Bytes of the payload in ``composed``.
    private var count = 0
    /// Whether an event has been read that is not complete.
    private var isOpen = false

    /// A reader for objects of any size.
    package init() {
        scanner = JSONScanner(
            names: NameTable(["Body", "Properties", "SystemProperties", "UserProperties"]), limits: ScanLimits(),
            payloadIsRoot: true)
    }

    /// Reads the object in `range` of `bytes`, which must be padded. The text of a `Body` that is a string is the
    /// payload; another value is it as it stands. An object
    /// with properties alone, which some clients send behind an event, gives them to the event before.
    ///
    /// - Throws: ``Refusal`` for what is neither; the event before stays.
    package mutating func read(_ bytes: ByteView, _ range: Range<Int>) throws(Refusal) -> Element {
        try scan(bytes, range)
        let properties = try propertiesToken()
        guard let body = scanner.slot(of: NameTable.body) else {
            guard let properties, isOpen, self.properties.count == 0 else { throw Refusal(reason: .missingValue) }
            self.properties.append(bytes[scanner.tape[properties].range])
            return .properties
        }
        try checkBody(body, bytes)
        let isComplete = finish()
        keepBody(body, bytes)
        if let properties { self.properties.append(bytes[scanner.tape[properties].range]) }
        isOpen = true
        return .event(isPreviousComplete: isComplete)
    }

    /// Whether there is a last event, which ``payload`` has then.
    package mutating func finish() -> Bool {
        guard isOpen else { return false }
        composed.removeAll()
        if properties.count > 2 {
            composed.append("{\"Body\":")
            composed.append(body.view)
            composed.append(",\"Properties\":")
            composed.append(properties.view)
            composed.append("}")
        } else {
            composed.append(body.view)
        }
        count = composed.count
        composed.pad(by: ByteView.padding)
        body.removeAll()
        properties.removeAll()
        isOpen = false
        return true
    }

    /// The payload of the event that is complete, padded: its body, or an envelope of both when it has properties
    /// (mapping dialect, section 1.1). Valid until the next call.
    package var payload: ByteView { composed.view(0..<count) }

    /// Why an object is no event.
    package struct Refusal: Error {
        /// The reason.
        package var reason: Rejection
    }

    private mutating func scan(_ bytes: ByteView, _ range: Range<Int>) throws(Refusal) {
        do throws(ScanFailure) {
            guard try scanner.scan(bytes, from: range.lowerBound) == range.upperBound else {
                throw ScanFailure(reason: .invalidJSON, offset: range.lowerBound)
            }
        } catch {
            throw Refusal(reason: error.reason)
        }
    }

    /// The token of properties; nil without any.
    private func propertiesToken() throws(Refusal) -> Int? {
        guard let token = scanner.slot(of: Self.userProperties), scanner.tape[token].kind != TokenKind.null else {
            return nil
        }
        guard scanner.tape[token].kind == TokenKind.object else { throw Refusal(reason: .invalidValue) }
        return token
    }

    private func checkBody(_ token: Int, _ bytes: ByteView) throws(Refusal) {
        guard scanner.tape[token].kind != TokenKind.null else { throw Refusal(reason: .nullValue) }
        // It would become another character, perhaps in an identifier.
        let isText = scanner.tape[token].kind == TokenKind.string
        if isText, JSONUnescape.hasLoneSurrogate(bytes[scanner.tape[token].range]) {
            throw Refusal(reason: .invalidUTF8)
        }
    }

    private mutating func keepBody(_ token: Int, _ bytes: ByteView) {
        let value = bytes[scanner.tape[token].range]
        guard scanner.tape[token].kind == TokenKind.string else { return body.append(value) }
        JSONUnescape.append(value, into: &body)
    }
}
