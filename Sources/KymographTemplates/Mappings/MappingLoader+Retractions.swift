import KymographCore

/// What device templates that take readings back need of those that give them (docs/retraction.md).
extension MappingLoader {
    /// A retraction is of readings that other templates give, and by an id only if these have one. Where one of a
    /// mapping that the catalogue has, or that another one extends, does not fit what is made of it, it is left out:
    /// whoever uses that mapping has not asked for retractions. What is left out is said, but where the mapping itself
    /// is by the rules of the reference.
    mutating func checkRetractions(_ mappings: [NamedMapping]) {
        var isLeftOut = templates.map { _ in false }
        for (place, linked) in templates.enumerated() where linked.template.retracts {
            guard let problem = retractionProblem(linked) else { continue }
            // The templates of a file with errors may be what is missing: one mistake is said once.
            if hasFaultyDevices, problem.maySpringFromErrors { continue }
            var log = DiagnosticLog(file: mappings[linked.mapping].device.name)
            let template = linked.template
            isLeftOut[place] = template.isInherited || mappings[linked.mapping].isOfCatalogue
            if !isLeftOut[place] {
                log.error(template.position, problem.message, advice: problem.advice, finding: problem.finding)
            } else if problem != .ownCompatibility {
                log.warning(
                    template.position,
                    "readings of '\(template.typeName)' can no longer be taken back: \(problem.message)",
                    advice: problem.adviceWhenLeftOut(isInherited: template.isInherited), finding: .wrongChange)
            }
            log.attribute(to: template.typeName, since: 0)
            diagnostics += log.all
        }
        guard isLeftOut.contains(true) else { return }
        templates = zip(templates, isLeftOut).filter { !$1 }.map { $0.0 }
    }

    /// Why the readings of a template that retracts cannot be taken back by it; nil when they can.
    private func retractionProblem(_ linked: MappingSet.LinkedTemplate) -> RetractionProblem? {
        let template = linked.template
        if template.compatibility == .iomtFHIR { return .ownCompatibility }
        let readings = templates.filter { $0.type == linked.type && !$0.template.retracts }
        if readings.isEmpty {
            return .noReadings(
                template.typeName, among: templates.filter { !$0.template.retracts }.map(\.template.typeName))
        }
        if readings.contains(where: { $0.template.compatibility == .iomtFHIR }) {
            return .otherCompatibility(template.typeName)
        }
        if drafts[linked.type].fhir?.resource != nil { return .noObservations(template.typeName) }
        let haveIds = drafts[linked.type].hasId
        guard haveIds != (template.readingId != nil) else { return nil }
        return haveIds ? .noId(template.typeName) : .noIds(template.typeName)
    }
}

/// Why a template cannot take readings back.
private enum RetractionProblem: Equatable {
    /// It is by the rules of the reference itself.
    case ownCompatibility
    /// The type has no readings.
    case noReadings(String, among: [String])
    /// Another mapping of the run gives readings of the type by the rules of the reference.
    case otherCompatibility(String)
    /// The readings become other resources.
    case noObservations(String)
    /// It names readings by ids, and they have none.
    case noIds(String)
    /// It names readings by their time, and they have ids.
    case noId(String)

    /// What is wrong.
    var message: String {
        switch self {
        case .ownCompatibility, .otherCompatibility: "there are no retractions with compatibility iomt-fhir"
        case .noReadings(let type, _): "no device template gives readings of '\(type)' to retract"
        case .noObservations(let type): "the readings of '\(type)' are no Observations"
        case .noIds(let type): "the readings of '\(type)' have no ids by which to retract them"
        case .noId(let type): "the readings of '\(type)' have ids, and this one says none"
        }
    }

    /// What to do.
    var advice: String {
        switch self {
        case .ownCompatibility:
            "its Observations are merged with those of the server, and no merge removes a value"
        case .noReadings(let type, let names):
            NearestName.advice(for: type, among: names, otherwise: "add one, or remove this")
        case .otherCompatibility(let type): "another mapping gives '\(type)' with that"
        case .noObservations: "only Observations can be retracted: they have a status that says so"
        case .noIds: "give their device template a readingIdExpression, or take this one's out"
        case .noId: "give it a readingIdExpression: by their time, readings with ids are not retracted"
        }
    }

    /// What to do where the template is left out because of it.
    func adviceWhenLeftOut(isInherited: Bool) -> String {
        switch self {
        case .otherCompatibility(let type):
            "another mapping gives '\(type)' with that: run the two in processes of their own, or accept it"
        case .ownCompatibility, .noReadings, .noObservations, .noIds, .noId:
            isInherited
                ? "leave out what changes that, or accept it"
                : "another mapping of this run changes that: run it in a process of its own, or accept it"
        }
    }

    /// What kind of finding it is.
    var finding: Finding {
        switch self {
        case .noReadings: .noDeviceTemplate
        case .noId: .missingField
        case .ownCompatibility, .otherCompatibility, .noObservations, .noIds: .unknownField
        }
    }

    /// Whether templates that could not be read may be the cause.
    var maySpringFromErrors: Bool {
        switch self {
        case .noReadings, .noIds: true
        case .ownCompatibility, .otherCompatibility, .noObservations, .noId: false
        }
    }
}
