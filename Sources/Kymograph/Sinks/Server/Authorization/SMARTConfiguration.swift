import KymographTemplates

/// What a FHIR server says of its authorization (SMART App Launch 2, `.well-known/smart-configuration`).
struct SMARTConfiguration {
    /// Where tokens come from.
    var tokenURL: ServerURL
    /// How clients may sign; nil when the server does not say.
    var algorithms: [String]?

    /// The request for it.
    static func request(_ base: ServerURL, timeout: Int) -> HTTPRequest {
        HTTPRequest(
            "GET", base.appending("/.well-known/smart-configuration"), headers: [("Accept", "application/json")],
            timeout: timeout)
    }

    /// Reads the answer of `base`.
    init(_ response: HTTPResponse, of base: ServerURL) throws(AuthorizationFailure) {
        let place = "\(base.origin) .well-known/smart-configuration"
        guard response.status == 200 else {
            throw AuthorizationFailure(
                isRetriable: response.status >= 500 || [408, 425, 429].contains(response.status),
                "\(place): status \(response.status); if the server has none, name the token URL")
        }
        guard let object = JSONNode.response(response.body) else {
            throw AuthorizationFailure(isRetriable: true, "\(place): the answer is no JSON object")
        }
        guard let text = object.text("token_endpoint"), let url = try? ServerURL(text) else {
            throw AuthorizationFailure(
                isRetriable: false, "\(place): names no valid token_endpoint; name the token URL")
        }
        // Whoever could change the answer on its way must not get to see the client's secret.
        guard url.isEncrypted || !base.isEncrypted else {
            throw AuthorizationFailure(
                isRetriable: false, "\(place): its token_endpoint is not encrypted; name an https token URL")
        }
        tokenURL = url
        algorithms = object.texts("token_endpoint_auth_signing_alg_values_supported")
    }
}
