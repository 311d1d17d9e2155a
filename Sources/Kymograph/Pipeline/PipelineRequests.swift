import FoundationEssentials
import Glibc
import KymographCore

/// What a running pipeline answers to commands.
final class PipelineRequests: Sendable {
    private let configuration: PipelineConfiguration
    /// Where `kymo tap` looks in.
    private let taps: TapPoint
    private let output: PipelineOutput
    private let control: PipelineControl
    /// What is paused.
    private let pauses: PauseBook
    /// Where `kymo flush` asks.
    private let flushes: FlushControl
    private let workers: PipelineWorkers
    private let reloader: MappingReloader
    private let view: PipelineView
    private let admin: PipelineAdmin

    /// Those that the given parts can answer.
    init(
        _ configuration: PipelineConfiguration, _ taps: TapPoint, _ output: PipelineOutput,
        _ control: PipelineControl, _ pauses: PauseBook, _ flushes: FlushControl, _ workers: PipelineWorkers,
        _ reloader: MappingReloader, _ view: PipelineView, _ admin: PipelineAdmin
    ) {
        (self.configuration, self.taps, self.output, self.control) = (configuration, taps, output, control)
        (self.pauses, self.flushes, self.workers) = (pauses, flushes, workers)
        (self.reloader, self.view, self.admin) = (reloader, view, admin)
    }

    /// The settings in use.
    private var present: PipelineSettings { configuration.present }
    private var settings: PipelineSettings { configuration.settings }

    /// Listens in the data directory, if there is one. Whoever asks before the server runs is answered then. Without it
    /// the pipeline works all the same: commands then see the directory only.
    func listen() -> ControlServer? {
        guard let store = output.store else { return nil }
        do throws(SourceError) {
            return try ControlServer(directory: store.directory.path) { [self] line, asker in
                reply(line, asker, store)
            }
        } catch {
            control.note(.warning("\(error.message); kymo status and kymo dead see the data directory only"))
            return nil
        }
    }

    private func reply(_ line: [UInt8], _ asker: ControlServer.Asker, _ store: Store) -> ControlServer.Reply {
        guard let request = try? JSONDecoder().decode(ControlRequest.self, from: Data(line)) else {
            let error = "this is no request that kymo \(KymographVersion.number) knows"
            return .line(PipelineRequests.line(ControlAnswer(error: error)))
        }
        if let removal = request.removal { return .line(PipelineRequests.line(remove(removal, asker, store))) }
        guard let tap = request.tap else { return .line(PipelineRequests.line(answer(request, asker, store))) }
        return reply(tap, asker)
    }

    private static func line(_ answer: ControlAnswer) -> [UInt8] {
        (try? JSONEncoder().encode(answer)).map { [UInt8]($0) } ?? []
    }

    /// Opens a tap, for the user alone who runs the instance.
    private func reply(_ request: TapRequest, _ asker: ControlServer.Asker) -> ControlServer.Reply {
        let peer = PeerCredentials(asker.client.raw)
        let refusal = peer.map { TapPoint.refusal(of: request, by: $0, owner: geteuid()) } ?? "it is not known who asks"
        if let refusal { return .line(PipelineRequests.line(ControlAnswer(error: refusal))) }
        guard let tap = taps.open(request) else {
            return .line(PipelineRequests.line(ControlAnswer(error: "\(TapPoint.most) taps are open already: end one")))
        }
        if request.reveals, let peer {
            let stage = request.stage.rawValue
            control.note(
                .deed(
                    .tapReveal, by: peer.text,
                    "'kymo tap --stage \(stage) --reveal' shows identifiers: asked by \(peer.text)"))
        }
        let opening = TapOpening(process: getpid(), types: configuration.mappings.current.types.map(\.name))
        let text = TapText(reveals: request.reveals, format: request.format, sources: tappedSources)
        return .stream(PipelineRequests.line(ControlAnswer(tap: opening))) { [taps] in
            TapStream(tap, text, to: asker.client, stopEvent: asker.stopEvent).run()
            taps.close(tap)
        }
    }

    private var tappedSources: [(name: String, framing: String)] {
        present.sources.map { source in
            let isStream = source.configuration.capabilities.contains(.framing)
            return (source.name, isStream ? settings.framingText(of: source) ?? "lines" : "messages")
        }
    }

    private func answer(_ request: ControlRequest, _ asker: ControlServer.Asker, _ store: Store) -> ControlAnswer {
        if request.command == .forgetLookups { return forgetLookups() }
        if request.command == .consoleLogin { return login(request.role, asker) }
        if request.command == .tryReload { return ControlAnswer(obstacles: reloader.obstacles()) }
        if request.command == .expect { return expect(request.letters, store) }
        if let asked = request.flush { return flush(asked, asker, store) }
        if request.command == .flushProgress { return look(request.look, store) }
        if let asked = request.pause { return pause(asked, isPausing: request.command == .pause, asker, store) }
        guard let change = request.letterChange else { return ControlAnswer(status: view.status(store)) }
        if case .deliver = change, output.deliverySummaries.isEmpty {
            return ControlAnswer(
                error:
                    "this instance has no FHIR server to send entries to: end it, and replay before one with --server")
        }
        let refusals = store.read { try change.refusals($0) } ?? []
        guard store.make(change.without(refusals)) else {
            return ControlAnswer(error: "the store takes nothing at present")
        }
        return ControlAnswer(refused: refusals)
    }

    /// Expects the bytes of letters, which were received before; those that would be rejected again are refused.
    private func expect(_ numbers: [Int64], _ store: Store) -> ControlAnswer {
        // What is expected are the bytes that come: others would be taken for new ones, received now.
        let letters = (store.read { try StoredLetter.fetch(numbers, $0) } ?? []).map(present.sent)
        let trial = LetterTrial(
            present, configuration.mappings.current, types: configuration.mappings.current.types,
            sources: store.namedSources, pauses: pauses.current)
        let closed = Set(present.listeningSources.filter(\.configuration.isClosedToReplay).map(\.name))
        let (used, now) = (store.deciders, present)
        let unsent = letters.compactMap { letter -> LetterRefusal? in
            if letter.isUnproven { return LetterRefusal(letter.number, StoredLetter.unprovenText) }
            if closed.contains(letter.source) {
                return LetterRefusal(
                    letter.number,
                    "\(letter.source) takes TLS, sealed datagrams or what proxies send only: stop the "
                        + "instance, and replay then")
            }
            if let stray = now.misdirection(of: letter) { return LetterRefusal(letter.number, stray) }
            guard let lack = letter.lacks(used: used, present: settings.deciders) else { return nil }
            return LetterRefusal(letter.number, "a \(lack.name) has decided on it, and this instance has none")
        }
        let others = Set(unsent.map(\.letter))
        let refusals = unsent + trial.refusals(letters.filter { !others.contains($0.number) })
        let refused = Set(refusals.map(\.letter))
        for letter in letters where !refused.contains(letter.number) {
            letter.expect(settings.returning, isAccounted: trial.givesAll(letter), for: .seconds(3_600))
        }
        return ControlAnswer(refused: refusals)
    }

    /// A code for the console, for the user alone who can connect to the control socket.
    private func login(_ role: String?, _ asker: ControlServer.Asker) -> ControlAnswer {
        guard let sessions = admin.sessions, let url = admin.url else {
            return ControlAnswer(error: "this instance serves no console: set console.enabled to true")
        }
        guard let role = ConsoleRole(rawValue: role ?? ""), role < .edit || settings.console.edits else {
            return ControlAnswer(error: "mappings are not saved in this console: set console.edit to true")
        }
        let name = PeerCredentials(asker.client.raw)?.text ?? "a process that the kernel does not name"
        let (code, session) = sessions.issue(role, to: name)
        control.note(
            .deed(
                .consoleCode, by: name,
                "'kymo console login' gives a code for session \(session) (\(role.rawValue)): asked by \(name)",
                fields: [("session", .text(session)), ("role", .text(role.rawValue)), ("asker", .text(name))]))
        return ControlAnswer(
            login: ConsoleLogin(
                address: "\(url)\(Console.root)", code: code,
                seconds: Int(ConsoleSessions.codeTime / .seconds(1))))
    }

    private func flush(_ request: FlushRequest, _ asker: ControlServer.Asker, _ store: Store) -> ControlAnswer {
        guard !settings.output.keepsFirstVersion else {
            return ControlAnswer(
                error: "servers keep the first version of an Observation (output.write: conditional-create): later "
                    + "readings of a window that is closed before its time would never get there")
        }
        guard let answer = flushes.close(request, store) else {
            return ControlAnswer(
                error: "\(FlushPoint.most) others wait for their windows to be closed: ask again later")
        }
        // Why windows are final before their time.
        let windows = answer.closed.map { CountText.of($0, "window") } ?? "open windows"
        control.note(.info("'kymo flush' closes \(windows), asked by \(asker.name)"))
        return ControlAnswer(flush: answer)
    }

    private func look(_ look: FlushLook?, _ store: Store) -> ControlAnswer {
        guard let look, let answer = flushes.look(look, store) else {
            return ControlAnswer(
                error: "this flush is not known any more: the instance has started again, or "
                    + "\(FlushPoint.most) others came after it; 'kymo status' says what waits")
        }
        return ControlAnswer(flush: answer)
    }

    private func pause(
        _ request: PauseRequest, isPausing: Bool, _ asker: ControlServer.Asker, _ store: Store
    ) -> ControlAnswer {
        let change = PauseControl(
            book: pauses, store: store, sources: present.sources, limits: PauseLimits(present),
            keeps: { [workers] in workers.keepsMessages(source: $0) }, lanes: workers.lanes.count, asker: asker.name,
            notes: { [control] in control.note($0) })
        do throws(PipelineError) {
            let types = configuration.mappings.current.types.map(\.name)
            return ControlAnswer(pauses: try change.make(request, isPausing: isPausing, types: types))
        } catch {
            return ControlAnswer(error: error.message)
        }
    }

    private func remove(
        _ request: RemovalRequest, _ asker: ControlServer.Asker, _ store: Store
    ) -> ControlAnswer {
        let own = request.sources.filter { name in present.listeningSources.contains { $0.name == name } }
        guard own.isEmpty else {
            return ControlAnswer(error: "this instance reads \(own.joined(separator: ", ")): it is not gone")
        }
        let (devices, sources) = (request.devices.count, request.sources.count)
        let counts = "\(CountText.of(devices, "device")) and \(CountText.of(sources, "source"))"
        control.note(
            .deed(
                .sourcesRemove, by: asker.name,
                "'kymo sources remove': \(counts) are listed no more, asked by \(asker.name)", level: .info))
        do throws(StoreError) {
            try store.remove(request.names, at: WallClock.now())
        } catch {
            control.note(.error("\(error.message): what 'kymo sources' lists stays as it was"))
            return ControlAnswer(error: error.message)
        }
        return ControlAnswer()
    }

    private func forgetLookups() -> ControlAnswer {
        let servers = output.stage?.forgetLookups() ?? 0
        return ControlAnswer(error: servers > 0 ? nil : "this instance has no FHIR server that it asks for Devices")
    }
}

extension Store {
    /// Has the store's thread change dead letters, and waits until it is durable; false when that takes too long.
    func make(_ change: LetterChange) -> Bool {
        queue.add { $0.letterChanges.append(change) }
        for _ in 0..<1_000 {
            if let isDone = read({ try change.isDone($0) }), isDone { return true }
            Wait.milliseconds(10)
        }
        return false
    }
}
