import KymographCore

/// Stands for identifiers of the store in what the console shows unless somebody reveals them.
struct SubjectMask: Sendable {
    private let mask = IdentifierMask()

    /// What stands for `identifier`.
    func name(_ identifier: [UInt8]) -> [UInt8] { Array(mask.name(of: identifier).utf8) }

    /// What stands for `identifier`.
    func name(_ identifier: IdentifierText) -> IdentifierText { IdentifierText(mask.name(of: identifier.utf8)) }

    /// `text` without the identifier that it begins with.
    func text(_ text: String, of device: IdentifierText) -> String {
        let rest = Array(text.utf8.dropFirst(device.utf8.count))
        guard !device.isEmpty, text.utf8.starts(with: device.utf8), rest.first == 0x20 || rest.first == 0x3A else {
            return text
        }
        return name(device).text + String(decoding: rest, as: UTF8.self)
    }

    /// A sentence of the ledger without the resources that it names at its end.
    func sentence(_ text: String) -> String {
        guard let place = text.firstRange(of: " (conditional-create): ") else { return text }
        return String(text[..<place.lowerBound])
    }

    /// A list of subjects, of which `limit` are shown.
    func json(_ subjects: [StoreSubject], limit: Int) -> [UInt8] {
        var object = JSONMembers()
        object.add("subjects", list: subjects.prefix(limit).map(json))
        object.add("isPartial", if: subjects.count > limit)
        return object.finished()
    }

    private func json(_ subject: StoreSubject) -> [UInt8] {
        var object = JSONMembers()
        object.add("series", subject.series)
        object.add("device", name(subject.device).text)
        object.add("patient", subject.patient.map { name($0).text })
        object.add("types", texts: subject.types)
        object.add("latest", subject.latest?.text)
        return object.finished()
    }

    /// The report with names in place of identifiers.
    func masked(_ report: LedgerReport) -> LedgerReport {
        var report = report
        let devices = Set(report.series.map(\.device) + report.sequenceGaps.map(\.device))
        report.missing = report.missing.map { text in devices.reduce(sentence(text)) { self.text($0, of: $1) } }
        report.lacking = report.lacking.mapValues { names in names.map { name(IdentifierText($0)).text } }
        for index in report.series.indices {
            report.series[index].device = name(report.series[index].device)
            report.series[index].patient = report.series[index].patient.map(name)
            report.series[index].encounter = report.series[index].encounter.map(name)
        }
        for index in report.windows.indices { report.windows[index].device = name(report.windows[index].device) }
        for index in report.sequenceGaps.indices {
            report.sequenceGaps[index].device = name(report.sequenceGaps[index].device)
        }
        for index in report.missingFrames.indices {
            report.missingFrames[index].device = name(report.missingFrames[index].device)
        }
        return report
    }
}

extension Timeline {
    /// With names in place of identifiers, and of dead letters what only mappings have written.
    func masked(by mask: SubjectMask) -> Timeline {
        var timeline = self
        for index in timeline.series.indices {
            timeline.series[index].device = mask.name(timeline.series[index].device)
            timeline.series[index].patient = timeline.series[index].patient.map(mask.name)
        }
        for index in timeline.letters.indices {
            let letter = timeline.letters[index]
            timeline.letters[index].detail = LetterMask.detail(letter.detail, kind: letter.kind) ?? ""
        }
        return timeline
    }
}

extension LedgerHours {
    /// With names in place of identifiers.
    func masked(by mask: SubjectMask) -> LedgerHours {
        var hours = self
        hours.storeWide = storeWide.map(mask.sentence)
        for index in hours.devices.indices {
            let device = hours.devices[index].device
            hours.devices[index].device = mask.name(device)
            for hour in hours.devices[index].hours.indices {
                hours.devices[index].hours[hour].missing = hours.devices[index].hours[hour].missing.map {
                    mask.text($0, of: device)
                }
            }
        }
        return hours
    }
}
