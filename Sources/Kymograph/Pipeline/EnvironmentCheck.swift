import CKymographLinux
import Glibc
import KymographCore
package import KymographTemplates

/// What the machine has for a pipeline that is to start: everything outside the configuration that its start needs.
///
/// Nothing is made or changed: addresses are bound for a moment, and files and directories looked at. What it finds is
/// what a start would fail of, in the order in which that happens, but all of it.
package struct EnvironmentCheck {
    /// Something that keeps a pipeline from starting, or may do so later.
    package struct Finding: Sendable {
        /// What is wrong, where it was written, and what to do.
        package var diagnostic: Diagnostic
        /// The exit status (``ExitStatus``) of a start that fails of it; 0 for a warning.
        package var exitCode: Int32
    }

    /// What is wrong.
    package private(set) var findings: [Finding] = []
    /// What the operator should know, and is not wrong.
    package private(set) var notes: [String] = []

    /// Names of the sources of the instance that uses the data directory; nil when there is none.
    private var running: Set<IdentifierText>?
    private let settings: PipelineSettings

    /// Below so many free bytes a file system counts as nearly full.
    private static let leastRoom = 256 << 20

    /// Checks what a pipeline with `settings`, whose sources are named, would need. With `connecting`, servers are
    /// asked, too: each for as long as its requests may take. With `reloading`, the instance that uses the data
    /// directory is asked whether it takes over its configuration without a restart.
    package init(_ settings: PipelineSettings, connecting: Bool = false, reloading: Bool = false) {
        self.settings = settings
        checkProcessors()
        if reloading { askForReload() }
        if settings.store.keeping == .everything { checkStore() }
        for sink in settings.outgoingSinks { check(sink, connecting: connecting) }
        if settings.auditServer.isNamed { checkAuditServer(connecting: connecting) }
        if let path = settings.deadLetter { checkDeadLetters(path) }
        if let path = settings.receiptSocket { checkReceiptSocket(path) }
        if let path = settings.receipts { checkReceipts(path) }
        if let address = settings.admin.address { checkAdmin(address, settings.admin.tls) }
        for source in settings.listeningSources { check(source, connecting: connecting) }
    }

    /// The exit status of the first error, but that of a wrong configuration before all others; nil without an error.
    package var exitCode: Int32? {
        let codes = findings.filter { $0.diagnostic.severity == .error }.map(\.exitCode)
        return codes.contains(ExitStatus.config) ? ExitStatus.config : codes.first
    }

    private mutating func add(
        _ severity: Diagnostic.Severity, _ origin: SettingOrigin, _ message: String, advice: String = "",
        _ exitCode: Int32 = 0
    ) {
        let diagnostic = Diagnostic(
            severity, file: origin.file, position: origin.position, message: "\(origin.subject): \(message)",
            advice: advice)
        findings.append(Finding(diagnostic: diagnostic, exitCode: exitCode))
    }

    private mutating func add(_ error: PipelineError, _ origin: SettingOrigin) {
        add(.error, origin, error.message, error.exitCode)
    }

    /// Where the setting was written, or how one would write it.
    private func origin(_ key: String, flag: String) -> SettingOrigin { settings.origins[key] ?? .commandLine(flag) }

    private mutating func checkAuditServer(connecting: Bool) {
        let server = settings.auditServer
        let obstacles = server.obstacles(name: "audit")
        for obstacle in obstacles {
            let key = "audit.\(obstacle.key ?? "url")"
            add(.error, origin(key, flag: key), obstacle.message, obstacle.exitCode)
        }
        guard connecting, obstacles.isEmpty else { return }
        let place = origin("audit.url", flag: "audit.url")
        do throws(PipelineError) {
            notes.append(try AuditDelivery.asked(server))
        } catch {
            add(error, place)
        }
    }

    // MARK: Machine and store

    private mutating func checkProcessors() {
        var settings = settings
        do throws(PipelineError) {
            try PipelineOpening.settleThreads(&settings)
        } catch {
            add(error, origin("processors", flag: "--processors"))
        }
    }

    private mutating func checkStore() {
        let place = origin("data", flag: "--data")
        guard let path = settings.store.directory else { return add(.noDataDirectory, place) }
        do throws(StoreError) {
            if try StoreDirectory.probe(path) {
                let status = ControlClient.ask(ControlRequest(.status), path)?.status
                running = Set((status?.sources ?? []).map { IdentifierText($0.name) })
                let user = status?.process.map { "process \($0)" } ?? "another kymo"
                notes.append("\(user) uses the data directory \(path)")
            }
        } catch {
            return add(PipelineError(error), place)
        }
        checkRoom(path, place)
        do throws(PipelineError) { try settings.unlockStore() } catch { return add(error, place) }
        checkContents(of: path)
    }

    private mutating func checkRoom(_ path: String, _ place: SettingOrigin) {
        guard let free = FileSystem.freeBytes(FileSystem.existing(path)), free < Self.leastRoom else { return }
        add(
            .warning, place, "the file system of \(path) has \(ByteSizeText.text(free & ~0xF_FFFF)) left",
            advice: "make room, or name another place")
    }

    /// The mappings must fit the readings that the store has, and the identifier systems what has left it.
    private mutating func checkContents(of path: String) {
        // A store of an earlier version is brought up to date by the start, a damaged one repaired.
        guard let reader = try? StoreReader(directory: path) else { return }
        if (try? reader.hasOtherSystems(than: settings.output)) == true {
            add(PipelineError.otherSystems(path), origin("output.systems.observation", flag: "output.systems"))
        }
        guard let stored = try? reader.formerTypes(), !stored.isEmpty else { return }
        // What is wrong with the mappings themselves has been said.
        guard ConfigurationLoader.checkMappings(settings).set != nil else { return }
        let (set, diagnostics) = ConfigurationLoader.checkMappings(settings, continuingStored: stored)
        guard set == nil else { return }
        for diagnostic in diagnostics where diagnostic.severity == .error {
            findings.append(Finding(diagnostic: diagnostic, exitCode: ExitStatus.config))
        }
    }

    // MARK: Reload

    /// A refused reload is seen in the log only: who asks first can say so to whoever has ordered it.
    private mutating func askForReload() {
        // The control socket is in the data directory.
        guard settings.store.keeping == .everything else {
            return notes.append(
                "without a data directory no instance can be asked whether it takes over its configuration")
        }
        let place = origin("data", flag: "--data")
        guard let path = settings.store.directory,
            let answer = ControlClient.ask(ControlRequest(.tryReload), path)
        else {
            return add(
                .error, place, "no instance that could reload its configuration answers", advice: "start it",
                ExitStatus.unavailable)
        }
        if let error = answer.error { return add(.error, place, error, ExitStatus.unavailable) }
        for obstacle in answer.obstacles ?? [] {
            let position = SourcePosition(offset: 0, line: obstacle.line, column: obstacle.column)
            let diagnostic = Diagnostic(
                .error, file: obstacle.file, position: position, message: obstacle.message, advice: obstacle.advice)
            findings.append(Finding(diagnostic: diagnostic, exitCode: ExitStatus.config))
        }
    }

    // MARK: Sinks

    private mutating func check(_ sink: PipelineSettings.Sink, connecting: Bool) {
        guard let address = sink.address else { return }
        let opening = settings.opening(of: sink)
        let obstacles = address.obstacles(opening)
        for obstacle in obstacles { add(obstacle, of: sink) }
        guard connecting, !obstacles.contains(where: { $0.exitCode != 0 }) else { return }
        for obstacle in address.answer(opening) { add(obstacle, of: sink) }
    }

    private mutating func add(_ obstacle: SinkObstacle, of sink: PipelineSettings.Sink) {
        if obstacle.isInUse, running != nil, let name = sink.address?.name {
            return notes.append("that one probably writes to \(name)")
        }
        let place = origin(of: obstacle.key, sink)
        guard obstacle.exitCode != 0 else { return notes.append(obstacle.message) }
        add(.error, place, obstacle.message, obstacle.exitCode)
    }

    /// Where the setting `key` of a sink, or else its place, was written.
    private func origin(of key: String?, _ sink: PipelineSettings.Sink) -> SettingOrigin {
        if !settings.sinks.isEmpty { return key.flatMap { sink.origins[$0] } ?? sink.origin }
        let isServer = sink.address?.kind.key == ServerSettings.descriptor.key
        guard isServer else { return settings.origins["output.to"] ?? .commandLine("--out") }
        let known = key.flatMap { settings.origins["server.\($0)"] } ?? settings.origins["server.url"]
        return known ?? .commandLine("--server")
    }

    private mutating func checkDeadLetters(_ path: String) {
        let code = FileSystem.appending(path)
        guard code < 0 else { return }
        let error = SinkError.system(-code, "open", "the dead-letter file \(path)")
        add(PipelineError(error), origin("deadLetter", flag: "--dead-letter"))
    }

    private mutating func checkReceiptSocket(_ path: String) {
        do throws(SourceError) {
            try SocketFile.probe(path, type: Int32(SOCK_STREAM.rawValue))
        } catch {
            if error.kind == .addressInUse, running != nil { return notes.append("that one has the socket \(path)") }
            add(PipelineError(error), origin("receiptSocket", flag: "receiptSocket"))
        }
    }

    private mutating func checkReceipts(_ path: String) {
        do throws(SinkError) {
            try OutputDirectory.probe(path)
        } catch {
            guard error.kind != .inUse || running == nil else {
                return notes.append("that one probably writes receipts to \(path)")
            }
            add(PipelineError(error), origin("receipts", flag: "receipts"))
        }
    }

    private mutating func checkAdmin(_ address: NetworkAddress, _ tls: SourceTLS) {
        do throws(SourceError) {
            let hosts = try tls.open("http \(address.text)")?.renewedHosts()
            if let hosts, settings.console.isEnabled, !address.isLoopback, hosts.allSatisfy({ $0.hasPrefix("*.") }) {
                add(
                    .warning, origin("http.certificateFile", flag: "http.certificateFile"),
                    "its certificate is for no host by its full name, and the console is there for none by which "
                        + "others come",
                    advice: "give it a certificate with the name of this machine as subjectAltName")
            }
        } catch {
            add(PipelineError(error), origin("http.certificateFile", flag: "http.certificateFile"))
        }
        do throws(SourceError) {
            // Port 0 is free whatever listens.
            _ = try HTTPServer(address)
        } catch {
            guard error.kind != .addressInUse || running == nil else {
                return notes.append("that one probably listens on \(address.text)")
            }
            add(PipelineError(error), origin("http.admin", flag: "http.admin"))
        }
    }

    // MARK: Sources

    private mutating func check(_ source: PipelineSettings.Source, connecting: Bool) {
        let address = source.configuration.address
        do throws(SourceError) {
            try (address as? any ProbedSource)?.probe(source.configuration)
            if connecting { try (address as? any AnsweringSource)?.ask(source.configuration) }
        } catch {
            switch error.kind {
            case .missing:
                add(.warning, source.addressOrigin, error.message, advice: "kymo run waits for it")
            case .addressInUse where running?.contains(IdentifierText(source.name)) ?? false:
                notes.append("that one listens on \(address.name)")
            case .addressInUse, .permission, .invalidAddress, .settings, .system:
                add(PipelineError(error), source.addressOrigin)
            }
        }
    }
}
