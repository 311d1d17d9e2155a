import KymographCore
import KymographTemplates

extension ServerSettings {
    /// The files that each kind of authorization needs, by key.
    private static let needs: [Authorization: [String]] = [
        .none: [], .bearer: ["tokenFile"], .basic: ["user", "passwordFile"], .oauth: ["clientId", "secretFile"],
        .smart: ["clientId", "keyFile", "keyId", "scope"],
    ]

    /// What is wrong with its settings, among themselves and with the rest.
    package func findings(_ circumstances: SinkCircumstances) -> [SinkFinding] {
        let (stated, prefix) = (circumstances.stated, circumstances.prefix)
        return identityFindings(prefix) + formFindings(circumstances) + accessFindings(stated, prefix)
    }

    /// What is wrong with how it is reached; `stated` are the keys that were written, behind `prefix`.
    func accessFindings(_ stated: Set<String>, _ prefix: String) -> [SinkFinding] {
        let found = effectFindings(stated, prefix)
        let missing = (Self.needs[authorization] ?? []).filter { !stated.contains($0) }
        guard missing.isEmpty else {
            let names = missing.map { prefix + $0 }.joined(separator: " and ")
            let message = "the authorization \(authorization.rawValue) needs \(names)"
            return found + [SinkFinding(.error, key: "authorization", message, advice: "add it")]
        }
        return found
            + access.faults(readingFiles: false).map { fault in
                SinkFinding(.error, key: Self.key(ofFault: fault.setting), fault.message)
            }
    }

    /// A Patient must not be made on a server because nobody thought of it.
    private func identityFindings(_ prefix: String) -> [SinkFinding] {
        guard identity == nil else { return [] }
        return [
            SinkFinding(
                .error, "\(prefix)identity is not said, and there is no default",
                advice: "write lookup when the server knows its Devices and Patients, lookupWithEncounter when each "
                    + "reading must belong to an encounter, or create to have Patients and Devices made")
        ]
    }

    private func formFindings(_ circumstances: SinkCircumstances) -> [SinkFinding] {
        var found: [SinkFinding] = []
        let output = circumstances.output
        if output.format != .bundle || output.bundleType == .collection {
            let key = output.format != .bundle ? "output.format" : "output.bundle"
            found.append(
                SinkFinding(
                    .error, pipelineKey: key, "a FHIR server takes transactions and batches only",
                    advice: "leave out \(key), or run another kymo for the server"))
        }
        if emptied == .delete, circumstances.compatibility == .iomtFHIR {
            found.append(
                SinkFinding(
                    .error, key: "emptied",
                    "compatibility iomt-fhir merges Observations with what the server has, and others may have added "
                        + "to them",
                    advice: "leave out emptied: they stay, with the status entered-in-error"))
        }
        if circumstances.keepsNothing {
            found.append(
                SinkFinding(
                    .error, pipelineKey: "ephemeral", "a FHIR server needs a data directory",
                    advice: "remove ephemeral: bundles wait there while the server is away"))
        }
        return found
    }

    /// Secrets without a kind of authorization: somebody thinks that they are in force.
    private func effectFindings(_ stated: Set<String>, _ prefix: String) -> [SinkFinding] {
        var found: [SinkFinding] = []
        if authorization == .none, let (kind, key) = Self.statedSecret(stated) {
            found.append(
                SinkFinding(
                    .error, key: key, "it has no effect: the server is asked without authorization",
                    advice: "write \(prefix)authorization: \(kind.rawValue), or remove it"))
        }
        if stated.contains("certificateKeyFile"), !stated.contains("certificateFile") {
            found.append(
                SinkFinding(
                    .error, key: "certificateKeyFile", "it has no effect alone",
                    advice: "name the certificate as \(prefix)certificateFile"))
        }
        return found
    }

    /// A secret that was named, and the kind of authorization that it belongs to.
    private static func statedSecret(_ stated: Set<String>) -> (Authorization, key: String)? {
        for (kind, keys) in needs.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            if let key = keys.first(where: stated.contains) { return (kind, key) }
        }
        return nil
    }

    /// The key, without `server.`, whose value a fault of ``ServerAccess`` is about.
    static func key(ofFault setting: String) -> String {
        let names = [
            "http.caFile": "caFile", "http.clientCertificate.certificateFile": "certificateFile",
            "http.clientCertificate.keyFile": "certificateKeyFile", "http.connectionsPerHost": "connections",
            "requestTimeout": "timeout", "authorization.client": "clientId", "authorization.tokenURL": "tokenUrl",
            "authorization.keyIdentifier": "keyId",
        ]
        return names[setting] ?? setting.split(separator: ".").last.map(String.init) ?? "url"
    }
}
