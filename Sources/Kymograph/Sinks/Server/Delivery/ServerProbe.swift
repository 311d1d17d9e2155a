import KymographCore
import KymographTemplates

/// Asks a server what it can do, until it can be delivered to.
final class ServerProbe {
    /// What is known of the server.
    enum Phase {
        /// Nothing yet.
        case probing
        /// It can be delivered to: what it can do, and what is done with it, in words.
        case ready(ServerCapabilities, verdict: String)
        /// It cannot; why.
        case refused(String)
    }

    /// How long to wait before a server that cannot be delivered to is asked again, in nanoseconds.
    private static let interval: Int64 = 60 * 1_000_000_000

    private let settings: DeliverySettings
    private let channel: ServerChannel
    private(set) var phase = Phase.probing

    init(_ settings: DeliverySettings, _ channel: ServerChannel) {
        self.settings = settings
        self.channel = channel
    }

    /// Whether the server can be delivered to.
    var isReady: Bool { if case .ready = phase { true } else { false } }

    /// What the server can do; nothing until it has said so.
    var capabilities: ServerCapabilities {
        if case .ready(let capabilities, _) = phase { capabilities } else { ServerCapabilities() }
    }

    /// What the server can do and what is done with it, or why nothing is; empty until it has been asked.
    var verdict: String {
        switch phase {
        case .probing: ""
        case .ready(_, let verdict): verdict
        case .refused(let reason): reason
        }
    }

    /// Asks the server, `wait` nanoseconds from now.
    func ask(after wait: Int64 = 0) {
        let request = HTTPRequest(
            "GET", settings.base + "/metadata", headers: [("Accept", "application/fhir+json")],
            timeout: settings.timeout)
        channel.send(request, after: wait) { outcome, _ in
            switch outcome {
            case .failure(let failure): .retry(failure.message)
            case .success(let response) where response.status >= 500 || response.status == 429:
                .retry("GET /metadata: \(response.status)")
            case .success: .final
            }
        } completion: { [self] outcome, _ in
            if case .success(let response) = outcome { judge(response) }
        }
    }

    private func judge(_ response: HTTPResponse) {
        let found = response.status == 200 ? ServerCapabilities(JSONNode.answer(response.body)) : nil
        guard let found else {
            let cause: DeliveryTrouble.Cause = response.status == 403 ? .credentialsRefused : .unfit
            return refuse(cause, Self.unfitness(of: response, settings.base))
        }
        if let reason = found.refusal(of: settings.version, base: settings.base) { return refuse(.unfit, reason) }
        if settings.deletesEmptied, let reason = found.refusalToDelete(base: settings.base) {
            return refuse(.unfit, reason)
        }
        let updatesByID = BundleEncoder(settings, found).updatesByID("Observation")
        channel.judge(unfit: nil)
        phase = .ready(found, verdict: found.verdict(base: settings.base, updatesByID: updatesByID))
    }

    /// Why `response` is none of a FHIR server: mostly a page for people, or the way to one.
    static func unfitness(of response: HTTPResponse, _ base: String) -> String {
        let what = "\(base)/metadata gives no CapabilityStatement"
        if (300..<400).contains(response.status), let place = response.header("Location") {
            // What follows may have what a login needs.
            let target = place.prefix { $0 != "?" && $0 != "#" }.prefix(200)
            return "\(what) (status \(response.status)): it leads to \(target), and redirects are not followed; name "
                + "the base URL of the FHIR server itself"
        }
        let isPage = response.header("Content-Type")?.lowercased().hasPrefix("text/html") == true
        return "\(what) (status \(response.status)\(isPage ? ", a page of HTML" : "")): is it the base URL of a FHIR "
            + "server?"
    }

    private func refuse(_ cause: DeliveryTrouble.Cause, _ reason: String) {
        phase = .refused(reason)
        channel.judge(unfit: DeliveryTrouble(cause, reason, isDefinite: true))
        channel.note(reason)
        ask(after: Self.interval)
    }
}
