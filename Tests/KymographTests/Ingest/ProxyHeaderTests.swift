@testable import Kymograph
import KymographTestKit
import Testing
import TrialSupport

/// What a proxy says of its client, byte by byte.
@Suite struct ProxyHeaderTests {
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]

    /// A header of version 2 with `tail` behind its fixed bytes.
    static func second(_ command: UInt8, _ family: UInt8, _ tail: [UInt8], length: Int? = nil) -> [UInt8] {
        let count = length ?? tail.count
        let numbers: [UInt8] = [command, family, UInt8(count >> 8), UInt8(count & 0xFF)]
        return signature + numbers + tail
    }

    /// Reads from `bytes` as a socket gives them, at most `most` at a time; what it says, and how much it has taken.
    private func read(_ bytes: [UInt8], most: Int = .max) -> (step: ProxyHeader.Step, taken: Int) {
        var (header, taken) = (ProxyHeader(), 0)
        while true {
            let step = header.step
            let rest = bytes[taken...]
            let wanted: Int
            switch step {
            case .needs(let count): wanted = count
            case .needsLine(let count):
                wanted = min(count, rest.firstIndex(of: 10).map { $0 + 1 - taken } ?? rest.count)
            case .client, .proxy, .unknown, .malformed: return (step, taken)
            }
            let part = rest.prefix(min(wanted, most))
            if part.isEmpty { return (step, taken) }
            header.append(part)
            taken += part.count
        }
    }

    private func said(_ step: ProxyHeader.Step) -> String {
        if case .client(let address) = step { address.text } else { "\(step)" }
    }

    private static let ports: [UInt8] = [0x1F, 0x90, 0, 80]
    private static let client4: [UInt8] = [192, 0, 2, 7, 10, 0, 0, 1] + ports
    private static let client6: [UInt8] = {
        var bytes = [UInt8](repeating: 0, count: 32)
        bytes.replaceSubrange(0..<4, with: [0x20, 1, 0x0D, 0xB8])
        bytes[15] = 1
        return bytes + ports
    }()

    /// A header, and the client that it says, or `proxy`, or `unknown`.
    struct Good: Sendable {
        var bytes: [UInt8]
        var client: String

        init(_ bytes: [UInt8], _ client: String) { (self.bytes, self.client) = (bytes, client) }

        init(_ line: String, _ client: String) { self.init(Array(line.utf8), client) }
    }

    static let good: [Good] = [
        Good(second(0x21, 0x11, client4), "192.0.2.7:8080"),
        Good(second(0x21, 0x11, client4 + ports), "192.0.2.7:8080"),
        Good(second(0x21, 0x21, client6), "[2001:db8::1]:8080"),
        Good(second(0x20, 0, []), "proxy"),
        Good(second(0x20, 0x11, client4), "proxy"),
        Good(second(0x21, 0, []), "unknown"),
        Good(second(0x21, 0x31, [UInt8](repeating: 0x61, count: 216)), "unknown"),
        Good("PROXY TCP4 192.0.2.7 10.0.0.1 8080 80\r\n", "192.0.2.7:8080"),
        Good("PROXY TCP6 2001:DB8:0::1 ::1 8080 80\r\n", "[2001:db8::1]:8080"),
        Good("PROXY UNKNOWN\r\n", "unknown"),
        Good("PROXY UNKNOWN x y z\r\n", "unknown"),
    ]

    /// What is good, and what follows stays where it is.
    @Test(arguments: good) func taken(header: Good) {
        let behind: [UInt8] = [0x16, 3, 1, 10]
        for most in [1, 3, 16, Int.max] {
            let (step, taken) = read(header.bytes + behind, most: most)
            #expect(said(step) == header.client && taken == header.bytes.count)
        }
        for count in header.bytes.indices {
            switch read(Array(header.bytes.prefix(count))).step {
            case .needs, .needsLine: break
            case .client, .proxy, .unknown, .malformed: Issue.record("\(count) bytes are not all")
            }
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n", "PROXY TCP4 192.0.2.7 10.0.0.1 8080\r\n", "PROXY TCP4 192.0.2.7 10.0.0.1 8080 80\n",
        "PROXY TCP4 ::1 10.0.0.1 8080 80\r\n", "PROXY TCP6 192.0.2.7 ::1 8080 80\r\n",
        "PROXY TCP4 192.0.2.7 10.0.0.1 65536 80\r\n", "PROXY TCP4 192.0.2.7 10.0.0.1 +1 80\r\n",
        "PROXY TCP4  192.0.2.7 10.0.0.1 1 80\r\n", "PROXY TCP4 ward.example 10.0.0.1 1 80\r\n", "PROXY \r\n",
        "PROXY TCP6\r\n",
    ])
    func noLine(text: String) { #expect(read(Array(text.utf8)).step == .malformed) }

    static let broken: [[UInt8]] = [
        [0x16, 3, 1, 2, 0, 1], second(0x21, 0x11, [1, 2, 3]), second(0x21, 0x21, client4), second(0x11, 0x11, client4),
        second(0x22, 0x11, client4), second(0x21, 0x12, client4), second(0x21, 0x41, client4),
        second(0x21, 0x11, [], length: 4_097), signature.dropLast() + [0],
        Array("PROXY UNKNOWN ".utf8) + [UInt8](repeating: 0x78, count: 200),
    ]

    @Test(arguments: broken) func noHeader(bytes: [UInt8]) { #expect(read(bytes).step == .malformed) }

    /// Whatever comes, and in whatever parts, the same is made of it, and no byte is asked for that may be the client's.
    @Test func mutants() {
        for seed in Trials.seeds(2_000) {
            var random = SeededGenerator(seed: seed)
            var bytes = Self.good[Int(seed % UInt64(Self.good.count))].bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] = Bool.random(using: &random) ? UInt8.random(in: 0...255, using: &random) : bytes[0]
            }
            bytes += [UInt8](repeating: 0x0A, count: Int.random(in: 0...40, using: &random))
            let whole = read(bytes)
            let parts = read(bytes, most: Int.random(in: 1...9, using: &random))
            #expect(whole.step == parts.step, "seed \(seed)")
            // What is none may be seen sooner.
            #expect(whole.step == .malformed || whole.taken == parts.taken, "seed \(seed)")
        }
    }
}
