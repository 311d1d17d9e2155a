import KymographCore
import KymographTemplates

/// Checks the `sinks` against each other and against the rest.
enum SinkCheck {
    static func check(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        guard !settings.sinks.isEmpty else { return }
        checkShortForms(settings, log: &log)
        if settings.sinks.count > BundleRoute.mostSinks {
            log.add(
                .error, settings.sinks[BundleRoute.mostSinks].origin, "there are \(settings.sinks.count) sinks",
                advice: "keep at most \(BundleRoute.mostSinks), or run another kymo for the others")
        }
        var names: Set<IdentifierText> = []
        var claims: Set<IdentifierText> = []
        for sink in settings.sinks {
            if let address = sink.address, let claim = address.claim,
                !claims.insert(IdentifierText(claim)).inserted
            {
                log.add(.error, sink.origin, "two sinks write to one place", advice: address.claimAdvice)
            }
            if sink.name.unicodeScalars.contains(where: { $0.value < 0x20 }) {
                log.add(.error, sink.origin, "the name has a control character", advice: "write letters and digits")
            }
            checkEffect(sink, settings.sinkKinds, log: &log)
            checkFormat(sink, log: &log)
            checkSources(sink, settings.listeningSources, log: &log)
            if sink.address != nil, !names.insert(IdentifierText(sink.name)).inserted {
                log.add(
                    .error, sink.origin, "two sinks are called '\(sink.name)'",
                    advice: "progress is kept by name: remove one, or give it another name")
            }
        }
    }

    /// Checks each sink as its kind does, and the only server. Unless there are added sinks, output must go somewhere.
    static func checkKinds(_ settings: PipelineSettings, hasAddedSinks: Bool, log: inout ConfigurationLog) {
        for sink in settings.sinks {
            guard let address = sink.address else { continue }
            note(address, stated: sink.origins, prefix: "", sink.origin, settings, log: &log)
        }
        let prefix = "server."
        let stated = settings.origins.filter { $0.key.hasPrefix(prefix) }
        guard settings.server.isNamed else {
            return checkWithoutServer(settings, stated, hasAddedSinks: hasAddedSinks, log: &log)
        }
        let short = Dictionary(uniqueKeysWithValues: stated.map { (String($0.key.dropFirst(prefix.count)), $0.value) })
        let origin = stated["server.url"] ?? .commandLine("--server")
        note(settings.server, stated: short, prefix: prefix, origin, settings, log: &log)
    }

    /// Notes what `address` finds wrong; `stated` are the places of its settings, and `origin` is its own.
    private static func note(
        _ address: any SinkAddress, stated: [String: SettingOrigin], prefix: String, _ origin: SettingOrigin,
        _ settings: PipelineSettings, log: inout ConfigurationLog
    ) {
        let keys = Set(address.kind.settings.map(\.key)).intersection(stated.keys)
        let circumstances = SinkCircumstances(
            stated: keys, prefix: prefix, output: settings.output, compatibility: settings.compatibility,
            keepsNothing: settings.store.keeping == .nothing)
        for finding in address.findings(circumstances) {
            let place =
                finding.key.flatMap { stated[$0] } ?? finding.pipelineKey.flatMap { settings.origins[$0] } ?? origin
            log.add(finding.severity, place, finding.message, advice: finding.advice)
        }
    }

    private static func checkWithoutServer(
        _ settings: PipelineSettings, _ stated: [String: SettingOrigin], hasAddedSinks: Bool,
        log: inout ConfigurationLog
    ) {
        if let key = stated.keys.min(), let origin = stated[key] {
            log.add(.warning, origin, "it has no effect without a server", advice: "add server.url, or remove \(key)")
        } else if settings.outgoingSinks.isEmpty, !hasAddedSinks {
            let origin = settings.origins["output.to"] ?? .commandLine("--out")
            log.add(.error, origin, "output goes nowhere", advice: "name a server with server.url, or a place")
        }
    }

    /// The keys for a single sink would be two ways to say one thing.
    private static func checkShortForms(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        let keys = settings.origins.keys.filter { $0 == "output.to" || $0.hasPrefix("server.") }
        guard let key = keys.min(), let origin = settings.origins[key] else { return }
        log.add(.error, origin, "it is given besides sinks", advice: "make it an element of sinks, or remove sinks")
    }

    private static func checkEffect(
        _ sink: PipelineSettings.Sink, _ kinds: SinkKinds, log: inout ConfigurationLog
    ) {
        if sink.address == nil, kinds.keys.contains(where: { sink.origins[$0] != nil }) {
            log.add(.error, sink.origin, "bundles would go nowhere", advice: "name a directory or stdout, or remove it")
        }
        for kind in kinds.all where kind.key != sink.address?.kind.key {
            let own = Set(sink.address?.kind.settings.map(\.key) ?? [])
            let stated = kind.settings.map(\.key).filter { sink.origins[$0] != nil && !own.contains($0) }
            guard let key = stated.min(), let origin = sink.origins[key] else { continue }
            let article = "aeio".contains(kind.key.prefix(1)) ? "an" : "a"
            log.add(.warning, origin, "it has no effect without \(article) \(kind.key)", advice: "remove it")
        }
    }

    private static func checkFormat(_ sink: PipelineSettings.Sink, log: inout ConfigurationLog) {
        guard sink.statedFormat == .events, let kind = sink.address?.kind, !kind.capabilities.contains(.events) else {
            return
        }
        log.add(
            .error, sink.origins["format"] ?? sink.origin, "a \(kind.key) takes no events",
            advice: "remove it, or name a directory, stdout or an eventhub")
    }

    private static func checkSources(
        _ sink: PipelineSettings.Sink, _ sources: [PipelineSettings.Source], log: inout ConfigurationLog
    ) {
        for (index, text) in sink.sources.enumerated() {
            guard let problem = strayPattern(text, among: sources.map(\.name)) else { continue }
            log.add(
                .error, sink.origins["sources[\(index)]"] ?? sink.origin, problem.message, advice: problem.advice)
        }
    }

    /// What is wrong with a pattern that no source has, which would keep everything from a sink; nil where one has it.
    static func strayPattern(_ text: String, among names: [String]) -> SettingProblem? {
        let pattern = NamePattern(text)
        guard !names.contains(where: { pattern.matches($0.utf8) }) else { return nil }
        return SettingProblem(
            message: "no source is called '\(text)'",
            advice: NearestName.advice(
                for: text, among: names, otherwise: "the sources are \(names.joined(separator: ", "))"))
    }
}

extension PipelineSettings.Sink {
    /// Where it was written.
    var origin: SettingOrigin { origins[address?.kind.key ?? "to"] ?? .commandLine("sinks") }
}
