/// The listener for metrics and health.
package struct AdminSettings: Sendable, Equatable {
    /// Where it listens; nil for nowhere.
    package var address: NetworkAddress?
    /// Whether other machines may ask without encryption.
    package var isInsecure = false
    /// How it is encrypted.
    package var tls = SourceTLS()

    /// The address as one writes it.
    static let off = "none"

    /// Whether what is served there is encrypted.
    var isEncrypted: Bool { tls.certificateFile != nil }

    /// What is wrong with the address.
    var problem: SettingProblem? {
        guard let address, !isInsecure, !isEncrypted, !address.isLoopback else { return nil }
        return SettingProblem(
            message: "other machines can reach \(address.text), and HTTP neither encrypts nor asks who reads",
            advice: "listen on 127.0.0.1 or [::1], give it an http.certificateFile, or set http.insecure to true")
    }

}
