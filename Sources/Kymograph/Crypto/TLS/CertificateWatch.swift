import Synchronization

/// Until when the certificates of a file are valid. The file is read at most once a minute, since another one may take
/// its place while this runs, and whoever looks on must not wait for its disk each time.
final class CertificateWatch: Sendable {
    private struct Seen {
        var at: ContinuousClock.Instant
        var expiry: Double?
    }

    private static let interval = Duration.seconds(60)

    private let path: String
    private let seen = Mutex<Seen?>(nil)

    /// Watches `path`, a PEM file.
    init(_ path: String) { self.path = path }

    /// When the first of the certificates ends, in seconds since 1970; nil when that is not known.
    var expiry: Double? {
        seen.withLock { seen in
            let now = ContinuousClock.now
            if let seen, seen.at.duration(to: now) < CertificateWatch.interval { return seen.expiry }
            let expiry = FileSystem.content(path).flatMap(CertificateExpiry.seconds)
            seen = Seen(at: now, expiry: expiry)
            return expiry
        }
    }
}
