import KymographTemplates

/// Where a pipeline makes and changes files.
package struct WrittenFiles {
    /// A place of a source or a sink, which may come while the pipeline runs, and where it was written.
    private let named: [(place: WritePlace, origin: SettingOrigin)]
    private let others: [WritePlace]

    /// Those of `settings`, whose store is known.
    package init(_ settings: PipelineSettings) {
        let sinks = settings.outgoingSinks.flatMap { sink in
            (sink.address?.writePlaces ?? []).map { ($0, sink.origin) }
        }
        let sources = settings.listeningSources.flatMap { source -> [(WritePlace, SettingOrigin)] in
            let address = source.configuration.address as? any FileChangingSource
            return (address?.writePlaces ?? []).map { ($0, source.addressOrigin) }
        }
        let mappings = settings.listeningSources.flatMap { source in
            Self.mappings(of: source, settings).map { ($0, source.addressOrigin) }
        }
        named = sinks + sources + mappings
        others = Self.store(settings) + Self.files(settings)
    }

    private static func store(_ settings: PipelineSettings) -> [WritePlace] {
        guard settings.store.keeping == .everything, let directory = settings.store.directory else { return [] }
        return [.folder(directory)]
    }

    private static func files(_ settings: PipelineSettings) -> [WritePlace] {
        let letters = [settings.deadLetter, settings.rejectedFile].compactMap { $0.map { WritePlace.file($0) } }
        let receipts = settings.receipts.map { [WritePlace.folder($0)] } ?? []
        let socket = settings.receiptSocket.map { [UnixSocket.writePlace($0)] } ?? []
        return letters + receipts + socket
    }

    /// Files of mappings, when the console may replace them.
    private static func mappings(of source: PipelineSettings.Source, _ settings: PipelineSettings) -> [WritePlace] {
        guard settings.console.isEnabled, settings.console.edits else { return [] }
        return settings.references(of: source).flatMap(\.watchedFiles).map { .file($0) }
    }

    /// All of them.
    package var places: [WritePlace] { named.map(\.place) + others }

    /// What sources and sinks write, and `sandbox` does not let the process write.
    func findings(in sandbox: Sandbox) -> [Diagnostic] {
        named.filter { !sandbox.allows($0.place) }.map { place, origin in
            Diagnostic(
                .error, file: origin.file, position: origin.position,
                message: "\(origin.subject): the process was started to change \(sandbox.text)",
                advice: "restart it, or have it started with sandbox: false")
        }
    }
}
