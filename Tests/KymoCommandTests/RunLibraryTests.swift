import CommandSupport
import Glibc
import Testing

/// What a running pipeline has in memory that only some need.
@Suite struct RunLibraryTests {
    /// Paths of the files that are mapped.
    private func files(of pid: Int32) -> Set<Substring> {
        let lines = Files.text("/proc/\(pid)/maps").split(separator: "\n")
        return Set(lines.compactMap { $0.split(separator: "/", maxSplits: 1).dropFirst().last })
    }

    /// libcurl brings some twenty libraries along.
    @Test func libcurlIsLoadedForAServerOnly() throws {
        let folder = TemporaryFolder()
        let server = ["--server", "http://127.0.0.1:9/fhir", "--server-identity", "create"]
        for (number, arguments) in [[], server].enumerated() {
            let run = try Kymo.start(
                ["run", "--unix", folder.file("\(number).sock"), "--data", folder.file("data-\(number)")] + arguments)
            _ = try run.addresses()
            let loaded = files(of: run.pid).contains { $0.contains("libcurl") }
            #expect(loaded == !arguments.isEmpty)
            // Databases alone need it.
            #expect(!files(of: run.pid).contains { $0.contains("libpq") })
            #expect(try run.terminate().end == .exit(0))
        }
    }

    /// Code that the start has used is given back; what is used again comes back as it was.
    @Test func whatOnlyTheStartNeededIsNotKept() throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start(["run", "--ephemeral", "--unix", folder.file("a.sock")])
        let address = try run.addresses()[0]
        var (peak, now) = (0, 0)
        try Waiting.until("memory of \(peak) KiB is given back, \(now) KiB are left") {
            (peak, now) = (kibibytes("VmHWM", of: run.pid), kibibytes("VmRSS", of: run.pid))
            return now < peak * 9 / 10
        }
        try Sending.send(lines: Readings.heartRates(50), to: address)
        let done = try run.terminate()
        #expect(done.end == .exit(0) && done.balance?.accepted == 50)
    }

    private func kibibytes(_ field: String, of pid: Int32) -> Int {
        let line = Files.text("/proc/\(pid)/status").split(separator: "\n").first { $0.hasPrefix("\(field):") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
