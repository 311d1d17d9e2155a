import ArgumentParser
import Dispatch
import FoundationEssentials
import Glibc
import Kymograph
import KymographCore
import KymographTemplates

/// `kymo demo --console`: an instance with a ward of simulated devices, and its console, until it is stopped.
struct DemoConsole {
    private let folder: String
    private let ward: DemoWard
    /// Where its instance keeps data.
    private var data: String { "\(folder)/data" }

    /// - Throws: exit status 73 when there is no place for the instance's data.
    init(seed: UInt64) throws {
        let parent = ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        folder = "\(parent)/kymo-demo-\(getpid())"
        ward = DemoWard(seed: seed, folder: folder)
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StandardError.exit("cannot create \(folder): \(error)", code: ExitStatus.cannotCreate)
        }
    }

    /// Runs until a signal ends it; removes what was kept.
    func run() throws {
        ProcessPrivacy.keepFilesPrivate()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let signals = try Run.watchSignals()
        let settings = try loaded()
        let (mappings, diagnostics) = ConfigurationLoader.checkMappings(settings)
        guard let mappings else {
            Diagnostics.write(diagnostics)
            throw ExitCode(ExitStatus.software)
        }
        let outcome = try StandardError.translating { () throws(PipelineError) in
            let pipeline = try Pipeline(settings, set: mappings, notes: DemoConsole.write)
            DispatchQueue.global().async { [self] in present() }
            let actions = ConsoleActions(directory: data, settings, notes: DemoConsole.write)
            return pipeline.run(signals: signals, actions: actions) { _ in }
        }
        guard outcome.exitCode == ExitStatus.success else {
            throw StandardError.exit(outcome.message, code: outcome.exitCode)
        }
    }

    private func loaded() throws -> PipelineSettings {
        let file = "\(folder)/kymo.yaml"
        try Data(ward.patients.utf8).write(to: URL(filePath: ward.patientsFile))
        let input = ConfigurationInput(file: (file, Array(configuration.utf8)))
        var (settings, diagnostics) = ConfigurationLoader.load(input)
        guard !diagnostics.contains(where: { $0.severity == .error }) else {
            Diagnostics.write(diagnostics)
            throw ExitCode(ExitStatus.software)
        }
        settings.settleStore(environment: [:])
        return settings
    }

    private var configuration: String {
        """
        sources: [{unix: \(ward.socket), name: ward}]
        patients: \(ward.patientsFile)
        window: 5m
        lateness: 1m
        output: {to: \(folder)/observations}
        data: \(data)
        http: {admin: "127.0.0.1:0"}
        console: {enabled: true}
        """
    }

    /// Says where to look once the instance answers, and plays the ward into it.
    private func present() {
        var request = ControlRequest(.consoleLogin)
        request.role = "operate"
        for _ in 0..<200 {
            if let login = ControlClient.ask(request, data)?.login {
                StandardError.write(text(login))
                return ward.play()
            }
            usleep(50_000)
        }
        StandardError.write("kymo: the instance gives no code for its console\n")
    }

    private func text(_ login: ConsoleLogin) -> String {
        """
        Four simulated devices send for the last six hours, and from now on. All is in \(folder) until you end this.

        Open   \(login.address)#login=\(login.code)
               good once, for \(login.seconds) s; another: kymo console login --role operate --data \(data)

        strap-3      has a clock that is wild now and then: rejected as clockAhead
        watch-2      leaves gaps: see the timeline of p-2
        oximeter-4   is p-4's by the patient map, and now and then names p-1: rejected as patientDeviceMismatch

        End it with Ctrl-C.

        """
    }

    private static func write(_ note: LogEntry) {
        if note.level == .error { StandardError.write("kymo: \(note.text)\n") }
    }
}
