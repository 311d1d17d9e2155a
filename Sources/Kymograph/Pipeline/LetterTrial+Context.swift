import KymographCore
import KymographTemplates

/// A payload becomes what it would have been when it came: whose it is, and of when, may be what its source said then.
extension LetterTrial {
    /// What a source says of payloads that do not say it themselves, as it is called in configurations.
    private enum Saying: String, CaseIterable {
        case defaultDevice
        case defaultPatient
        case timezone

        /// Whether both say the same.
        func isSame(_ one: SourceContext, _ other: SourceContext) -> Bool {
            switch self {
            case .defaultDevice: one.defaultDevice == other.defaultDevice
            case .defaultPatient: one.defaultPatient == other.defaultPatient
            case .timezone: one.timezone == other.timezone
            }
        }

        /// `context`, but for what `other` says of this.
        func taken(from other: SourceContext, into context: SourceContext) -> SourceContext {
            var context = context
            switch self {
            case .defaultDevice: context.defaultDevice = other.defaultDevice
            case .defaultPatient: context.defaultPatient = other.defaultPatient
            case .timezone: context.timezone = other.timezone
            }
            return context
        }
    }

    /// A clock that no configuration can name: what is read by it is of another day.
    private static let noClock = LocalTimeZone(name: "", minutes: 1_440)

    /// What the source of `letter` says of its payloads now.
    func presentContext(of letter: StoredLetter) -> SourceContext {
        var context = settings.laneInput(source(of: letter), set: set).context
        if followsClocks, context.timezone == nil {
            context.timezone = letter.context?.timezone.flatMap(TimeZoneText.zone)
        }
        return context
    }

    /// The clock that `context` names, which `present` may be.
    private func clock(of context: LetterContext, _ present: LocalTimeZone?) -> LocalTimeZone? {
        guard let name = context.timezone else { return nil }
        return name == present?.name ? present : TimeZoneText.zone(name) ?? LetterTrial.noClock
    }

    /// What it said when `letter` came. Where that is not known, something that it has hardly said: what the payload
    /// gives by this is no other only if nothing depends on it.
    private func formerContext(of letter: StoredLetter, _ present: SourceContext) -> SourceContext {
        var former = present
        let known = letter.context
        if let known {
            (former.defaultDevice, former.defaultPatient) = (known.device, known.patient)
            former.timezone = clock(of: known, present.timezone)
        } else {
            former.defaultDevice.append(UInt8(ascii: "-"))
            former.defaultPatient.append(UInt8(ascii: "-"))
            former.timezone = LetterTrial.noClock
        }
        // It was rejected since nothing was said, and that is mended.
        if letter.reason == Rejection.noDevice.name, known?.device.isEmpty ?? true {
            former.defaultDevice = present.defaultDevice
        }
        if letter.reason == Rejection.unknownTimeZone.name, known?.timezone == nil {
            former.timezone = present.timezone
        }
        return former
    }

    /// Why the payload of `letter` is left: it would be of another device, patient or time than when it came.
    func contextObstacle(_ letter: StoredLetter) -> String? {
        guard letter.kind == "payload", let bytes = letter.bytes else { return nil }
        let present = presentContext(of: letter)
        let former = formerContext(of: letter, present)
        let changes = Saying.allCases.filter { !$0.isSame(present, former) }
        guard !changes.isEmpty else { return nil }
        let given = given(letter, bytes, present)
        guard given != self.given(letter, bytes, former) else { return nil }
        let needed = changes.filter { given != self.given(letter, bytes, $0.taken(from: former, into: present)) }
        let decisive = needed.isEmpty ? changes : needed
        let names = decisive.map(\.rawValue).joined(separator: " and ")
        guard letter.context != nil else {
            return "what it holds depends on \(names) of its source, and an earlier kymo has not kept what that was "
                + "when it came: have its sender send it again, or discard it"
        }
        if decisive.contains(.defaultPatient), former.defaultPatient.isEmpty, settings.requiresPatient {
            return "it came when its source named no patient, and 'identity: strict' demands one: have its sender send "
                + "it again, or discard it"
        }
        return "what it holds depends on \(names) of its source, which is not what it was when it came: name a "
            + "configuration in which it is, by 'kymo dead show \(letter.number)', and replay then, without an "
            + "instance that has another"
    }

    /// What the payload gives by `context`: of what, when and how much.
    private func given(_ letter: StoredLetter, _ bytes: [UInt8], _ context: SourceContext) -> [[UInt8]] {
        let collector = trial(letter, bytes, by: context)
        return (collector.readings + collector.retractions).flatMap { reading in
            [
                SeriesKey.encode(reading.identity),
                reading.payload.withByteView { JournalRecord.bytes(of: reading.measurement, payload: $0) },
            ]
        }
    }
}
