/// The console, which the listener for metrics and health serves.
package struct ConsoleSettings: Sendable, Equatable {
    /// Whether it is served.
    package var isEnabled = false
    /// Whether there is the role that may save mappings.
    package var edits = false

    /// What is wrong with serving it at `admin`.
    func problem(_ admin: AdminSettings) -> SettingProblem? {
        guard isEnabled else { return nil }
        guard let address = admin.address else {
            return SettingProblem(
                message: "the console is served by http.admin, which is none",
                advice: "set http.admin, such as 127.0.0.1:5790")
        }
        // Its pages are there for the names of the certificate, which can be any: see ConsoleAccess.
        if admin.isEncrypted { return nil }
        // By another name of this machine its pages would be refused.
        if ["127.0.0.1", "::1", "localhost"].contains(address.host) { return nil }
        guard !address.isLoopback else {
            return SettingProblem(
                message: "the console answers to 127.0.0.1 and [::1] only, and http.admin is \(address.text)",
                advice: "set http.admin to 127.0.0.1:\(address.port)")
        }
        return SettingProblem(
            message: "other machines can reach \(address.text), and the console is not encrypted",
            advice: "give it an http.certificateFile, or listen on 127.0.0.1 or [::1], and come by a tunnel: "
                + "ssh -L 5790:127.0.0.1:5790 HOST")
    }
}
