import KymographCore

/// Something that a person should look at.
struct Attention: Encodable, Sendable, Equatable {
    /// How much it matters, the most important first.
    enum Severity: Int, Encodable, Comparable {
        /// Readings are lost, or will be.
        case critical
        /// Something is not delivered or not taken until somebody acts.
        case warning
        /// Something that was rejected or is unusual.
        case notice

        static func < (left: Severity, right: Severity) -> Bool { left.rawValue < right.rawValue }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode("\(self)")
        }
    }

    var severity: Severity
    /// What is wrong, in a few words.
    var title: String
    /// Details, and what to do.
    var text: String
    /// The page of the console that shows more, such as `letters?reason=noTemplate`; nil for none.
    var link: String?
}

/// What needs attention in a snapshot, the most important first. It has no identifiers and nothing that a server said.
struct AttentionRules {
    let health: InstanceHealth
    let balance: LiveSnapshot.Balance
    let sources: [LiveSnapshot.Source]
    /// Of the same sources in the same order.
    let rates: [TopReport.Source]
    let sinks: [LiveSnapshot.Sink]
    let reasons: [LiveSnapshot.Reason]
    let store: LiveSnapshot.Store
    /// Devices with gaps, the worst first.
    var gaps: [GapWatch.Gap] = []
    /// Seconds of silence of a source that are too many; 0 for none.
    let silentAfter: Double
    /// Since when there are sources, in seconds since 1970.
    let started: Double
    /// Seconds since 1970.
    let now: Double

    /// Devices with gaps, and reasons of rejections, that are named one by one.
    private static let mostNamed = 3

    var found: [Attention] {
        (ofInstance + ofStore + ofSinks + ofSources + ofLetters + ofGaps).enumerated()
            .sorted { ($0.element.severity, $0.offset) < ($1.element.severity, $1.offset) }.map(\.element)
    }

    private var ofInstance: [Attention] {
        var found = health.obstacles.map { obstacle in
            Attention(
                severity: obstacle == .recovering ? .notice : .critical, title: Self.title(of: obstacle),
                text: obstacle.detail.capitalised)
        }
        found += health.remarks.map { remark in
            switch remark {
            case .patientMap:
                Attention(severity: .warning, title: "The patient map has errors", text: remark.text.capitalised)
            case .paused(let count):
                Attention(
                    severity: .warning,
                    title: CountText.of(count, one: "type or source is paused", many: "types or sources are paused"),
                    text: "Their readings are not taken until 'kymo resume'; 'kymo status' names them.")
            }
        }
        guard balance.imbalance > 0 else { return found }
        return found + [
            Attention(
                severity: .critical, title: "\(CountText.of(balance.imbalance, "reading")) unaccounted for",
                text: "What was received is not what was accepted or rejected. This is a bug: please report it.",
                link: "ledger")
        ]
    }

    private static func title(of obstacle: InstanceHealth.Obstacle) -> String {
        switch obstacle {
        case .failed: "The instance has failed"
        case .stopping: "The instance is stopping"
        case .recovering: "The instance is starting"
        case .storeFull: "No readings are taken: the store is full"
        case .sinksDown: "Nothing is delivered: no sink takes anything"
        }
    }

    private var ofStore: [Attention] {
        var found: [Attention] = []
        if store.lost > 0 {
            found.append(
                Attention(
                    severity: .critical,
                    title: "\(CountText.of(store.lost, one: "reading is", many: "readings are")) lost",
                    text: "The store was damaged: readings that were acknowledged are not in it.", link: "ledger"))
        }
        if store.quarantined > 0 {
            found.append(
                Attention(
                    severity: .warning,
                    title: CountText.of(
                        store.quarantined, one: "row of the store is damaged", many: "rows of the store are damaged"),
                    text: "What is damaged was put aside. 'kymo support' collects what a report needs."))
        }
        let percent = store.limitBytes > 0 ? store.usedBytes * 100 / store.limitBytes : 0
        if percent >= 80 {
            found.append(
                Attention(
                    severity: percent >= 95 ? .critical : .warning, title: "The store is \(percent) % full",
                    text: "Make room on its disk, or raise store.maxBytes: a full store takes no readings."))
        }
        return found
    }

    private var ofSinks: [Attention] {
        sinks.compactMap { sink in
            let waiting = CountText.of(sink.waiting, one: "bundle waits", many: "bundles wait")
            if !sink.isUp, sink.circuit != "probing" {
                let trouble = sink.trouble ?? "it takes nothing at present"
                return Attention(
                    severity: .warning, title: "\(sink.name) takes nothing",
                    text: "\(trouble.capitalised). \(waiting); readings are kept meanwhile.")
            }
            guard let age = sink.oldestAge, age >= 300 else { return nil }
            return Attention(
                severity: .warning, title: "\(sink.name) gets readings late",
                text: "\(waiting), the oldest for \(Self.time(age)).")
        }
    }

    private var ofSources: [Attention] {
        zip(sources, rates).flatMap { source, rate -> [Attention] in
            var found: [Attention] = []
            if source.dropped > 0 {
                let isNow = rate.dropped > 0
                found.append(
                    Attention(
                        severity: isNow ? .critical : .notice,
                        title: isNow
                            ? CountText.of(source.dropped, one: "message is", many: "messages are")
                                + " lost at \(source.name), and more each second"
                            : CountText.of(source.dropped, one: "message was", many: "messages were")
                                + " lost at \(source.name)",
                        text: "The kernel had no room for what was lost: raise receiveBuffer, or lanes."))
            }
            return found + [silence(of: source)].compactMap { $0 }
        }
    }

    /// That a source brings nothing; one that never has may wait for devices, or be at the wrong address.
    private func silence(of source: LiveSnapshot.Source) -> Attention? {
        let silence = now - (source.lastSeen ?? started)
        let isLong = silentAfter > 0 && silence >= silentAfter
        guard source.lastSeen != nil else {
            return Attention(
                severity: isLong ? .warning : .notice, title: "\(source.name) has received nothing yet",
                text: "Nothing has come since the start (\(Self.time(silence))): look at devices, bridge, network and "
                    + "its address.")
        }
        guard isLong else { return nil }
        return Attention(
            severity: .warning, title: "\(source.name) is silent",
            text: "Nothing has come for \(Self.time(silence)): look at devices, bridge and network.", link: "timeline")
    }

    /// A length of time in its largest whole unit.
    private static func time(_ seconds: Double) -> String {
        switch Int(seconds) {
        case ..<120: "\(Int(seconds)) s"
        case ..<7_200: "\(Int(seconds) / 60) min"
        default: "\(Int(seconds) / 3_600) h"
        }
    }

    private var ofGaps: [Attention] {
        let shown = gaps.prefix(Self.mostNamed).map { gap in
            Attention(
                severity: .notice, title: "Gaps in the readings of \(gap.mask)",
                text: "Of the last \(GapWatch.hours) hours \(gap.missing) of about \(gap.missing + gap.accepted) "
                    + "readings did not come (\(gap.types.joined(separator: ", "))). Look at its battery and reach.",
                link: "timeline?of=\(gap.series)")
        }
        guard gaps.count > shown.count else { return shown }
        return shown + [
            Attention(
                severity: .notice,
                title: CountText.of(
                    gaps.count - shown.count, one: "more device has gaps", many: "more devices have gaps"),
                text: "", link: "timeline")
        ]
    }

    private var ofLetters: [Attention] {
        let shown = reasons.prefix(Self.mostNamed).map { reason in
            Attention(
                severity: .notice, title: reason.title,
                text: "\(reason.fate.advice) \(reason.reason): \(reason.meaning).",
                link: "letters?reason=\(reason.reason)")
        }
        guard reasons.count > shown.count else { return shown }
        return shown + [
            Attention(
                severity: .notice,
                title: "Readings were not taken for "
                    + CountText.of(reasons.count - shown.count, one: "more reason", many: "more reasons"),
                text: "", link: "letters")
        ]
    }
}

extension Rejection.Fate {
    /// What it means for the data of patients, and what to do.
    fileprivate var advice: String {
        switch self {
        case .intended: "Settings or senders want it so."
        case .replayable: "They are not in the patients' data until you mend the cause and replay them."
        case .lost: "They are not in the patients' data: mend the cause, and have their sender send them again."
        }
    }
}

extension LiveSnapshot.Reason {
    /// What was not taken, and why.
    fileprivate var title: String {
        let readings = CountText.of(count, one: "reading was", many: "readings were")
        return "\(readings) \(fate == .intended ? "left out" : "not taken"): \(cause)"
    }
}

extension StringProtocol {
    /// With a capital first letter, unless it begins with an address.
    fileprivate var capitalised: String {
        prefix { $0 != " " }.contains("/") ? String(self) : prefix(1).uppercased() + dropFirst()
    }
}
