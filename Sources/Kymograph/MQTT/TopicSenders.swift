import KymographCore

/// Who has published what comes by a topic, as the filters say.
struct TopicSenders {
    /// What a topic says.
    enum Sender: Equatable {
        /// Bytes of the topic that name the device and the patient, each nil where none is named.
        case named(device: Range<Int>?, patient: Range<Int>?)
        /// Messages of the topic are not wanted, or name nobody where they should.
        case refused(Rejection)
    }

    private let filters: [TopicFilter]
    /// The last topic, since many messages of one follow each other.
    private var topic: [UInt8] = []
    private var sender = Sender.refused(.topicNotSubscribed)

    init(_ filters: [TopicFilter]) { self.filters = filters }

    /// What `topic` says: the first filter that it matches counts.
    ///
    /// - Throws: ``MQTTFault`` when it cannot be the topic of a message.
    mutating func sender(_ topic: ByteView) throws(MQTTFault) -> Sender {
        guard !topic.equals(self.topic) else { return sender }
        guard topic.isMQTTText, topic.firstIndex(of: UInt8(ascii: "+"), from: 0) == nil,
            topic.firstIndex(of: UInt8(ascii: "#"), from: 0) == nil
        else { throw MQTTFault("a topic is not UTF-8, or has a zero or a wildcard") }
        self.topic = topic.array
        sender = find(topic)
        return sender
    }

    private func find(_ topic: ByteView) -> Sender {
        for filter in filters {
            guard let match = filter.match(topic) else { continue }
            if let device = match.device, let refusal = Self.refusal(topic[device], ifEmpty: .noDevice) {
                return .refused(refusal)
            }
            if let patient = match.patient, let refusal = Self.refusal(topic[patient], ifEmpty: .noPatient) {
                return .refused(refusal)
            }
            return .named(device: match.device, patient: match.patient)
        }
        return .refused(.topicNotSubscribed)
    }

    private static func refusal(_ name: ByteView, ifEmpty reason: Rejection) -> Rejection? {
        if name.count == 0 { return reason }
        if name.count > SeriesKey.longestPart { return .valueTooLong }
        return name.isIdentifier ? nil : .invalidIdentifier
    }
}
