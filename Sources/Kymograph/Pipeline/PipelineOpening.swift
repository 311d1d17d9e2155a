import CKymographLinux
import KymographCore
import KymographTemplates

/// Opens what a pipeline needs from outside.
enum PipelineOpening {
    /// Keeps in `store` what decides on readings, and warns of what did and does not any more.
    static func settleDeciders(
        _ settings: PipelineSettings, _ store: Store, _ notes: LogTaker
    ) throws(PipelineError) {
        for missing in StoreDecider.allCases where store.deciders.subtracting(settings.deciders).contains(missing) {
            notes(
                .warning(
                    "an earlier run of this store had a \(missing.name), and this one has none: readings are taken, "
                        + "and filed, as their messages say; if that is not meant, \(missing.remedy)"))
        }
        do throws(StoreError) { try store.note(settings.deciders) } catch { throw PipelineError(error) }
    }

    /// How resources are written beside `store`: where `output.attachOver` has gone, and earlier runs have sent samples
    /// in documents, no more leave, and later versions of windows take those back.
    static func output(
        _ settings: PipelineSettings, _ store: Store?, _ notes: LogTaker
    ) throws(PipelineError) -> ObservationOptions {
        var output = settings.output
        guard let store else { return output }
        let keepsSystems: Bool
        do throws(StoreError) { keepsSystems = try store.keepSystems(of: output) } catch { throw PipelineError(error) }
        guard keepsSystems else { throw PipelineError.otherSystems(store.directory.path) }
        if output.attachOver > 0 {
            do throws(StoreError) { try store.noteDocuments() } catch { throw PipelineError(error) }
        } else if store.hasSentDocuments == true {
            let earlier = "an earlier run of this store had output.attachOver, and this one has none: "
            if output.version == .stu3 || output.profile == .phd {
                notes(
                    .warning(
                        earlier + "as this one writes, it cannot take back the DocumentReferences with samples; delete "
                            + "those of windows that change on the server"))
            } else {
                output.attachOver = ObservationOptions.noneLeaves
                notes(
                    .info(
                        earlier + "later versions of windows take back DocumentReferences with samples, as "
                            + "entered-in-error"))
            }
        }
        return output
    }

    /// The store, unless everything stays in memory. `notes` takes what the operator should know before it is open.
    static func store(
        _ settings: PipelineSettings, notes: @escaping LogTaker
    ) throws(PipelineError) -> Store? {
        guard settings.store.keeping == .everything else {
            guard !settings.store.encryption.isOn else { throw settings.nothingToEncrypt }
            guard settings.store.keepRaw == 0 else { throw PipelineError.noStoreForPayloads }
            return nil
        }
        guard let path = settings.store.directory else { throw PipelineError.noDataDirectory }
        try settings.unlockStore()
        do throws(StoreError) {
            return try Store(path: path, settings: settings.store, notes: notes)
        } catch {
            throw PipelineError(error)
        }
    }

    /// `settings`, with the numbers under which the ledger of `store`, or else this run, knows the sources.
    static func numbered(_ settings: PipelineSettings, _ store: Store?) throws(PipelineError) -> PipelineSettings {
        var settings = settings
        var numbers = settings.sources.indices.map { min($0 + 1, ReadingSource.other) }
        do throws(StoreError) {
            if let store { numbers = try store.sourceNumbers(settings.sources.map { ($0.name, $0.timezone?.name) }) }
        } catch {
            throw PipelineError(error)
        }
        for index in settings.sources.indices { settings.sources[index].ledgerNumber = numbers[index] }
        let present = zip(settings.sources, numbers).map { (name: $0.name, number: $1) }
        settings.resolveSources((store?.namedSources ?? []) + present)
        if let fault = settings.unknownSource { throw PipelineError(message: fault, exitCode: ExitStatus.config) }
        return settings
    }

    /// `set`, with the numbers of the types that `store` has readings of.
    static func continuing(
        _ store: Store?, _ settings: PipelineSettings, _ set: MappingSet,
        findings: (@Sendable ([Diagnostic]) -> Void)?
    ) throws(PipelineError) -> MappingSet {
        guard let store else { return set }
        let stored: [FormerType]
        do throws(StoreError) { stored = try store.formerTypes() } catch { throw PipelineError(error) }
        guard !stored.isEmpty else { return set }
        let (joined, diagnostics) = ConfigurationLoader.checkMappings(settings, continuingStored: stored)
        if let joined { return joined }
        let errors = diagnostics.filter { $0.severity == .error }
        findings?(errors)
        let message = "the mappings do not fit the readings in \(store.directory.path)"
        // What has been told with its place is not told again.
        let detail = findings == nil ? errors.first.map { ": \($0.text)" } : nil
        throw PipelineError(message: message + (detail ?? ""), exitCode: ExitStatus.config)
    }

    /// Decides how many threads there are, and checks that they may be where they are to be.
    static func settleThreads(_ settings: inout PipelineSettings) throws(PipelineError) {
        settings.settleThreads(processors: Int(kymo_processor_count()))
        guard let processor = settings.processors.first(where: { kymo_processor_allowed(Int32(clamping: $0)) == 0 })
        else { return }
        throw PipelineError(
            message: "this process may not run on processor \(processor): name others in processors (taskset -cp $$ "
                + "lists them), or none",
            exitCode: ExitStatus.config)
    }

    /// What brings the audit trail of `store` to the server that is to have it; nil where none is named.
    static func auditDelivery(
        _ settings: PipelineSettings, _ store: Store?, _ notes: @escaping LogTaker
    ) throws(PipelineError) -> AuditDelivery? {
        guard settings.auditServer.isNamed else { return nil }
        guard let store else { throw PipelineError.noStoreForAudit }
        return try AuditDelivery(settings.auditServer, dataDirectory: store.directory.path, notes: notes)
    }

    /// The listener for metrics and health.
    static func adminListener(_ settings: PipelineSettings) throws(PipelineError) -> HTTPServer? {
        guard let address = settings.admin.address else { return nil }
        var limits = HTTPLimits()
        // The playground is given a payload and two mapping files.
        if settings.console.isEnabled { limits.bodyBytes = 1 << 20 }
        do throws(SourceError) {
            let tls = try settings.admin.tls.open("http \(address.text)")
            return try HTTPServer(address, tls: tls, limits: limits)
        } catch {
            throw PipelineError(error)
        }
    }

    /// What makes readings durable in `store`, and delivers what they show; nil without a store.
    static func stage(
        _ store: Store?, _ outputs: OutputStages, _ configuration: PipelineConfiguration, _ control: PipelineControl,
        settled: @escaping @Sendable ([Settlement]) -> Void
    ) throws(PipelineError) -> StoreStage? {
        guard let store else {
            guard let taker = outputs.opened.first(where: \.takesByItself) else { return nil }
            throw PipelineError(
                message: "\(taker.name) needs a data directory: remove ephemeral", exitCode: ExitStatus.config)
        }
        let settings = configuration.settings
        let stage = try StoreStage(
            store, settings: settings, rotation: { configuration.present.rotation }, outputs: outputs,
            mappings: configuration.mappings, control: control, settled: settled)
        store.begin(shards: settings.shards)
        return stage
    }

    static func bells(_ count: Int) throws(SystemError) -> [Doorbell] {
        var bells: [Doorbell] = []
        for _ in 0..<count { bells.append(try Doorbell()) }
        return bells
    }

    /// Which lane reads which source: what can be shared is read by all lanes, the others are dealt out in turn.
    private static func assignment(_ settings: PipelineSettings) -> [[Int]] {
        var lanes: [[Int]] = Array(repeating: [], count: settings.lanes)
        var turn = 0
        for (number, source) in settings.sources.enumerated() {
            if source.configuration.isShareable {
                for lane in lanes.indices { lanes[lane].append(number) }
            } else {
                lanes[turn % lanes.count].append(number)
                turn += 1
            }
        }
        return lanes.filter { !$0.isEmpty }
    }

    static func lanes(
        _ settings: PipelineSettings, _ holds: SourceHolds, _ live: LiveSources
    ) throws(SourceError) -> [Lane] {
        let assignment = assignment(settings)
        if assignment.count > 1 { try claimPorts(settings) }
        var lanes: [Lane] = []
        for numbers in assignment {
            let configurations = numbers.map { settings.laneConfiguration($0, sharesPort: assignment.count > 1) }
            lanes.append(try Lane(configurations, holds: holds, live: live))
        }
        return lanes
    }

    /// Takes what lanes share for a moment without sharing it. Lanes that share a port would share it with another
    /// process too, which then got a part of the readings; so nobody else may have it when they begin.
    private static func claimPorts(_ settings: PipelineSettings) throws(SourceError) {
        _ = try Lane(settings.sources.map(\.configuration).filter(\.isShareable))
    }
}

/// How long lanes and shards may let work gather.
extension PipelineSettings {
    /// Most nanoseconds of a rest: a small part of the time that Observations wait for their bundle in any case, so
    /// that nobody notices it; none where they are not to wait.
    var longestRest: Int64 { min(1_000_000, bundleAge / 200) }
}

extension PipelineError {
    /// Nothing says where data are kept, and there is not even a home folder.
    static let noDataDirectory = PipelineError(
        message: "there is no place for data: name one with --data DIR, or keep nothing with --ephemeral",
        exitCode: ExitStatus.config)

    /// What the console shows is in the store, and its codes come by a socket in the data directory.
    static let noStoreForConsole = PipelineError(
        message: "the console needs a data directory: name one with --data DIR, without --ephemeral, or set "
            + "console.enabled to false", exitCode: ExitStatus.config)

    static let noStoreForPayloads = PipelineError(
        message: "store.keepRaw needs a data directory: name one with --data DIR, without --ephemeral, or leave it out",
        exitCode: ExitStatus.config)

    static let noStoreForAudit = PipelineError(
        message: "audit.url needs a data directory: name one with --data DIR, without --ephemeral, or leave it out",
        exitCode: ExitStatus.config)

    static let noStoreForSearch = PipelineError(
        message: "the search needs a data directory: name one with --data DIR, without --ephemeral, or leave "
            + "search.peers out", exitCode: ExitStatus.config)

    init(_ error: SourceError) {
        message = error.message
        exitCode =
            switch error.kind {
            case .permission: ExitStatus.noPermission
            case .settings: ExitStatus.config
            case .addressInUse, .invalidAddress, .missing, .system: ExitStatus.osError
            }
    }

    init(_ error: SinkError) { self.init(message: error.message, exitCode: error.exitCode) }
}
