import ArgumentParser
import Glibc
import Kymograph
import KymographCore
import KymographTestKit

/// Where `simulate` and `replay` send to: exactly one of the options.
struct SendingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Send one reading a datagram to this UDP address.", valueName: "host:port"))
    var udp: String?

    @Option(help: ArgumentHelp("Send NDJSON to this TCP address.", valueName: "host:port"))
    var tcp: String?

    @Option(help: ArgumentHelp("Send NDJSON to this Unix stream socket.", valueName: "path"))
    var unix: String?

    @Option(help: ArgumentHelp("Send one reading a datagram to this Unix datagram socket.", valueName: "path"))
    var unixgram: String?

    @Flag(help: "Write NDJSON to standard output.")
    var stdout = false

    func validate() throws {
        let named = [udp != nil, tcp != nil, unix != nil, unixgram != nil, stdout].filter { $0 }.count
        guard named == 1 else {
            throw ValidationError("name one destination: --udp, --tcp, --unix, --unixgram or --stdout")
        }
        _ = try destination
    }

    /// The destination that was named.
    var destination: ReadingDestination {
        get throws {
            if let udp {
                let (host, port) = try Self.address(udp, "--udp")
                return .udp(host: host, port: port)
            }
            if let tcp {
                let (host, port) = try Self.address(tcp, "--tcp")
                return .tcp(host: host, port: port)
            }
            if let unix { return .unixStream(path: unix) }
            if let unixgram { return .unixDatagram(path: unixgram) }
            return .standardOutput
        }
    }

    /// `host:port` or `[v6]:port`.
    private static func address(_ text: String, _ flag: String) throws -> (host: String, port: UInt16) {
        func refusal(_ cause: String) -> ValidationError {
            ValidationError("\(flag) \(text): \(cause); write HOST:PORT, such as 127.0.0.1:5757 or [::1]:5757")
        }
        guard let colon = text.lastIndex(of: ":") else { throw refusal("it has no port") }
        guard let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            throw refusal("its port is no number from 1 to 65535")
        }
        let host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { return (String(host.dropFirst().dropLast()), port) }
        guard !host.contains(":") else { throw refusal("an IPv6 address stands in brackets") }
        return (host.isEmpty ? "127.0.0.1" : host, port)
    }
}

extension ReadingSender {
    /// Waits until the next reading is due; what is ready leaves first.
    mutating func wait(_ duration: Duration) throws(SendingError) {
        guard duration > .milliseconds(1) else { return }
        try flush()
        let until = ContinuousClock.now + duration
        while case let left = until - ContinuousClock.now, left > .zero {
            usleep(UInt32(min(left / .microseconds(1), 900_000)))
        }
    }

    /// Says how much was sent and how fast.
    ///
    /// - Throws: the exit code when a part was refused.
    borrowing func report(after elapsed: Duration) throws {
        let seconds = elapsed / .seconds(1)
        let rate = seconds > 0 ? Int(Double(sent) / seconds) : sent
        StandardError.write("sent \(CountText.of(sent, "line")) in \(TimeText.of(seconds)) (\(rate) a second)\n")
        if refused > 0 {
            throw StandardError.exit(
                "\(CountText.of(refused, "reading")) refused: nothing listens there; start 'kymo run' first",
                code: ExitStatus.unavailable)
        }
    }
}
