import KymographCore

/// A topic filter (MQTT 5.0, section 4.7) in which `{device}` and `{patient}` stand for a level that names one, as `+`
/// stands for any level: `ward/{device}/vitals`.
package struct TopicFilter: Hashable, Sendable {
    private enum Level: Hashable {
        case exactly([UInt8])
        case any
        case device
        case patient
        /// All levels from here on, and none as well.
        case rest
    }

    /// The filter as it was written.
    package let text: String
    /// The filter that the broker gets.
    package let subscription: String
    /// Whether several clients share the subscription.
    package let isShared: Bool
    private let levels: [Level]

    /// Whether a level names the device.
    var namesDevice: Bool { levels.contains(.device) }
    /// Whether a level names the patient.
    var namesPatient: Bool { levels.contains(.patient) }

    /// Reads a filter.
    ///
    /// - Throws: ``SettingProblem`` when it is none.
    package init(parsing text: String) throws(SettingProblem) {
        var words = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        try Self.check(text)
        isShared = words[0] == "$share"
        if isShared {
            guard words.count > 2, !words[1].isEmpty, words[1].allSatisfy({ !"+#{}".contains($0) }) else {
                throw Self.problem(text, "write a shared subscription as $share/group/ward/+/vitals")
            }
            words.removeFirst(2)
        }
        var levels: [Level] = []
        for (place, word) in words.enumerated() {
            let level = try Self.level(word, in: text)
            guard level != .rest || place == words.count - 1 else {
                throw Self.problem(text, "# stands for all that follows: nothing can come behind it")
            }
            guard level != .device && level != .patient || !levels.contains(level) else {
                throw Self.problem(text, "\(word) stands in it twice")
            }
            levels.append(level)
        }
        self.text = text
        self.levels = levels
        subscription = text.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0 == "{device}" || $0 == "{patient}" ? "+" : String($0) }.joined(separator: "/")
    }

    private static func check(_ text: String) throws(SettingProblem) {
        guard !text.isEmpty else { throw .empty("topic filter, such as ward/+/vitals") }
        guard text.utf8.count <= MQTTSettings.longestText, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw problem("the topic filter", "it may have 65,535 bytes, and no control characters")
        }
    }

    private static func level(_ word: String, in text: String) throws(SettingProblem) -> Level {
        switch word {
        case "+": return .any
        case "#": return .rest
        case "{device}": return .device
        case "{patient}": return .patient
        default:
            guard word.allSatisfy({ !"+#".contains($0) }) else {
                throw problem(text, "+ and # stand for whole levels, as in ward/+/vitals and ward/#")
            }
            guard word.allSatisfy({ !"{}".contains($0) }) else {
                throw problem(text, "the levels that name somebody are {device} and {patient}")
            }
            return .exactly(Array(word.utf8))
        }
    }

    private static func problem(_ text: String, _ advice: String) -> SettingProblem {
        SettingProblem(message: "'\(text)' is no topic filter", advice: advice)
    }

    // MARK: Topics

    /// Where a topic names somebody.
    struct Match: Equatable {
        /// The bytes of the device's level; nil where none is named.
        var device: Range<Int>?
        /// The bytes of the patient's level.
        var patient: Range<Int>?
    }

    /// Where `topic` names somebody; nil when it is none of the filter.
    func match(_ topic: ByteView) -> Match? {
        var match = Match()
        var (start, place) = (0, 0)
        // What begins with a dollar sign is the broker's own, and no wildcard stands for it.
        if topic.count > 0, topic[0] == UInt8(ascii: "$"), !startsExactly { return nil }
        while place < levels.count {
            if levels[place] == .rest { return match }
            guard start <= topic.count else { return nil }
            let end = topic.firstIndex(of: UInt8(ascii: "/"), from: start) ?? topic.count
            switch levels[place] {
            case .exactly(let bytes): guard topic[start..<end].equals(bytes) else { return nil }
            case .device: match.device = start..<end
            case .patient: match.patient = start..<end
            case .any, .rest: break
            }
            (start, place) = (end + 1, place + 1)
        }
        return start > topic.count ? match : nil
    }

    private var startsExactly: Bool {
        if case .exactly = levels[0] { true } else { false }
    }
}
