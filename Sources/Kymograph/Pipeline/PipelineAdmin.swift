/// Metrics, health and pages of a pipeline that are asked for by HTTP.
final class PipelineAdmin: Sendable {
    private let configuration: PipelineConfiguration
    private let output: PipelineOutput
    private let control: PipelineControl
    private let reloader: MappingReloader
    private let view: PipelineView
    /// What metrics and health are asked from; nil when that is nothing.
    private let listener: HTTPServer?
    /// Who uses the console; nil when it is not served.
    let sessions: ConsoleSessions?

    /// Those that `listener` serves, of what `view` tells.
    init(
        _ configuration: PipelineConfiguration, _ output: PipelineOutput, _ control: PipelineControl,
        _ reloader: MappingReloader, _ view: PipelineView, _ listener: HTTPServer?, _ sessions: ConsoleSessions?
    ) {
        (self.configuration, self.output, self.control) = (configuration, output, control)
        (self.reloader, self.view, self.listener, self.sessions) = (reloader, view, listener, sessions)
    }

    /// Where they are served; nil for nowhere.
    var url: String? { listener?.url }

    /// Serves metrics and health, if it is to. Without events of the system it does not: readings go first.
    func start(_ actions: ConsoleActions) -> AdminServer? {
        guard let listener else { return nil }
        do throws(SystemError) {
            let instance = InstanceView(
                facts: { [view] in view.facts }, stored: { [view] in view.storedStatus },
                disks: { [configuration] in DiskFacts.look(configuration.present.writtenDirectories) })
            let watch = try InstanceWatch(instance)
            let admin = AdminServer(
                listener, instance, watch, pages: try pages(listener, instance, watch, actions)
            ) { [control] text in
                // Whoever cannot come by TLS tries again and again.
                var entry = LogEntry.warning("http.admin: \(text)")
                entry.isFolded = true
                control.note(entry)
            }
            admin.start()
            return admin
        } catch {
            control.note(.error("\(error.message); metrics and health are not served"))
            return nil
        }
    }

    private func pages(
        _ listener: HTTPServer, _ instance: InstanceView, _ watch: InstanceWatch, _ actions: ConsoleActions
    ) throws(SystemError) -> [any AdminPages] {
        var pages: [any AdminPages] = []
        if let console = try console(listener, instance, watch, actions) { pages.append(console) }
        if let peers = configuration.settings.search.peers, let store = output.store {
            pages.append(
                SearchDoor(
                    SearchSubject(
                        directory: store.directory.path, present: { [configuration] in configuration.present },
                        mappings: configuration.mappings, peers: peers, scheme: listener.scheme, started: view.started,
                        notes: { [control] in control.note($0) })))
        }
        return pages
    }

    private func console(
        _ listener: HTTPServer, _ instance: InstanceView, _ watch: InstanceWatch, _ actions: ConsoleActions
    ) throws(SystemError) -> Console? {
        guard let sessions, let store = output.store else { return nil }
        let subject = ConsoleSubject(
            directory: store.directory.path, present: { [configuration] in configuration.present },
            started: view.started,
            view: instance, seen: { watch.latest }, actions: actions,
            mappingChanges: MappingChanges(
                check: { [reloader] in reloader.check($0) }, reload: { [reloader] in reloader.reloadMappings($0) }),
            notes: { [control] in control.note($0) })
        return try Console(subject, sessions, on: listener)
    }
}
