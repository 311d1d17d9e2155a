import CommandSupport
import Testing

/// `kymo support`: what helps, and nothing of devices, patients and secrets.
@Suite struct SupportTests {
    /// Texts that must not be in an archive; all of them are in the store or the configuration.
    private static let secrets = [
        "strap-77", "patient-77", "encounter-77", "phone-78", "patient-78", "gateway-user", "pass-79", "remark-80",
        "FE-ED-AB-EE-DE-AD-77-C3", "wrong-81",
    ]

    private static let configuration = """
        # remark-80
        include: sinks.yaml
        mappings: [reading]
        lateness: 0s
        sources:
          - unix: in.sock
            defaultDevice: phone-78
            defaultPatient: patient-78
        output:
          profile: phd
          gateway: FE-ED-AB-EE-DE-AD-77-C3
        data: store
        """

    private static func reading(_ second: Int, type: String = "heartRate") -> String {
        """
        {"deviceId":"strap-77","patientId":"patient-77","encounterId":"encounter-77","type":"\(type)",\
        "timestamp":"2026-03-01T08:00:0\(second)Z","value":61,"unit":"/min"}
        """
    }

    /// The files of an archive that is unpacked by tar(1), by name.
    private func files(_ archive: String, _ folder: TemporaryFolder) throws -> [String: String] {
        let tar = try ChildProcess("/bin/tar", ["-xzf", archive, "-C", folder.path])
        #expect(try tar.wait() == .exit(0), "\(tar.errorText)")
        let path = folder.file("kymo-support")
        return Files.names(path).reduce(into: [:]) { $0[$1] = Files.text("\(path)/\($1)") }
    }

    /// Of a running instance, and of the directory that it has left.
    @Test(arguments: [true, false]) func theArchiveHelpsAndNamesNobody(isRunning: Bool) throws {
        let folder = TemporaryFolder()
        let file = folder.write("kymo.yaml", Self.configuration)
        folder.write("sinks.yaml", "sinks:\n  - to: out\n    devices: [strap-77]\n")
        let run = try Kymo.start(["run", "--config", file], directory: folder.path)
        let address = try run.addresses()[0].replacing("in.sock", with: folder.file("in.sock"))
        let lines = (0..<5).map { Self.reading($0) } + [#"{"deviceId":"strap-77","#, Self.reading(5, type: "nothing")]
        try Sending.send(lines: lines, to: address)
        try Waiting.until("the readings") {
            let status = try Kymo.run(["status", "--data", folder.file("store")])
            return status.text.contains("received 7 = ") && status.text.contains("dead letters 2")
        }
        if !isRunning { #expect(try run.terminate().end == .exit(0)) }
        let done = try Kymo.run(["support", "--config", file], directory: folder.path)
        #expect(done.end == .exit(0), "\(done.error)")
        let archive = folder.file("kymo-support.tar.gz")
        #expect(Files.mode(archive) == 0o600)
        let content = try files(archive, folder)
        for (name, text) in content {
            for secret in Self.secrets { #expect(!text.contains(secret), "\(secret) in \(name)") }
        }
        #expect(content["version.txt"]?.hasPrefix("kymo 0.") ?? false)
        #expect(content["system.txt"]?.contains("== /etc/os-release") ?? false)
        #expect(content["log.txt"]?.isEmpty == false)
        #expect(content["metrics.txt"]?.contains("# TYPE kymo_") ?? false)
        #expect(content["ledger.json"]?.contains("\"type\" : \"heartRate\"") ?? false)
        #expect(content["included-1.yaml"]?.contains("devices:\n") ?? false)
        #expect(content["configuration.yaml"]?.contains("lateness: \"0s\"") ?? false)
        #expect(content["configuration.yaml"]?.contains("defaultDevice: \"***\"") ?? false)
        if isRunning { #expect(try run.terminate().end == .exit(0)) }
    }

    /// A password in a URL is not shown, and that there is no store yet is no reason to have no archive.
    @Test func usersInAddressesAreMasked() throws {
        let folder = TemporaryFolder()
        let file = folder.write(
            "kymo.yaml",
            """
            output: {to: out, systems: {patient: "https://gateway-user:pass-79@hospital.example/p"}}
            data: store
            """)
        let done = try Kymo.run(["support", "--config", file, "--out", "a.tar.gz"], directory: folder.path)
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(done.error.contains("there is no store"))
        let content = try files(folder.file("a.tar.gz"), folder)
        #expect(content["configuration.yaml"]?.contains("https://***@hospital.example/p") ?? false)
        for text in content.values { #expect(!text.contains("pass-79") && !text.contains("gateway-user")) }
        #expect(content["store.txt"]?.contains("there is no store") ?? false)
        let again = try Kymo.run(["support", "--config", file, "--out", "a.tar.gz"], directory: folder.path)
        #expect(again.end == .exit(73) && again.error.contains("exists: name another file"))
    }
}
