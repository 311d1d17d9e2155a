import KymographCore

/// What the two files of a mapping say against each other (mapping dialect, section 9).
extension MappingLoader {
    /// Compares the FHIR templates `loaded` of mapping `index` with its device templates. `log` is of the FHIR file,
    /// and `base` the name there of a mapping that it changes; what is to be said of the device file is added to the
    /// findings.
    mutating func checkJoin(
        _ loaded: [FHIRTemplate], _ mapping: NamedMapping, _ index: Int, extending base: JSONNode?,
        _ log: inout DiagnosticLog
    ) {
        let used = usedTypes(of: index).sorted()
        for template in loaded {
            let own = used.filter { drafts[$0].name.isCaseVariant(of: template.typeName) }
            for type in own { checkValues(of: template, type, &log) }
            guard own.isEmpty else { continue }
            // What comes from the other mapping has the place of its name (``MappingExtension``). What this file adds
            // and is called much like a type that there is was to change that one: its type has been misspelt.
            let isAdded = base.map { $0.position != template.namePosition } ?? false
            let meant = NearestName.of(template.typeName, among: used.map { drafts[$0].name })
            let isChange = isAdded && meant != nil
            log.note(
                isChange ? .error : .warning, template.namePosition,
                "no device template gives the type '\(template.typeName)'"
                    + (isChange ? ": this changes nothing of '\(base?.string ?? "")'" : ""),
                advice: meant.map { "did you mean '\($0)'?" } ?? "add one, or remove this",
                finding: isChange ? .wrongChange : .noDeviceTemplate)
        }
        checkDevice(loaded.map(\.typeName), mapping, index)
    }

    /// A FHIR template that never gets one of its values still serves for the others; one that gets none serves for
    /// nothing, which is an error.
    private func checkValues(of template: FHIRTemplate, _ type: Int, _ log: inout DiagnosticLog) {
        let names = drafts[type].valueNames
        let unknown = template.valueUses.filter { !names.contains($0.name) }
        let isUseless = unknown.count == template.valueUses.count
        for use in unknown {
            log.note(
                isUseless ? .error : .warning, use.position,
                "no device template of type '\(drafts[type].name)' gives the value '\(use.name)'",
                advice: NearestName.advice(
                    for: use.name, among: names,
                    otherwise: names.isEmpty
                        ? "it has none; add \"values\" to it" : "its values are \(names.joined(separator: ", "))"),
                finding: .unknownValue)
        }
    }

    // MARK: The device file

    private mutating func checkDevice(_ fhirNames: [String], _ mapping: NamedMapping, _ index: Int) {
        var log = DiagnosticLog(file: mapping.device.name)
        var seen: Set<Int> = []
        for linked in templates where linked.mapping == index && !linked.isDerived {
            let start = log.all.count
            let isFirst = seen.insert(linked.type).inserted
            if let fhir = drafts[linked.type].fhir {
                checkUse(of: linked.template, fhir, &log)
                checkUnits(of: linked.template, fhir, mapping, &log)
            } else if isFirst {
                noteMissing(linked.template, fhirNames, mapping, &log)
            }
            log.attribute(to: linked.template.typeName, since: start)
        }
        diagnostics += log.all
    }

    private func noteMissing(
        _ template: DeviceTemplate, _ names: [String], _ mapping: NamedMapping, _ log: inout DiagnosticLog
    ) {
        let near = NearestName.of(template.typeName, among: names).map { ", or is '\($0)' there meant?" } ?? ""
        log.warning(
            template.position, "the type '\(template.typeName)' has no FHIR template",
            advice: "its readings will be rejected as noFHIRTemplate; "
                + "add one to \(mapping.fhir?.name ?? "fhir.json")\(near)",
            finding: .noFHIRTemplate)
    }

    private func checkUse(of template: DeviceTemplate, _ fhir: FHIRTemplate, _ log: inout DiagnosticLog) {
        let uses = fhir.valueUses.map(\.name)
        let free = uses.filter { name in !template.values.contains { $0.name == name } }
        for value in template.values where !uses.contains(value.name) && !MeasurementType.isSequence(value.name) {
            let near = NearestName.of(value.name, among: free).map { "; did you mean '\($0)'?" } ?? ""
            log.warning(
                value.position,
                "the FHIR template of '\(template.typeName)' does not use the value '\(value.name)'",
                advice: "it will not appear in Observations\(near)", finding: .unusedValue)
        }
        guard fhir.declaredGrouping == .correlation, template.correlation == nil, !template.retracts else { return }
        log.warning(
            template.position,
            "the FHIR template of '\(template.typeName)' groups by correlation id, and this template gives none",
            advice: "add a correlationIdExpression, or give the FHIR template a period; "
                + "until then its readings are rejected as noCorrelation",
            finding: .noCorrelation)
    }

    /// Notes templates of one type that match the same and give the same value: each payload then contradicts itself.
    func checkMatches(_ index: Int, _ log: inout DiagnosticLog) {
        let own = templates.filter { $0.mapping == index }.map(\.template)
        for (place, later) in own.enumerated() {
            let names = Set(later.values.map(\.name))
            let earlier = own[..<place].first { earlier in
                earlier.matchesSame(as: later) && earlier.values.contains { names.contains($0.name) }
            }
            guard let earlier else { continue }
            let shared = earlier.values.map(\.name).filter(names.contains)
            log.warning(
                later.position,
                "the template at line \(earlier.position.line) matches the same and gives this '\(shared[0])' too",
                advice: "tell the matches apart, or remove one: each payload gives a duplicate or a conflict",
                finding: .sameMatch)
        }
    }
}

extension DeviceTemplate {
    /// Whether both give readings of one type from the same parts of a payload at the same time.
    fileprivate func matchesSame(as other: DeviceTemplate) -> Bool {
        kind == other.kind && typeName == other.typeName && match.text == other.match.text
            && timestamp?.text == other.timestamp?.text && timestampFormat == other.timestampFormat
    }
}
