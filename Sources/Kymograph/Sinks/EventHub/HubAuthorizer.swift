import KymographCore
import Synchronization

/// Signs requests to an event hub by the key of its connection string.
///
/// A signature is good for an hour, and made anew when less than ten minutes of it are left, when the file with the
/// connection string has changed, and when the hub has refused it.
final class HubAuthorizer: RequestAuthorizer {
    private struct Known {
        var value: String
        /// Seconds since 1970.
        var end: Int64
        var stamp: SecretFile.Stamp?
    }

    /// How long a signature is good for, and how much of that is left when the next one is made, in seconds.
    private static let lifetime: Int64 = 3_600
    private static let margin: Int64 = 600

    private let secret: HubSecret
    /// What is signed: the URL of the hub.
    private let resource: String
    private let now: @Sendable () -> Instant
    private let known = Mutex<Known?>(nil)

    /// For requests to the hub at `resource`, by `secret`, which is read when it is needed.
    init(_ secret: HubSecret, resource: String, now: @escaping @Sendable () -> Instant = { WallClock.now() }) {
        (self.secret, self.resource, self.now) = (secret, resource, now)
    }

    /// Gives the value at once.
    func authorize(completion: @escaping @Sendable (Result<String?, AuthorizationFailure>) -> Void) {
        completion(
            known.withLock { known in
                let seconds = now().nanoseconds / 1_000_000_000
                if let known, known.stamp == secret.stamp, known.end - seconds > HubAuthorizer.margin {
                    return .success(known.value)
                }
                do throws(SecretFault) {
                    let made = try make(seconds)
                    known = made
                    return .success(made.value)
                } catch {
                    // For the moment of a rotation there may be no file; what is known may still be right.
                    if let known, error.isRetriable, known.end > seconds { return .success(known.value) }
                    return .failure(AuthorizationFailure(error))
                }
            })
    }

    /// Makes the next request look for another one.
    func refused(_ value: String?) {
        known.withLock { known in
            if known?.value == value { known = nil }
        }
    }

    private func make(_ seconds: Int64) throws(SecretFault) -> Known {
        let (string, stamp) = try secret.read()
        let hub = string.entityPath.map { "\(string.endpoint)/\($0)" } ?? resource
        guard resource.hasPrefix(string.endpoint + "/"), hub.lowercased() == resource.lowercased() else {
            throw SecretFault(
                isRetriable: false, message: "the connection string is that of another hub by now: start kymo again")
        }
        switch string.proof {
        case .key(let policy, let key):
            let end = seconds + HubAuthorizer.lifetime
            let value = SharedAccessSignature.authorization(
                for: resource, until: end, policy: policy, key: Array(key.utf8))
            return Known(value: value, end: end, stamp: stamp)
        case .signature(let value):
            guard let end = SharedAccessSignature(value)?.end else {
                throw SecretFault(isRetriable: false, message: "the SharedAccessSignature is not of the form of Azure")
            }
            guard end > seconds else {
                throw SecretFault(isRetriable: true, message: "the SharedAccessSignature has ended; put another there")
            }
            return Known(value: value, end: end, stamp: stamp)
        }
    }
}
