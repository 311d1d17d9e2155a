import FoundationEssentials
import Synchronization

/// Authorizes by a secret that is in a file: a bearer token (RFC 6750) or a password (RFC 7617).
///
/// The file is read again when it has changed, and when a server has refused what it held: whoever rotates the secret
/// replaces the file, and nothing has to be restarted.
package final class SecretFileAuthorizer: RequestAuthorizer {
    /// What the file holds.
    package enum Scheme: Hashable, Sendable {
        /// A token.
        case bearer
        /// The password of a user.
        case basic(user: String)
    }

    private struct Known {
        var value: String
        var stamp: SecretFile.Stamp
    }

    private let file: SecretFile
    private let scheme: Scheme
    private let known = Mutex<Known?>(nil)

    /// Reads the secret from `file`, when it is asked for.
    package init(_ scheme: Scheme, file: SecretFile) {
        self.scheme = scheme
        self.file = file
    }

    /// Gives the value at once.
    package func authorize(completion: @escaping @Sendable (Result<String?, AuthorizationFailure>) -> Void) {
        completion(
            known.withLock { known in
                if let known, known.stamp == file.stamp { return .success(known.value) }
                do throws(SecretFault) {
                    let (secret, stamp) = try file.line()
                    let value = try Self.value(of: secret, scheme, file)
                    known = Known(value: value, stamp: stamp)
                    return .success(value)
                } catch {
                    // For the moment of a rotation there may be no file; what is known may still be right.
                    if let known, error.isRetriable { return .success(known.value) }
                    return .failure(AuthorizationFailure(error))
                }
            })
    }

    /// Makes the next request read the file again.
    package func refused(_ value: String?) {
        known.withLock { known in
            if known?.value == value { known = nil }
        }
    }

    /// The value of the field for `secret`.
    static func value(
        of secret: String, _ scheme: Scheme, _ file: SecretFile
    ) throws(SecretFault) -> String {
        switch scheme {
        case .bearer:
            guard BearerToken.isValid(secret) else { throw file.failure("must hold a token and nothing else") }
            return "Bearer \(secret)"
        case .basic(let user):
            return "Basic \(Data("\(user):\(secret)".utf8).base64EncodedString())"
        }
    }
}
