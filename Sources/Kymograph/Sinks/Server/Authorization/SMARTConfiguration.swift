import KymographTemplates

/// What a FHIR server says of its authorization: `.well-known/smart-configuration` (SMART App Launch 2), or the
/// extension `oauth-uris` of its CapabilityStatement (SMART App Launch 1, "FHIR Authorization Endpoint Discovery
/// using a
/// CapabilityStatement"), which older servers have only.
struct SMARTConfiguration {
    /// Where tokens come from.
    var tokenURL: ServerURL
    /// How clients may sign; nil when the server does not say.
    var algorithms: [String]?

    private static let extensionURL = "http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris"
    /// Most bytes of a CapabilityStatement, which lists every search parameter of every resource.
    private static let longestStatement = 16 << 20
    private static let wellKnown = ".well-known/smart-configuration"

    /// The request for it.
    static func request(_ base: ServerURL, timeout: Int) -> HTTPRequest {
        HTTPRequest(
            "GET", base.appending("/\(wellKnown)"), headers: [("Accept", "application/json")], timeout: timeout)
    }

    /// The request for the CapabilityStatement, of a server that has nothing else.
    static func statementRequest(_ base: ServerURL, timeout: Int) -> HTTPRequest {
        HTTPRequest(
            "GET", base.appending("/metadata"), headers: [("Accept", "application/fhir+json")], timeout: timeout)
    }

    /// Whether the server has no document of this name, so that its CapabilityStatement is asked.
    static func isMissing(_ response: HTTPResponse) -> Bool { [404, 410].contains(response.status) }

    /// Reads the answer of `base`.
    init(_ response: HTTPResponse, of base: ServerURL) throws(AuthorizationFailure) {
        let place = "\(base.origin) \(Self.wellKnown)"
        let object = try Self.object(response, place)
        tokenURL = try Self.tokenURL(object.text("token_endpoint"), "token_endpoint", of: base, place)
        algorithms = object.texts("token_endpoint_auth_signing_alg_values_supported")
    }

    /// Reads the CapabilityStatement of `base`, which has no document of its own.
    init(statement response: HTTPResponse, of base: ServerURL) throws(AuthorizationFailure) {
        let place = "\(base.origin) /metadata, since there is no \(Self.wellKnown)"
        let object = try Self.object(response, place, most: Self.longestStatement)
        let extensions = (object.child("rest")?.elements ?? []).flatMap {
            $0.child("security")?.child("extension")?.elements ?? []
        }
        let uris = extensions.filter { $0.text("url") == Self.extensionURL }.flatMap {
            $0.child("extension")?.elements ?? []
        }
        let text = uris.first { $0.text("url") == "token" }?.text("valueUri")
        tokenURL = try Self.tokenURL(text, "token URL in the extension oauth-uris", of: base, place)
    }

    private static func object(
        _ response: HTTPResponse, _ place: String, most: Int = 1 << 20
    ) throws(AuthorizationFailure) -> JSONNode {
        guard response.status == 200 else {
            throw AuthorizationFailure(
                isRetriable: response.status >= 500 || [408, 425, 429].contains(response.status),
                "\(place): status \(response.status); if the server has none, name the token URL")
        }
        guard let object = JSONNode.response(response.body, most: most) else {
            let isLong = response.body.count > most
            throw AuthorizationFailure(
                isRetriable: !isLong,
                "\(place): the answer is \(isLong ? "too long; name the token URL" : "no JSON object")")
        }
        return object
    }

    private static func tokenURL(
        _ text: String?, _ name: String, of base: ServerURL, _ place: String
    ) throws(AuthorizationFailure) -> ServerURL {
        guard let text, let url = try? ServerURL(text) else {
            throw AuthorizationFailure(
                isRetriable: false, "\(place): names no valid \(name); name the token URL")
        }
        // Whoever could change the answer on its way must not get to see the client's secret.
        guard url.isEncrypted || !base.isEncrypted else {
            throw AuthorizationFailure(
                isRetriable: false, "\(place): its \(name) is not encrypted; name an https token URL")
        }
        return url
    }
}
