import FoundationEssentials
import KymographCore

/// The request for a token, and what of it is secret.
struct TokenRequest {
    var request: HTTPRequest
    var secrets: [String]

    /// Makes the request of `client` to `endpoint`. Reads the secret or the key, so that a new one is used from then
    /// on; `algorithms` are those that the server takes, if it says so.
    init(
        _ client: OAuthClient, to endpoint: ServerURL, algorithms: [String]?, timeout: Int, at now: Instant
    ) throws(SecretFault) {
        var form = [("grant_type", "client_credentials")]
        if !client.scope.isEmpty { form.append(("scope", client.scope)) }
        var headers = [
            ("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json"),
        ]
        switch client.proof {
        case .secret(let file, let placement):
            let (secret, _) = try file.line()
            secrets = [secret]
            switch placement {
            case .form: form += [("client_id", client.identifier), ("client_secret", secret)]
            case .header:
                // Both are encoded as in a form before they are joined (RFC 6749, section 2.3.1).
                let pair = "\(FormBody.encode(client.identifier)):\(FormBody.encode(secret))"
                headers.append(("Authorization", "Basic \(Data(pair.utf8).base64EncodedString())"))
            }
        case .signature(let file, let identifier):
            let assertion = ClientAssertion(
                client: client.identifier, audience: endpoint.text, keyIdentifier: identifier)
            let token = try Self.sign(assertion, file, algorithms, now)
            secrets = [token]
            form += [
                ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                ("client_assertion", token),
            ]
        }
        request = HTTPRequest("POST", endpoint.text, headers: headers, body: FormBody.encode(form), timeout: timeout)
    }

    private static func sign(
        _ assertion: ClientAssertion, _ file: SecretFile, _ algorithms: [String]?, _ now: Instant
    ) throws(SecretFault) -> String {
        let (pem, _) = try file.bytes()
        do throws(PrivateKey.Fault) {
            let key = try PrivateKey(pem: pem)
            let algorithm = try key.algorithm().rawValue
            guard algorithms?.contains(algorithm) ?? true else {
                let taken = algorithms?.joined(separator: ", ") ?? ""
                throw PrivateKey.Fault(description: "signs \(algorithm), but the server takes \(taken) only")
            }
            return try assertion.signed(by: key, at: now)
        } catch {
            throw file.failure(error.description)
        }
    }
}
