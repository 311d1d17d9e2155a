import KymographCore

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
        var names: Set<String> = []
        var places: [PipelineSettings.Destination] = [.nowhere]
        for sink in settings.sinks {
            if places.contains(sink.destination), sink.destination != .nowhere {
                log.add(.error, sink.origin, "two sinks write to one place", advice: "make one of them")
            }
            places.append(sink.destination)
            if sink.name.unicodeScalars.contains(where: { $0.value < 0x20 }) {
                log.add(.error, sink.origin, "the name has a control character", advice: "write letters and digits")
            }
            checkEffect(sink, log: &log)
            checkSources(sink, settings.listeningSources, log: &log)
            if !names.insert(sink.name).inserted {
                log.add(
                    .error, sink.origin, "two sinks are called '\(sink.name)'",
                    advice: "progress is kept by name: remove one, or give it another name")
            }
        }
    }

    /// The keys for a single sink would be two ways to say one thing.
    private static func checkShortForms(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        let keys = settings.origins.keys.filter { $0 == "output.to" || $0.hasPrefix("server.") }
        guard let key = keys.min(), let origin = settings.origins[key] else { return }
        log.add(.error, origin, "it is given besides sinks", advice: "make it an element of sinks, or remove sinks")
    }

    private static func checkEffect(_ sink: PipelineSettings.Sink, log: inout ConfigurationLog) {
        if sink.origins["to"] != nil, sink.destination == .nowhere {
            log.add(.error, sink.origin, "bundles would go nowhere", advice: "name a directory or stdout, or remove it")
        }
        let own = ["to", "server", "name", "types", "devices", "sources", "tags"]
        let others = sink.origins.keys.filter { !own.contains($0) && !$0.contains("[") }
        guard !sink.server.isNamed, let key = others.min(), let origin = sink.origins[key] else { return }
        log.add(.warning, origin, "it has no effect without a server", advice: "remove it")
    }

    /// A pattern that no source has would keep everything from a sink.
    private static func checkSources(
        _ sink: PipelineSettings.Sink, _ sources: [PipelineSettings.Source], log: inout ConfigurationLog
    ) {
        let names = sources.map(\.name)
        for (index, text) in sink.sources.enumerated() {
            let pattern = NamePattern(text)
            guard !names.contains(where: { pattern.matches($0.utf8) }) else { continue }
            log.add(
                .error, sink.origins["sources[\(index)]"] ?? sink.origin, "no source is called '\(text)'",
                advice: NearestName.advice(
                    for: text, among: names, otherwise: "the sources are \(names.joined(separator: ", "))"))
        }
    }
}

extension PipelineSettings.Sink {
    /// Where it was written.
    var origin: SettingOrigin { origins["to"] ?? origins["server"] ?? .commandLine("sinks") }
}
