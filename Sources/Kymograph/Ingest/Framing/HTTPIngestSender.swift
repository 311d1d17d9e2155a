import KymographCore

/// Who sends a request, by the list of peers of its source.
enum HTTPIngestSender {
    /// What is taken of the sender of `request`; nil for all, where there is no list of peers.
    ///
    /// - Throws: ``HTTPDecline`` when it is not known, or has to wait with its body.
    static func admission(
        of request: ReceivedRequest, _ intake: inout StreamIntake, hasBody: Bool = false
    ) throws(HTTPDecline) -> PeerAdmission? {
        guard intake.asksWhoSends else { return nil }
        let credential = credential(of: request, hasBody: hasBody)
        switch intake.sender(bearing: credential) {
        case .anybody: return nil
        case .unknown:
            var unknown = decline(
                401, "unauthorized", advice(credential), "WWW-Authenticate",
                credential == nil ? "Bearer" : "Bearer error=\"invalid_token\"")
            unknown.refusal = (.unknownPeer, nil)
            throw unknown
        case .known(let admission):
            let wait = admission.grant?.wait ?? 0
            // A body that has come is taken, unless nobody could say before it whose it is.
            guard wait > 0, hasBody == credential?.isOfBody ?? false else { return admission }
            var early = decline(429, "rateLimited", "wait as long as Retry-After says", "Retry-After", "\(wait)")
            early.refusal = (.rateLimited, admission)
            throw early
        }
    }

    /// Most bytes of a body that is needed to know who sends it.
    static let mostUnproven = 1 << 20

    /// Whether the body of `request` says who sends it.
    static func isSigned(_ request: ReceivedRequest) -> Bool {
        credential(of: request, hasBody: false)?.isOfBody ?? false
    }

    /// Refuses a body that is too long to be kept for an unknown sender.
    ///
    /// - Throws: ``HTTPDecline``, also when its length is not stated.
    static func checkUnproven(_ body: HTTPHead.Body) throws(HTTPDecline) {
        guard case .length(let count) = body else {
            throw HTTPDecline(411, "lengthRequired", "state the Content-Length of a signed body")
        }
        guard count <= mostUnproven else {
            throw HTTPDecline(413, "bodyTooLarge", "a signed body may have \(mostUnproven) bytes")
        }
    }

    private static func advice(_ credential: RequestCredential?) -> String {
        switch credential {
        case .webhook:
            "the signature is not that of a peer of the list, or its time is more than 5 minutes from now: look at "
                + "the secret and the clocks"
        case .malformedWebhook:
            "webhook-id, without a full stop, webhook-timestamp, in seconds since 1970, and webhook-signature, with a "
                + "'v1,' and Base64 of 32 bytes, must be there once each"
        case .hashedSecret: "the api-secret is not the SHA-1 of one of the list of peers"
        case .token, .signature, .unknown, nil: "name a token of the list of peers in Authorization: Bearer"
        }
    }

    /// What `request` proves who sends it by; nil when it does not. A token is that of RFC 6750, section 2.1.
    private static func credential(of request: ReceivedRequest, hasBody: Bool) -> RequestCredential? {
        let values = request.values(of: "authorization")
        guard let value = values.first else {
            return webhook(of: request, hasBody: hasBody) ?? hashedSecret(of: request)
        }
        guard values.count == 1 else { return .unknown }
        if let signature = SharedAccessSignature(value) {
            let host = request.values(of: "host").first ?? ""
            return .signature(signature, RequestTarget(host: host, path: request.path))
        }
        let parts = value.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return .unknown }
        return .token(String(parts[1]))
    }

    /// By the fields of Standard Webhooks, or by those of Svix.
    private static func webhook(of request: ReceivedRequest, hasBody: Bool) -> RequestCredential? {
        for prefix in WebhookSignature.fieldPrefixes {
            let signatures = request.values(of: prefix + "signature")
            guard !signatures.isEmpty else { continue }
            let (ids, times) = (request.values(of: prefix + "id"), request.values(of: prefix + "timestamp"))
            guard ids.count == 1, times.count == 1, signatures.count == 1,
                let signature = WebhookSignature(id: ids[0], timestamp: times[0], signatures: signatures[0])
            else { return .malformedWebhook }
            return .webhook(signature, body: hasBody ? request.body : nil)
        }
        return nil
    }

    private static func hashedSecret(of request: ReceivedRequest) -> RequestCredential? {
        let values = request.values(of: "api-secret")
        guard let value = values.first else { return nil }
        return values.count == 1 ? .hashedSecret(value) : .unknown
    }

    private static func decline(
        _ status: Int, _ code: String, _ message: String, _ field: String, _ value: String
    ) -> HTTPDecline {
        var decline = HTTPDecline(status, code, message)
        decline.reply.fields = [.init(name: field, value: value)]
        return decline
    }
}
