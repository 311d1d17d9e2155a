/// The FHIR search of the archive, which the listener for metrics and health serves.
package struct SearchSettings: Sendable {
    /// Who may search; nil when it is not served.
    package var peers: PeerBook?
    /// The address that links begin with, without a slash at the end; nil for the one that a client has asked.
    package var url: String?

    /// Reads the address of a proxy.
    ///
    /// - Throws: ``SettingProblem`` for a text that is none.
    static func address(_ text: String) throws(SettingProblem) -> String {
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"\\?#<>".utf8.contains($0) }
        guard isPlain, text.hasPrefix("https://") || text.hasPrefix("http://"), text.utf8.count > 8 else {
            throw SettingProblem(
                message: "'\(text)' is no address of HTTP", advice: "write one such as https://kymo.example/fhir")
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    /// What is wrong with serving it at `admin`.
    func problem(_ admin: AdminSettings) -> SettingProblem? {
        guard let peers else { return nil }
        guard let address = admin.address else {
            return SettingProblem(
                message: "the search is served by http.admin, which is none",
                advice: "set http.admin, such as 127.0.0.1:5790")
        }
        guard address.isLoopback || admin.isEncrypted else {
            return SettingProblem(
                message: "other machines can reach \(address.text), and the search is not encrypted",
                advice:
                    "give it an http.certificateFile, or listen on 127.0.0.1 or [::1], and let a proxy with TLS pass "
                    + "requests on")
        }
        let areTokens = peers.current(note: { _ in }).proofs.allSatisfy { proof in
            switch proof {
            case .token: true
            case .nothing, .certificate, .pskIdentity, .sealedKey, .sharedAccess, .webhook, .nightscout, .addresses,
                .user:
                false
            }
        }
        guard !areTokens else { return nil }
        return SettingProblem(
            message: "a peer is known by something else than a token, which requests do not bear here",
            advice: "give each of its peers a tokenFile")
    }
}
