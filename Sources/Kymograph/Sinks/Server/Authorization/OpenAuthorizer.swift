/// Servers without authentication.
public struct OpenAuthorizer: RequestAuthorizer {
    /// An authorizer.
    public init() {}

    /// Gives nil at once.
    public func authorize(completion: @escaping @Sendable (Result<String?, AuthorizationFailure>) -> Void) {
        completion(.success(nil))
    }

    /// Does nothing: there is nothing to forget.
    public func refused(_ value: String?) {}
}
