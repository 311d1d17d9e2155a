import CKymographLinux
import Glibc

/// Where a datagram is from, in a form that can be compared.
struct DatagramEndpoint: Hashable, Sendable {
    private let family: UInt16
    private var port: UInt16
    private let scope: UInt32
    private let high: UInt64
    private var low: UInt64

    /// Nil when it is none of IP.
    init?(_ raw: kymo_endpoint) {
        guard raw.family != 0 else { return nil }
        (family, port, scope, high, low) = (raw.family, raw.port, raw.scope, raw.high, raw.low)
    }

    /// As C has it.
    var raw: kymo_endpoint { kymo_endpoint(family: family, port: port, scope: scope, high: high, low: low) }

    /// The same of every port of its host. A host of IPv6 has at least the 2^64 addresses of its network (RFC 6177).
    var host: DatagramEndpoint {
        var host = self
        host.port = 0
        if Int32(family) == AF_INET6 { host.low = 0 }
        return host
    }
}
