import KymographCore
import KymographTemplates

/// Readings that were mapped before: they are taken as they are, if that would be so of new ones now.
extension LetterTrial {
    /// What the letter of such a reading has.
    private struct Kept {
        let reading: KymographCore.Measurement
        let payload: ByteView
        /// Its ``SeriesKey``.
        let key: ByteView
        /// The name of its source; nil where that is not known.
        let source: String?
    }

    /// What `body` makes of the reading of `letter`; nil for a letter that has none, or of a type that is not known.
    private func withReading(of letter: StoredLetter, _ body: (Kept) -> String?) -> String? {
        guard letter.kind == "measurement", let record = letter.bytes.flatMap({ LetterRecord(letter: $0) }) else {
            return nil
        }
        let made = record.withReading { reading, payload in
            record.series.withByteView { key in
                let source = sources[ReadingSource.number(reading.mark)]
                return body(Kept(reading: reading, payload: payload, key: key, source: source))
            }
        }
        return made ?? nil
    }

    /// Why such a reading would be rejected: it is filed for the patient that it got only if the map still says so, and
    /// if its source, peers and rules let it through.
    func decidedReason(_ letter: StoredLetter) -> String? {
        withReading(of: letter) { kept in
            if settings.requiresPatient, SeriesKey.patient(of: kept.key) == nil {
                return "noPatient: identity: strict demands one"
            }
            if let reason = kept.source.flatMap(pauseReason) ?? peerReason(kept) { return reason }
            let intake = intake(of: kept)
            guard types.indices.contains(SeriesKey.type(of: kept.key)) else {
                return settings.deciders.isEmpty && !intake.isOn ? nil : "its type is not known to the store"
            }
            return intakeReason(kept, intake) ?? patientReason(kept.key, kept.reading, kept.payload)
                ?? ruleReason(kept)
        }
    }

    /// Why such a reading is left, which is of a source that the settings do not have, or of nobody knows which.
    func sourceObstacle(_ letter: StoredLetter) -> String? {
        withReading(of: letter) { kept in
            if let source = kept.source { return settings.isStray(source) ? StoredLetter.strayText(source) : nil }
            guard asksForSources else { return nil }
            return "it is not known of which source it is, since the store has more than it can tell apart, and the "
                + "configuration asks for that: replay it by one without pauses, peers, types and until of sources, "
                + "and without rules of sources"
        }
    }

    /// Whether it matters for readings that were mapped of which source they are.
    private var asksForSources: Bool {
        pauses.contains { $0.kind == .source } || settings.interceptor != nil
            || settings.listeningSources.contains { source in
                !source.types.isEmpty || source.until != nil || source.configuration.peers != nil
            }
            // What a condition is about, nobody can tell.
            || settings.ruleList.readings.contains { !$0.sources.isEmpty || $0.condition != nil }
    }

    private func source(of kept: Kept) -> PipelineSettings.Source? {
        kept.source.flatMap { name in settings.listeningSources.first { $0.isNamed(name) } }
    }

    private func intake(of kept: Kept) -> IntakeLimits {
        IntakeLimits([source(of: kept)?.intake ?? .init()], pausedTypes: pausedTypes, types: types)
    }

    private func intakeReason(_ kept: Kept, _ intake: IntakeLimits) -> String? {
        guard intake.isOn else { return nil }
        let type = SeriesKey.type(of: kept.key)
        let length = kept.reading.length(types[type].durationSlot ?? -1, kept.payload)
        return intake.refusal(type: type, source: 0, at: kept.reading.instant, length: length)?.name
    }

    /// Which peer has brought a reading that was mapped, nobody knows any more: one that none may bring now stays.
    private func peerReason(_ kept: Kept) -> String? {
        guard let peers = source(of: kept)?.configuration.peers?.current(note: { _ in }), !peers.allows(kept.key) else {
            return nil
        }
        return "no peer of its source's list may bring readings of its device and patient"
    }

    private func patientReason(
        _ key: ByteView, _ reading: KymographCore.Measurement, _ payload: ByteView
    ) -> String? {
        guard let rules = settings.patientRules else { return nil }
        let device = SeriesKey.device(of: key)
        let length = reading.length(types[SeriesKey.type(of: key)].durationSlot ?? -1, payload)
        switch rules.map.span(of: device, to: reading.instant, length: length) {
        case .period(let period):
            let isSame =
                SeriesKey.patient(of: key)?.equals(rules.map.patient(period)) ?? false
                && rules.map.encounter(period).map { SeriesKey.encounter(of: key)?.equals($0) ?? false } ?? true
            return isSame ? nil : "patientDeviceMismatch: the patient map says another patient or encounter now"
        // Its patient may be that of a former map.
        case .nobody where rules.policy.unmapped == .accept && !rules.map.holds(device): return nil
        case .nobody, .several: return "patientUnknown: the patient map does not say whose the device was"
        }
    }

    private func ruleReason(_ kept: Kept) -> String? {
        guard settings.rules != nil else { return nil }
        var reading = kept.reading
        let decider = settings.decider(ofSource: kept.source ?? "", types: types)
        let decision = decider.decide(&reading, kept.payload, key: kept.key, source: 0, rewrites: false)
        return decision.refusal.map { "\($0.name): the rule \(decision.rule ?? "")" }
    }
}
