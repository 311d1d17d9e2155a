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
