import KymographCore
import KymographTemplates

/// A period of a device as a file has it, and where.
struct StatedPeriod: Sendable {
    var period: PatientMap.Period
    var position: SourcePosition
}

/// Reads the parts of a period, and puts those of a file together.
enum PatientPeriods {
    /// The identifier that `bytes` are.
    ///
    /// - Throws: ``SettingProblem`` where they can be none, or none that a reading can have.
    static func identifier(_ bytes: [UInt8], _ column: String) throws(SettingProblem) -> [UInt8] {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SettingProblem(message: "the \(column) is not UTF-8", advice: IdentifierSetting.advice)
        }
        guard !bytes.isEmpty else {
            throw SettingProblem(message: "there is no \(column)", advice: "name one, or remove the row")
        }
        if let problem = IdentifierSetting.problem(text) {
            throw SettingProblem(message: problem, advice: IdentifierSetting.advice)
        }
        guard bytes.count <= SeriesKey.longestPart else {
            throw SettingProblem(
                message: "the \(column) is longer than \(SeriesKey.longestPart) bytes", advice: "no reading can name it"
            )
        }
        guard !text.hasBlankEnds else {
            throw SettingProblem(
                message: "the \(column) begins or ends with a blank", advice: "remove it: identifiers count in full")
        }
        return bytes
    }

    /// The time that `bytes` are; `open` where there is none.
    ///
    /// - Throws: ``SettingProblem`` where they are none, or of a clock that nobody names.
    static func time(_ bytes: [UInt8], open: Instant) throws(SettingProblem) -> Instant {
        guard !bytes.isEmpty else { return open }
        let advice = "write it in ISO 8601 with its offset, as 2026-03-01T08:00:00+01:00, or leave it empty"
        let text = PaddedBytes(copying: bytes)
        guard let time = TimestampParser.iso8601(text.view) else {
            // What stands in a wrong column may name somebody.
            throw SettingProblem(message: "this is no time", advice: advice)
        }
        guard !time.isLocal else {
            throw SettingProblem(message: "the time has no offset from UTC", advice: advice)
        }
        return time.instant
    }

    /// The tags in the field of a table, separated by semicolons.
    ///
    /// - Throws: ``SettingProblem`` where one is none, or they are too many.
    static func tags(ofField bytes: [UInt8]) throws(SettingProblem) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SettingProblem(message: "the tags are not UTF-8", advice: "save the file as UTF-8")
        }
        return try tags(text.split(separator: ";", omittingEmptySubsequences: false).map(String.init))
    }

    /// `texts` as readings have them.
    ///
    /// - Throws: ``SettingProblem`` where one is no tag, or they are too many.
    static func tags(_ texts: [String]) throws(SettingProblem) -> [UInt8] {
        let list = ReadingTags.list(try texts.map(TagText.parse))
        guard list.count <= ReadingTags.longest else {
            throw SettingProblem(
                message: "the tags take more than \(ReadingTags.longest) bytes", advice: "leave some out")
        }
        return list
    }

    /// What is wrong with a period by itself; nil when it holds some time.
    static func problem(_ period: PatientMap.Period) -> SettingProblem? {
        guard period.from >= period.to else { return nil }
        return SettingProblem(
            message: "it ends before it has begun",
            advice: "'from' is in the period, and 'to' is the first time after it")
    }

    /// The map of `stated`; notes periods of one device that overlap and do not say the same.
    static func map(_ stated: [StatedPeriod], file: String, log: inout ConfigurationLog) -> PatientMap {
        let sorted = stated.sorted {
            let (one, other) = ($0.period, $1.period)
            guard one.device == other.device else { return one.device.lexicographicallyPrecedes(other.device) }
            return (one.from, $0.position.line) < (other.from, $1.position.line)
        }
        var joined: [StatedPeriod] = []
        for next in sorted {
            guard let last = joined.last, last.period.device == next.period.device, next.period.from < last.period.to
            else {
                joined.append(next)
                continue
            }
            let isSamePatient =
                last.period.patient == next.period.patient && last.period.encounter == next.period.encounter
            if isSamePatient, last.period.tags == next.period.tags {
                // The one that lasts longer is what others overlap with.
                if next.period.to > last.period.to {
                    joined[joined.count - 1].period.to = next.period.to
                    joined[joined.count - 1].position = next.position
                }
                continue
            }
            let (earlier, later) = last.position.line < next.position.line ? (last, next) : (next, last)
            log.add(
                Diagnostic(
                    .error, file: file, position: later.position,
                    message: "the device has \(isSamePatient ? "other tags" : "another patient or encounter") "
                        + "at the same time in line \(earlier.position.line)",
                    advice: "end one period where the other begins: 'to' is not in it"))
            if next.period.to > last.period.to { joined.append(next) }
        }
        return PatientMap(log.all.isEmpty ? joined.map(\.period) : [])
    }
}

extension String {
    /// Whether white space is at either end.
    fileprivate var hasBlankEnds: Bool { first?.isWhitespace ?? false || last?.isWhitespace ?? false }
}
