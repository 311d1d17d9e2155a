import KymographCore
import KymographTemplates

/// Checks what one value alone does not show: sources against each other, settings against their companions.
enum SettingsCheck {
    /// Notes everything that cannot work, or has no effect, in `settings`. With `hasAddedSinks`, output goes somewhere
    /// whatever they say.
    static func check(_ settings: PipelineSettings, hasAddedSinks: Bool, log: inout ConfigurationLog) {
        checkAddresses(settings.sources, log: &log)
        for source in settings.sources { check(source, settings, log: &log) }
        checkAdmin(settings, log: &log)
        checkSearch(settings, log: &log)
        checkConsole(settings, log: &log)
        checkKeys(settings, log: &log)
        checkAudit(settings, log: &log)
        checkPayloads(settings.store, settings.origins["store.keepRaw"], log: &log)
        FramingCheck.check(settings, log: &log)
        checkSystems(settings, log: &log)
        checkTags(settings, log: &log)
        for key in PatientSettings.keysOfMap where settings.patients.book == nil {
            guard let origin = settings.origins[key], settings.origins["patients"] == nil else { continue }
            log.add(.warning, origin, "it has no effect without a patient map", advice: "name one as patients")
        }
        for idle in IdleSetting.all(settings) {
            guard let origin = settings.origins[idle.key] else { continue }
            log.add(.warning, origin, idle.message, advice: idle.advice)
        }
        checkWatch(settings, log: &log)
        PathCheck.check(settings, log: &log)
        WritableFileCheck.check(settings, log: &log)
        checkProfile(settings, log: &log)
        checkAttachments(settings, log: &log)
        SinkCheck.check(settings, log: &log)
        SinkCheck.checkKinds(settings, hasAddedSinks: hasAddedSinks, log: &log)
    }

    private static func checkAddresses(_ sources: [PipelineSettings.Source], log: inout ConfigurationLog) {
        var seen: Set<IdentifierText> = []
        for source in sources {
            guard let claim = source.configuration.address.claim, !seen.insert(IdentifierText(claim)).inserted
            else { continue }
            log.add(
                .error, source.addressOrigin, "two sources have \(claim)",
                advice: "remove one, or choose another address")
        }
        TopicCheck.checkGroups(sources, log: &log)
        let brokers = sources.filter { $0.configuration.capabilities.contains(.broker) }
        for source in brokers where !seen.insert(IdentifierText(source.name)).inserted {
            log.add(
                .error, source.addressOrigin, "two sources are called \(source.name)",
                advice: "give each a name of its own, or name all topics at one of them")
        }
        for source in brokers {
            guard let session = source.statedSession, !seen.insert(IdentifierText(session)).inserted else { continue }
            log.add(
                .error, source.origins["clientId"] ?? source.addressOrigin, "two sources have this client id",
                advice: "give each a clientId of its own: a broker has one connection of each")
        }
    }

    private static func check(
        _ source: PipelineSettings.Source, _ settings: PipelineSettings, log: inout ConfigurationLog
    ) {
        let (configuration, mappings) = (source.configuration, settings.mappings(of: source))
        if let problem = configuration.address.problem(in: configuration) {
            log.add(.error, source.addressOrigin, problem.message, advice: problem.advice)
        }
        TopicCheck.check(source, keepsNothing: settings.store.keeping == .nothing, log: &log)
        if let origin = source.origins["peers"], let problem = PeersFile.problem(of: configuration, mappings: mappings)
        {
            log.add(.error, origin, problem.message, advice: problem.advice)
        }
        if let origin = source.origins["peers"], let problem = PeersFile.warning(of: configuration) {
            log.add(.warning, origin, problem.message, advice: problem.advice)
        }
        for row in SourceSettings.limited where !configuration.capabilities.isSuperset(of: row.needs) {
            guard let origin = source.origins[row.setting.key] else { continue }
            log.add(.warning, origin, "it has no effect here", advice: row.advice(settings.kinds.keys(with: row.needs)))
        }
    }

    /// A text is the same tag for all readings of its rule. What looks like a path of the reading was meant as one,
    /// mostly.
    private static func checkTags(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        let origin = settings.origins["rules"] ?? .commandLine("rules")
        for rule in settings.ruleList.readings {
            for tag in rule.tags {
                guard let element = TagText.meantElement(tag) else { continue }
                log.add(
                    .warning, origin,
                    "the rule '\(rule.name)' adds the tag '\(tag)' as it stands: a text is a constant",
                    advice: "for a tag by what each reading says, write \(element)")
            }
        }
    }

    private static func checkWatch(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        guard settings.watchesConfiguration, settings.configurationFiles.allSatisfy({ $0 == "-" }),
            let origin = settings.origins["watchConfig"]
        else { return }
        log.add(.warning, origin, "it has no effect without a configuration file", advice: "name one with --config")
    }

    private static func checkConsole(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        if settings.console.edits, !settings.console.isEnabled, let origin = settings.origins["console.edit"] {
            log.add(.warning, origin, "it has no effect without the console", advice: "set console.enabled to true")
        }
        guard let problem = settings.console.problem(settings.admin) else { return }
        let origin = settings.origins["console.enabled"] ?? .commandLine("console.enabled")
        log.add(.error, origin, problem.message, advice: problem.advice)
    }

    private static func checkSearch(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        if settings.search.peers == nil, let origin = settings.origins["search.url"] {
            log.add(.warning, origin, "it has no effect without the search", advice: "set search.peers")
        }
        if settings.search.peers != nil, settings.decidesOnResources {
            log.add(
                .error, settings.origins["rules"] ?? .commandLine("rules"),
                "the search would show what its rules of resources veto, and leave out what they patch",
                advice: "take 'resources' out of the file, or leave search.peers out")
        }
        guard let problem = settings.search.problem(settings.admin) else { return }
        let origin = settings.origins["search.peers"] ?? .commandLine("search.peers")
        log.add(.error, origin, problem.message, advice: problem.advice)
    }

    private static func checkKeys(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        let encryption = settings.store.encryption
        guard encryption.keyFile != nil, encryption.credential != nil,
            let origin = settings.origins["encryption.credential"]
        else { return }
        log.add(.error, origin, "it is given besides encryption.keyFile", advice: "remove one of them")
    }

    /// Payloads are found by the readings of windows.
    private static func checkPayloads(_ store: StoreSettings, _ origin: SettingOrigin?, log: inout ConfigurationLog) {
        if let origin, store.keepRaw > 0, store.keeping == .nothing {
            log.add(
                .error, origin, "payloads cannot be kept without a data directory",
                advice: "name one with data, without ephemeral, or remove this")
        }
        guard let origin, store.archiveAge > 0, store.keepRaw > store.archiveAge else { return }
        log.add(
            .error, origin, "payloads would be kept for longer than the windows that they are found by",
            advice: "raise store.archiveAge, too, or lower this")
    }

    private static func checkAudit(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        let prefix = "audit."
        let stated = settings.origins.filter { $0.key.hasPrefix(prefix) }
        guard settings.auditServer.isNamed else {
            guard let key = stated.keys.min(), let origin = stated[key] else { return }
            return log.add(
                .warning, origin, "it has no effect without audit.url", advice: "set audit.url, or remove it")
        }
        let origin = stated["audit.url"] ?? .commandLine("audit.url")
        if settings.store.keeping == .nothing {
            log.add(
                .error, origin, "there is no audit trail without a data directory",
                advice: "name one with data, without ephemeral, or remove audit.url")
        }
        let keys = Set(stated.keys.map { String($0.dropFirst(prefix.count)) })
        for finding in settings.auditServer.accessFindings(keys, prefix) {
            let place = finding.key.flatMap { stated[prefix + $0] } ?? origin
            log.add(finding.severity, place, finding.message, advice: finding.advice)
        }
    }

    private static func checkAdmin(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        let admin = settings.admin
        if let problem = admin.tls.problem {
            let keys = ["certificateKeyFile", "clientCRLFile", "clientCAFile"].map { "http.\($0)" }
            let origin = keys.compactMap { settings.origins[$0] }.first ?? .commandLine("http.certificateFile")
            log.add(.error, origin, problem.message, advice: problem.advice)
        }
        if admin.address == nil, let origin = settings.origins["http.certificateFile"] {
            log.add(.warning, origin, "it has no effect: http.admin is none", advice: "set http.admin")
        }
        if admin.isEncrypted, admin.isInsecure, let origin = settings.origins["http.insecure"] {
            log.add(.warning, origin, "it has no effect: http.certificateFile encrypts all", advice: "remove it")
        }
        guard let problem = settings.admin.problem else { return }
        let origin = settings.origins["http.admin"] ?? .commandLine("http.admin")
        log.add(.error, origin, problem.message, advice: problem.advice)
    }

    /// Patients and wearers are both Patient resources: with one system, the patient `7` and the wearer of device `7`
    /// would be one person.
    private static func checkSystems(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        guard settings.output.patientSystem == settings.output.deviceSubjectSystem,
            let origin = settings.origins["output.systems.deviceSubject"] ?? settings.origins["output.systems.patient"]
        else { return }
        log.add(
            .error, origin, "patient and deviceSubject have one identifier system",
            advice: "give them two, or a patient and the wearer of a device of the same number become one person")
    }

    /// The Personal Health Devices guide is of R4, and demands references that only bundles can hold.
    /// STU3 has no reference from an Observation to a document, and the guide wants samples where they are read.
    private static func checkAttachments(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        let output = settings.output
        guard output.attachOver > 0, let origin = settings.origins["output.attachOver"] else { return }
        if output.version == .stu3 {
            log.add(
                .error, origin, "Observations of FHIR STU3 refer to no documents",
                advice: "write 0, or set output.fhirVersion to R4")
        }
        if output.profile == .phd {
            log.add(
                .error, origin, "the profile phd has samples in their Observation",
                advice: "write 0, or leave output.profile out")
        }
        if settings.compatibility == .iomtFHIR {
            log.add(
                .warning, origin, "it has no effect with compatibility iomt-fhir",
                advice: "leave it out: samples are merged with those that the server has in its Observation")
        }
    }

    private static func checkProfile(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        let output = settings.output
        guard output.profile == .phd, let origin = settings.origins["output.profile"] else { return }
        func refuse(_ key: String, _ message: String, _ advice: String) {
            log.add(.error, settings.origins[key] ?? origin, message, advice: advice)
        }
        if ![.r4, .r4b].contains(output.version) {
            refuse("output.fhirVersion", "the profile phd is of FHIR R4", "set output.fhirVersion to R4")
        }
        if output.format != .bundle {
            refuse("output.format", "the profile phd needs references within bundles", "set output.format to bundle")
        }
        if output.bundleType == .batch {
            refuse(
                "output.bundle", "the profile phd needs references within bundles", "set output.bundle to transaction")
        }
        if output.gateway.isEmpty {
            refuse("output.gateway", "the profile phd needs to know this gateway", "set output.gateway to its EUI-64")
        }
    }
}

extension PipelineSettings.Source {
    /// The session that it names at its broker.
    fileprivate var statedSession: String? {
        configuration.mqtt.clientID.map { "client \($0) of \(configuration.address.name)" }
    }

    /// Where the address was written.
    var addressOrigin: SettingOrigin {
        origins[configuration.address.kind.key] ?? .commandLine(configuration.address.name)
    }
}
