import KymographCore

/// Checks the keys under `server` against each other and against the rest.
enum ServerCheck {
    /// The files that each kind of authorization needs, by key.
    private static let needs: [ServerSettings.Authorization: [String]] = [
        .none: [], .bearer: ["tokenFile"], .basic: ["user", "passwordFile"], .oauth: ["clientId", "secretFile"],
        .smart: ["clientId", "keyFile", "keyId", "scope"],
    ]

    static func check(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        let server = settings.server
        let stated = settings.origins.filter { $0.key.hasPrefix("server.") }
        guard server.isNamed else {
            if let key = stated.keys.min(), let origin = stated[key] {
                log.add(
                    .warning, origin, "it has no effect without a server", advice: "add server.url, or remove \(key)")
            } else if settings.destination == .nowhere {
                let origin = settings.origins["output.to"] ?? .commandLine("--out")
                log.add(.error, origin, "output goes nowhere", advice: "name a server with server.url, or a place")
            }
            return
        }
        let origin = stated["server.url"] ?? .commandLine("--server")
        checkIdentity(settings, origin, log: &log)
        checkForm(settings, origin, log: &log)
        checkEffect(stated, server, log: &log)
        let missing = (needs[server.authorization] ?? []).filter { stated["server.\($0)"] == nil }
        guard missing.isEmpty else {
            let names = missing.map { "server.\($0)" }.joined(separator: " and ")
            log.add(
                .error, stated["server.authorization"] ?? origin,
                "the authorization \(server.authorization.rawValue) needs \(names)", advice: "add it")
            return
        }
        for fault in server.access.faults(readingFiles: false) {
            let key = ServerSettings.key(ofFault: fault.setting)
            log.add(.error, stated[key] ?? origin, fault.message)
        }
    }

    /// Secrets without a kind of authorization: somebody thinks that they are in force.
    private static func checkEffect(
        _ stated: [String: SettingOrigin], _ server: ServerSettings, log: inout ConfigurationLog
    ) {
        if server.authorization == .none {
            for (kind, keys) in needs.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                for key in keys {
                    guard let origin = stated["server.\(key)"] else { continue }
                    return log.add(
                        .error, origin, "it has no effect: the server is asked without authorization",
                        advice: "write server.authorization: \(kind.rawValue), or remove it")
                }
            }
        }
        if let origin = stated["server.certificateKeyFile"], stated["server.certificateFile"] == nil {
            log.add(.error, origin, "it has no effect alone", advice: "name the certificate as server.certificateFile")
        }
    }

    /// A Patient must not be made on a server because nobody thought of it.
    private static func checkIdentity(
        _ settings: PipelineSettings, _ origin: SettingOrigin, log: inout ConfigurationLog
    ) {
        guard settings.server.identity == nil else { return }
        log.add(
            .error, origin, "server.identity is not said, and there is no default",
            advice: "write lookup when the server knows its Devices and Patients, lookupWithEncounter when each "
                + "reading must belong to an encounter, or create to have Patients and Devices made")
    }

    private static func checkForm(_ settings: PipelineSettings, _ origin: SettingOrigin, log: inout ConfigurationLog) {
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
