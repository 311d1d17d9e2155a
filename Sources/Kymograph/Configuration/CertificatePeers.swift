import KymographCore
import KymographTemplates

/// What is asked of entries of a list of peers that are known by certificates.
enum CertificatePeers {
    /// Notes what is wrong with `entry` by itself.
    static func check(_ entry: PeersFile.PeerEntry, log: inout ConfigurationLog) {
        let rule = entry.rule
        guard case .certificate(let pattern) = rule.proof else {
            if let origin = entry.origins["deviceFrom"] {
                log.add(
                    .error, origin, "'deviceFrom' is for peers that are known by their certificate",
                    advice: "name their devices in devices")
            }
            return
        }
        if rule.deviceFrom != nil, !rule.devices.isEmpty, let origin = entry.origins["deviceFrom"] {
            log.add(
                .error, origin, "'deviceFrom' is given besides 'devices'",
                advice: "remove devices: each client brings the readings of the one device that its certificate names")
        }
        if pattern.isPrefix, rule.deviceFrom == nil, let origin = entry.origins["certificate"] {
            log.add(
                .error, origin, "'\(pattern.text)' does not say in which name of a certificate it is looked for",
                advice: "state deviceFrom, or name one certificate")
        }
    }

    /// Notes peers whose certificates would be another's as well: neither would be let in by them.
    static func checkBorders(_ entries: [PeersFile.PeerEntry], log: inout ConfigurationLog) {
        let known = entries.compactMap { entry in
            if case .certificate(let pattern) = entry.rule.proof { (entry, pattern) } else { nil }
        }
        for (entry, pattern) in known {
            guard let origin = entry.origins["certificate"],
                let other = known.first(where: { $0.1 != pattern && $0.1.covers(pattern) })
            else { continue }
            log.add(
                .error, origin, "certificates of '\(pattern.text)' are those of '\(other.1.text)', too",
                advice: "a certificate with the names of two peers is neither's: give them other names, or make them "
                    + "one peer")
        }
    }
}
