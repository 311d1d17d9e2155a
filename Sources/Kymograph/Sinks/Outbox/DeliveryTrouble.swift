/// Why a sink takes nothing at present, and since when.
package struct DeliveryTrouble: Codable, Hashable, Sendable {
    /// What kind of trouble it is.
    package enum Cause: String, Codable, Hashable, Sendable {
        /// There is no connection, or no whole answer.
        case unreachable
        /// It answers that it takes nothing now, such as 503.
        case refusing
        /// It refuses who asks: 401 after a renewal, or 403.
        case credentialsRefused
        /// There is no token: the endpoint, the client or its key is refused, or a file with a secret cannot be read.
        case noToken
        /// TLS could not be agreed on, such as for a certificate that is not trusted.
        case insecure
        /// It is no server that could be delivered to.
        case unfit
    }

    /// What kind of trouble it is.
    package var cause: Cause
    /// What went wrong last, in words: never with secrets, and never with what a server says about content.
    package var reason: String
    /// Whether it will not pass by itself.
    package var isDefinite = false
    /// When it began, as text in UTC; empty until that is known.
    package var since = ""
    /// How long it has lasted, in seconds.
    package var seconds = 0.0

    /// Trouble.
    package init(_ cause: Cause, _ reason: String, isDefinite: Bool = false) {
        self.cause = cause
        self.reason = reason
        self.isDefinite = isDefinite
    }
}
