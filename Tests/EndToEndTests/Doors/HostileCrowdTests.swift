import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// 1,000 connections from 40 hosts that are silent, slow, broken or wrong, beside one good client.
@Suite struct HostileCrowdTests {
    private let folder = TemporaryFolder()

    /// A fifth each: nothing, half a header, half a body, half a handshake of TLS, and noise.
    private final class Crowd {
        private static let first: [[UInt8]] = [
            [], Array("POST /v1/ingest HTTP/1.1\r\nX".utf8),
            Array("POST /v1/ingest HTTP/1.1\r\nHost: a\r\nContent-Length: 8000000\r\n\r\n{\"deviceId\":\"half".utf8),
            [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00], (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ 129) },
        ]
        private let connections: [RawConnection]

        init(port: UInt16) throws {
            connections = try (0..<1_000).map { number in
                let connection = try RawConnection(port: port, from: UInt8(2 + number / 25))
                _ = connection.sendUnread(Self.first[number % Self.first.count])
                return connection
            }
        }

        /// One more byte of each header and body.
        func drip() {
            for (number, connection) in connections.enumerated() where [1, 2].contains(number % 5) {
                _ = connection.sendUnread([0x58])
            }
        }

        /// How many of those are cut that do `kind`.
        func ended(_ kind: Int) -> Int {
            let chosen = connections.enumerated().filter { $0.offset % 5 == kind }.map(\.element)
            for connection in chosen { connection.receive() }
            return chosen.filter(\.hasEnded).count
        }
    }

    /// A thousand sockets here, and as many there: a program gets the limit of the one that has started it.
    init() throws {
        var limit = rlimit()
        // Safe: the limit is ours.
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 4_096))
        let code = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        try #require(code == 0 && limit.rlim_cur >= 2_200, "raise the limit of open files: ulimit -n 4096")
    }

    private func door(_ settings: [String]) throws -> Door {
        try Door(TLSText.source("http", ["connections: 1100"] + settings), in: folder)
    }

    private func body(_ second: Int) -> [UInt8] { Readings.ndjson([Readings.heartRate(second: second)]) }

    /// On a connection of its own for all, and on a new one for each; headers without an end are cut.
    @Test func withoutTLS() throws {
        let door = try door([])
        let crowd = try Crowd(port: door.port)
        try Waiting.until("all were accepted") { try door.metric("kymo_source_connections_total") >= 1_000 }
        let steady = PostClient(door.address)
        var sent = 0
        try Waiting.until("headers and noise are cut") {
            for client in [steady, PostClient(door.address)] {
                let answer = try client.exchange(PostClient.request(body(sent)))
                #expect(answer?.status == 200, "\(answer?.body ?? "no answer")")
                sent += 1
            }
            crowd.drip()
            return [0, 1, 3, 4].allSatisfy { crowd.ended($0) == 200 }
        }
        let balance = try door.balance()
        #expect(sent > 0 && balance.received == sent && balance.accepted == sent && balance.isClosed)
    }

    /// Nobody's handshake keeps another one waiting.
    @Test func withTLS() throws {
        let authority = try TestAuthority()
        let (certificate, key) = try authority.issue("localhost")
        let door = try door(["certificateFile: \(certificate)", "certificateKeyFile: \(key)"])
        let crowd = try Crowd(port: door.port)
        var sent = 0
        try Waiting.until("all are cut") {
            let (text, end) = try door.post(
                [Readings.heartRate(second: sent)], ["--cacert", authority.certificate, "--ipv4"])
            #expect(end == .exit(0) && text.hasPrefix("{\"received\":1,\"rejectedCount\":0,"), "\(text)")
            sent += 1
            crowd.drip()
            return (0..<5).allSatisfy { crowd.ended($0) == 200 }
        }
        #expect(try door.metric("kymo_source_tls_failures_total") == 1_000)
        let balance = try door.balance()
        #expect(sent > 0 && balance.received == sent && balance.accepted == sent && balance.isClosed)
    }
}
