/// Gives requests the right to be answered.
package protocol RequestAuthorizer: Sendable {
    /// The value of the `Authorization` field, or nil when none is needed. `completion` is called exactly once, on any
    /// thread, at once when the value is known, and must not block. Callers that ask while a token is being fetched
    /// share that fetch.
    func authorize(completion: @escaping @Sendable (Result<String?, AuthorizationFailure>) -> Void)

    /// Forgets `value`, which a server has refused (401), so that the next request fetches another.
    func refused(_ value: String?)
}

/// Why a request got no right to be answered.
package struct AuthorizationFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Whether the same may succeed later, such as when the token endpoint could not be reached.
    package var isRetriable: Bool
    /// What could not be done, why, and what to do; never with secrets.
    package var message: String

    /// A failure.
    package init(isRetriable: Bool, _ message: String) {
        self.isRetriable = isRetriable
        self.message = message
    }

    /// The failure that `fault` is.
    init(_ fault: SecretFault) { self.init(isRetriable: fault.isRetriable, fault.message) }

    /// The message.
    package var description: String { message }
}

/// Servers without authentication.
package struct OpenAuthorizer: RequestAuthorizer {
    /// An authorizer.
    package init() {}

    /// Gives nil at once.
    package func authorize(completion: @escaping @Sendable (Result<String?, AuthorizationFailure>) -> Void) {
        completion(.success(nil))
    }

    /// Does nothing: there is nothing to forget.
    package func refused(_ value: String?) {}
}
