import CKymographLinux
import Synchronization

/// The numeric addresses of a host, which are looked up on a thread of their own: that can take half a minute. For any
/// thread.
final class NameLookup: Sendable {
    /// Most addresses that are tried.
    private static let most = 8
    /// Room for a numeric host, with a scope.
    private static let width = 64

    private let result = Mutex<Result<[NetworkAddress], SourceError>?>(nil)

    /// Begins to look up the host of `address`.
    init(_ address: NetworkAddress) {
        WorkerThread.start("lookup") { [self] in
            let found = Self.find(address)
            result.withLock { $0 = found }
        }
    }

    /// What was found, once it is; never an empty list.
    var answer: Result<[NetworkAddress], SourceError>? { result.withLock { $0 } }

    /// Looks up the host of `address`; this blocks.
    static func find(_ address: NetworkAddress) -> Result<[NetworkAddress], SourceError> {
        var hosts = [CChar](repeating: 0, count: most * width)
        // Safe: the shim is told the array's size, and ends each text with a zero.
        let count = unsafe Int(kymo_inet_lookup(address.host, &hosts, Int32(most), Int32(width)))
        guard count > 0 else {
            // Safe: the library's own text, which ends with a zero.
            let reason = unsafe String(cString: kymo_inet_lookup_error(Int32(count)))
            return .failure(SourceError(kind: .missing, message: "cannot look up the host: \(reason)"))
        }
        return .success(
            (0..<count).map { place in
                let host = hosts[(place * width)..<((place + 1) * width)].prefix { $0 != 0 }
                let text = String(decoding: host.map(UInt8.init(bitPattern:)), as: UTF8.self)
                return NetworkAddress(host: text, port: address.port)
            })
    }
}
