import KymographCore

extension DeliveryEngine {
    /// How long to wait before a server that cannot be delivered to is asked again, in nanoseconds.
    private static let probeInterval: Int64 = 60 * 1_000_000_000

    /// Asks the server what it can do, `wait` nanoseconds from now.
    func probe(after wait: Int64 = 0) {
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
            return refuse(
                "\(settings.base)/metadata gives no CapabilityStatement (status \(response.status)): is it the base "
                    + "URL of a FHIR server?")
        }
        if let reason = found.refusal(of: settings.version, base: settings.base) { return refuse(reason) }
        capabilities = found
        verdict = found.verdict(base: settings.base, updatesByID: updatesByID("Observation"))
        phase = .ready
    }

    private func refuse(_ reason: String) {
        phase = .refused(reason)
        verdict = reason
        channel.note(reason)
        probe(after: Self.probeInterval)
    }

    /// Whether the server makes resources of this type under our ids.
    func updatesByID(_ type: String) -> Bool {
        settings.updateCreate ?? capabilities.updateCreateTypes.contains(type)
    }
}
