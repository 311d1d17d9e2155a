/// Which Observations a sink gets: those that match one pattern of each list that has any.
package struct SinkFilter: Hashable, Sendable {
    /// Names of types (`typeName` of the device template).
    package var types: [NamePattern] = []
    /// Device identifiers.
    package var devices: [NamePattern] = []
    /// Numbers of sources (``ReadingSource``); a window matches when any of its readings came from one of them. Nil for
    /// all sources, empty for none.
    package var sources: [Int]?
    /// Tags of the FHIR template, or of readings: a `code`, or `system|code`.
    package var tags: [NamePattern] = []
    /// Whether it lets any Observation pass; none where the sink gets readings as events.
    package var takesObservations = true

    /// Everything.
    package init() {}

    /// No Observation.
    static var closed: SinkFilter {
        var filter = SinkFilter()
        filter.takesObservations = false
        return filter
    }

    /// Whether it lets everything pass.
    package var isOpen: Bool {
        types.isEmpty && devices.isEmpty && sources == nil && tags.isEmpty && takesObservations
    }

    /// Whether windows of a series may match, as far as its readings do not decide.
    func mayMatch(type: String, device: [UInt8]) -> Bool {
        SinkFilter.match(types, type.utf8) && SinkFilter.match(devices, device)
    }

    /// Whether all Observations of a type match whose template has these tags, each by code and with its system.
    func matches(tags: [String]) -> Bool {
        self.tags.isEmpty || tags.contains { SinkFilter.match(self.tags, $0.utf8) }
    }

    /// Whether one of the tags of `list` (``ReadingTags``) matches.
    func matches(list: ByteView) -> Bool {
        var isMatch = false
        ReadingTags.forEach(in: list) { tag in
            isMatch = isMatch || tags.contains { $0.matches(tag) || $0.matches(ReadingTags.code(of: tag)) }
        }
        return isMatch
    }

    /// Whether a reading of `content` has one of the tags.
    func matchesTags(of content: borrowing WindowContent) -> Bool {
        for index in 0..<content.readings.count where content.readings[index].payloadBytes > 0 {
            if matches(list: ReadingTags.list(in: content.readings.payload(index))) { return true }
        }
        // Who has got the window for a reading that has gone must hear of that.
        guard !content.formerTags.isEmpty else { return false }
        return content.formerTags == ReadingTags.any || content.formerTags.withByteView { matches(list: $0) }
    }

    private static func match(_ patterns: [NamePattern], _ name: some Sequence<UInt8>) -> Bool {
        patterns.isEmpty || patterns.contains { $0.matches(name) }
    }

    /// Whether a reading of `content` came from one of the sources.
    func matchesSources(of content: borrowing WindowContent) -> Bool {
        guard let sources else { return true }
        for index in 0..<content.readings.count
        where sources.contains(ReadingSource.number(content.readings[index].mark)) {
            return true
        }
        // Who has got the window for a reading that has gone must hear of that.
        return content.formerSources != 0 && sources.contains { content.formerSources >> UInt16($0) & 1 == 1 }
    }
}
