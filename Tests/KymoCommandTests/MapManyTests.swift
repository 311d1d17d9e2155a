import CommandSupport
import KymographTestKit
import Testing

/// `kymo map` over many messages.
@Suite struct MapManyTests {
    private static let heartRates = Readings.heartRates(3).map { $0.replacing("\n", with: "") }

    private func lines(_ done: Kymo.Finished) throws -> [JSONTree] {
        try done.lines.map { try JSONTree(parsing: Array($0.utf8)) }
    }

    /// File and line of each result.
    private func places(_ done: Kymo.Finished) throws -> [String] {
        try lines(done).map { line in
            guard case .number(let number)? = line["line"] else { return "no line" }
            return "\(line["file"]?.text ?? ""):\(number)"
        }
    }

    @Test func linesOfStandardInput() throws {
        let text = Self.heartRates.joined(separator: "\n\n") + "\n"
        let done = try Kymo.run(["map"], input: .bytes(Array(text.utf8)))
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(try places(done) == ["-:1", "-:3", "-:5"])
        #expect(try lines(done).allSatisfy { $0["observations"]?.elements?.count == 1 && $0["rejected"] == nil })
        #expect(done.error == "kymo: 3 messages mapped: 3 measurements, 3 resources\n", "\(done.error)")
    }

    @Test func rejectedOnes() throws {
        let text = "\(Self.heartRates[0])\nno JSON\n{\"type\":\"unknown\"}\n\(Self.heartRates[1])"
        let done = try Kymo.run(["map", "--mapping", "reading"], input: .bytes(Array(text.utf8)))
        #expect(done.end == .exit(65))
        let reasons = try lines(done).map { $0["rejected"]?.elements?.first?["reason"]?.text }
        #expect(reasons == [nil, "invalidJSON", "noTemplate", nil])
        let summary = "2 of 4 messages mapped: 2 measurements, 2 resources; 2 rejected (invalidJSON 1, noTemplate 1)"
        #expect(done.error == "kymo: \(summary)\n", "\(done.error)")
    }

    /// A document over several lines is one message, and so is what is no text.
    @Test func filesAndFolders() throws {
        let folder = TemporaryFolder()
        folder.write("in/b.ndjson", Self.heartRates[1...].joined(separator: "\n"))
        folder.write("in/a.json", Self.heartRates[0].replacing(",", with: ",\n"))
        folder.write("in/.hidden", "no JSON")
        folder.write("in/a.out.json", "{}")
        folder.write("in/device.json", MappingText.device)
        folder.write("in/more/c.json", "no JSON")
        let done = try Kymo.run(["map", "in/"], directory: folder.path)
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(try places(done) == ["in/a.json:1", "in/b.ndjson:1", "in/b.ndjson:2"])
        let twice = try Kymo.run(["map", "in/a.json", "-", "in/"], directory: folder.path)
        #expect(try places(twice) == ["in/a.json:1", "in/a.json:1", "in/b.ndjson:1", "in/b.ndjson:2"])
        let named = try Kymo.run(["map", "in/b.ndjson"], directory: folder.path)
        #expect(try places(named) == ["in/b.ndjson:1", "in/b.ndjson:2"])
        let one = try Kymo.run(["map", "in/a.json"], directory: folder.path)
        #expect(one.error.isEmpty && one.text.hasPrefix("{\n"), "\(one.text)")
    }

    @Test func formats() throws {
        let folder = TemporaryFolder()
        let file = folder.write("two.txt", Self.heartRates[..<2].joined(separator: "\n"))
        let one = folder.write("one.json", Self.heartRates[0])
        let document = try Kymo.run(["map", "--format", "json", file])
        #expect(document.end == .exit(0) && document.error.isEmpty, "\(document.error)")
        #expect(try JSONTree(parsing: document.output)["measurements"]?.elements?.count == 2)
        let line = try Kymo.run(["map", "--format", "ndjson", one])
        #expect(try places(line) == ["\(one):1"])
        #expect(line.error == "kymo: 1 message mapped: 1 measurement, 1 resource\n", "\(line.error)")
        let documents = try Kymo.run(["map", "--format", "json", one, file])
        #expect(documents.text.split(separator: "\n").filter { $0 == "{" }.count == 2, "\(documents.text)")
    }

    /// Each message is explained under its place.
    @Test func explained() throws {
        let folder = TemporaryFolder()
        let file = folder.write("two.ndjson", Self.heartRates[..<2].joined(separator: "\n"))
        let done = try Kymo.run(["map", "--explain", "--format", "ndjson", file])
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(done.error.contains("\(file):1:\nreading, type heartRate"), "\(done.error)")
        #expect(done.error.contains("\(file):2:\nreading, type heartRate"), "\(done.error)")
    }

    /// Examples of packets are mapped as `kymo test` maps them.
    @Test func examplesInHexadecimal() throws {
        let folder = TemporaryFolder()
        #expect(try Kymo.run(["mappings", "--export", "binary-patch", "m"], directory: folder.path).end == .exit(0))
        let done = try Kymo.run(
            ["map", "--mapping", "./m/", "--default-device", "d", "./m/examples/"], directory: folder.path)
        #expect(done.lines.count == Files.names(folder.file("m/examples")).filter { $0.contains(".in.") }.count)
        #expect(try lines(done).contains { $0["measurements"]?.elements?.isEmpty == false }, "\(done.text)")
    }

    /// What is odd in a mapping is said once, however many messages it maps.
    @Test(arguments: [[], ["--explain", "--format", "ndjson"]])
    func warningsOfMappingsAreSaidOnce(_ options: [String]) throws {
        let folder = TemporaryFolder()
        folder.write("mine/device.json", MappingText.device)
        folder.write("mine/fhir.json", MappingText.fhir.replacing("\"code\": \"/min\"", with: "\"code\": \"bpm\""))
        let messages = (10..<50).map { MappingText.reading.replacing("08:00:00", with: "08:00:\($0)") }
        folder.write("many.ndjson", messages.joined(separator: "\n") + "\n")
        let done = try Kymo.run(["map", "--mapping", "./mine/", "many.ndjson"] + options, directory: folder.path)
        #expect(done.end == .exit(0) && done.lines.count == messages.count, "\(done.error)")
        let warnings = done.error.split(separator: "\n").filter { $0.contains("warning: ") }
        #expect(warnings.count == 1 && warnings.first?.contains("fhir.json:6:") == true, "\(done.error)")
    }

    /// One file that is none costs no other, and the counts are told.
    @Test func hexadecimalThatIsNone() throws {
        let folder = TemporaryFolder()
        folder.write("m/1.in.hex", "7b zz")
        folder.write("m/2.json", Self.heartRates[0])
        let done = try Kymo.run(["map", "m/"], directory: folder.path)
        #expect(done.end == .exit(65) && done.lines.count == 1)
        #expect(done.error.contains("m/1.in.hex:1: not hexadecimal; write two digits a byte\n"), "\(done.error)")
        #expect(done.error.contains("1 of 2 messages mapped"), "\(done.error)")
    }

    /// A message that would fill the memory is rejected by its length, whatever it is.
    @Test func messagesThatAreTooLong() throws {
        let folder = TemporaryFolder()
        let long = "{\"a\":\"" + String(repeating: "x", count: 65 << 20) + "\"}\n"
        folder.write("long.ndjson", long + Self.heartRates[0] + "\n")
        let mapped = try Kymo.run(["map", "long.ndjson"], directory: folder.path)
        #expect(mapped.end == .exit(65) && mapped.error.contains("lineTooLong 1"), "\(mapped.error)")
        _ = try Kymo.run(["mappings", "--export", "reading", "m"], directory: folder.path)
        let migrated = try Kymo.run(["migrate", "m", "long.ndjson"], directory: folder.path)
        #expect(migrated.end == .exit(65) && migrated.text.contains("lineTooLong"), "\(migrated.text)")
    }

    /// What is mapped is not held: a hundred times the messages take little more memory.
    @Test func memoryIsBounded() throws {
        let run = try Kymo.start(["map", "--format", "ndjson"], input: .pipe)
        let piece = Array(String(repeating: Self.heartRates[0] + "\n", count: 100).utf8)
        func peak(after count: Int) throws -> Int {
            for _ in 0..<count { #expect(run.write(piece)) }
            sent += count * 100
            try Waiting.until("\(sent) results") { run.output.count { $0 == 0x0A } == sent }
            let line = Files.text("/proc/\(run.pid)/status").split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
        }
        var sent = 0
        let some = try peak(after: 1)
        let many = try peak(after: 100)
        #expect(some > 0 && many < some + 8_192, "\(some) KiB, then \(many) KiB")
        run.closeInput()
        #expect(try run.finish().end == .exit(0))
    }
}
