import KymographCore

/// Checks the keys of one FHIR server against each other and against the rest.
struct ServerCheck {
    /// The files that each kind of authorization needs, by key.
    private static let needs: [ServerSettings.Authorization: [String]] = [
        .none: [], .bearer: ["tokenFile"], .basic: ["user", "passwordFile"], .oauth: ["clientId", "secretFile"],
        .smart: ["clientId", "keyFile", "keyId", "scope"],
    ]

    private let server: ServerSettings
    /// Where its values were written, by key without prefix.
    private let stated: [String: SettingOrigin]
    /// What its keys begin with in messages.
    private let prefix: String
    private let origin: SettingOrigin

    /// Checks the keys under `server`, or those of each sink.
    static func check(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        for sink in settings.sinks where sink.server.isNamed {
            let origin = sink.origins["server"] ?? .commandLine("sinks")
            ServerCheck(server: sink.server, stated: sink.origins, prefix: "", origin: origin).check(settings, &log)
        }
        let prefix = "server."
        let stated = settings.origins.filter { $0.key.hasPrefix(prefix) }
        guard settings.server.isNamed else { return checkWithout(settings, stated, log: &log) }
        let short = Dictionary(uniqueKeysWithValues: stated.map { (String($0.key.dropFirst(prefix.count)), $0.value) })
        let origin = stated["server.url"] ?? .commandLine("--server")
        ServerCheck(server: settings.server, stated: short, prefix: prefix, origin: origin).check(settings, &log)
    }

    private static func checkWithout(
        _ settings: PipelineSettings, _ stated: [String: SettingOrigin], log: inout ConfigurationLog
    ) {
        if let key = stated.keys.min(), let origin = stated[key] {
            log.add(.warning, origin, "it has no effect without a server", advice: "add server.url, or remove \(key)")
        } else if settings.outgoingSinks.isEmpty {
            let origin = settings.origins["output.to"] ?? .commandLine("--out")
            log.add(.error, origin, "output goes nowhere", advice: "name a server with server.url, or a place")
        }
    }

    private func check(_ settings: PipelineSettings, _ log: inout ConfigurationLog) {
        checkIdentity(&log)
        checkForm(settings, &log)
        checkEffect(&log)
        let missing = (ServerCheck.needs[server.authorization] ?? []).filter { stated[$0] == nil }
        guard missing.isEmpty else {
            let names = missing.map { prefix + $0 }.joined(separator: " and ")
            return log.add(
                .error, stated["authorization"] ?? origin,
                "the authorization \(server.authorization.rawValue) needs \(names)", advice: "add it")
        }
        for fault in server.access.faults(readingFiles: false) {
            log.add(.error, stated[ServerSettings.key(ofFault: fault.setting)] ?? origin, fault.message)
        }
    }

    /// Secrets without a kind of authorization: somebody thinks that they are in force.
    private func checkEffect(_ log: inout ConfigurationLog) {
        if server.authorization == .none, let (kind, secret) = statedSecret {
            log.add(
                .error, secret, "it has no effect: the server is asked without authorization",
                advice: "write \(prefix)authorization: \(kind.rawValue), or remove it")
        }
        if let origin = stated["certificateKeyFile"], stated["certificateFile"] == nil {
            log.add(
                .error, origin, "it has no effect alone", advice: "name the certificate as \(prefix)certificateFile")
        }
    }

    /// A secret that was named, and the kind of authorization that it belongs to.
    private var statedSecret: (ServerSettings.Authorization, SettingOrigin)? {
        for (kind, keys) in ServerCheck.needs.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            if let origin = keys.compactMap({ stated[$0] }).first { return (kind, origin) }
        }
        return nil
    }

    /// A Patient must not be made on a server because nobody thought of it.
    private func checkIdentity(_ log: inout ConfigurationLog) {
        guard server.identity == nil else { return }
        log.add(
            .error, origin, "\(prefix)identity is not said, and there is no default",
            advice: "write lookup when the server knows its Devices and Patients, lookupWithEncounter when each "
                + "reading must belong to an encounter, or create to have Patients and Devices made")
    }

    private func checkForm(_ settings: PipelineSettings, _ log: inout ConfigurationLog) {
        if settings.output.format != .bundle || settings.output.bundleType == .collection {
            let key = settings.output.format != .bundle ? "output.format" : "output.bundle"
            log.add(
                .error, settings.origins[key] ?? origin, "a FHIR server takes transactions and batches only",
                advice: "leave out \(key), or run another kymo for the server")
        }
        if settings.store.keeping == .nothing {
            log.add(
                .error, settings.origins["ephemeral"] ?? origin, "a FHIR server needs a data directory",
                advice: "remove ephemeral: bundles wait there while the server is away")
        }
    }
}
