import Synchronization

/// Until when the certificates are valid that servers have shown. For any thread.
final class ServerCertificates: Sendable {
    /// The servers of one transport: of the sink, and of its authorization. Few, and each has its origin.
    private let seen = Mutex<[(origin: String, expiry: Double)]>([])

    /// When the first of them ends, in seconds since 1970; nil when none has been seen.
    var expiry: Double? { seen.withLock { seen in seen.map(\.expiry).min() } }

    /// Notes that the certificate of `origin` ends at `expiry`: the latest connection counts.
    func note(_ expiry: Double, of origin: String) {
        seen.withLock { seen in
            seen.removeAll { $0.origin == origin }
            seen.append((origin, expiry))
        }
    }
}
