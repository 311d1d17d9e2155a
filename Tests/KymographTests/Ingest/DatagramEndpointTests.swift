import CKymographLinux
import Glibc
import Testing

@testable import Kymograph

/// Endpoints of datagrams, and the hosts that limits are for.
@Suite struct DatagramEndpointTests {
    /// The endpoint of a numeric `host` and a port.
    private func endpoint(_ host: String, _ port: UInt16 = 1) throws -> DatagramEndpoint {
        var bytes = [UInt8](repeating: 0, count: 16)
        // Safe: there is room for the longest address.
        let count = unsafe kymo_inet_bytes(host, &bytes)
        let words = [bytes[..<8], bytes[8...]].map {
            unsafe Array($0).withUnsafeBytes { unsafe $0.load(as: UInt64.self) }
        }
        let isShort = count == 4
        let raw = kymo_endpoint(
            family: UInt16(isShort ? AF_INET : AF_INET6), port: port, scope: 0, high: isShort ? 0 : words[0],
            low: isShort ? words[0] : words[1])
        return try #require(DatagramEndpoint(raw))
    }

    /// An address of IPv4 is a host, whatever the port; so is a /64 network of IPv6, of which one host has all addresses.
    @Test func hosts() throws {
        #expect(try endpoint("192.0.2.1", 1) != endpoint("192.0.2.1", 2))
        #expect(try endpoint("192.0.2.1", 1).host == endpoint("192.0.2.1", 2).host)
        #expect(try endpoint("192.0.2.1").host != endpoint("192.0.2.2").host)
        #expect(try endpoint("2001:db8:0:1::1") != endpoint("2001:db8:0:1::2"))
        #expect(try endpoint("2001:db8:0:1::1", 1).host == endpoint("2001:db8:0:1:ffff::2", 2).host)
        #expect(try endpoint("2001:db8:0:1::1").host != endpoint("2001:db8:0:2::1").host)
    }
}
