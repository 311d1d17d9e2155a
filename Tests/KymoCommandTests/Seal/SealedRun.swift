import CommandSupport
import KymographTestKit

/// A data directory, outputs and dead letters, encrypted or, as the control, plain.
struct SealedRun {
    let folder = TemporaryFolder()
    let isSealed: Bool

    /// What only the readings of this run have, in the store, in outputs and in dead letters.
    static let needles = [
        "seeded-device-7731", "seeded-patient-5521", "seeded-encounter-6613", "seeded-payload-9942", "431.25",
    ]

    init(isSealed: Bool) throws {
        self.isSealed = isSealed
        folder.write("kymo.yaml", "store: {keepRaw: 30d}\n")
        let made = try Kymo.run(["keys", "new", key])
        guard made.end == .exit(0), Files.mode(key) == 0o600 else { throw WaitError(description: made.error) }
    }

    var key: String { folder.file("key") }
    var data: String { folder.file("data") }
    var output: String { folder.file("out") }
    var letters: String { folder.file("rejected.ndjson") }

    /// The flag that names the key.
    var keyFlag: [String] { isSealed ? ["--key-file", key] : [] }

    /// Readings of one device, and a payload that is none.
    static func lines(_ count: Int) -> [String] {
        (0..<count).map { index in
            index % 10 == 9
                ? #"{"deviceId":"seeded-payload-9942","note":"no reading"}"#
                : Readings.heartRate(second: index, value: 60 + index % 40, device: "seeded-device-7731")
                    .replacing(#""value":\#(60 + index % 40)"#, with: #""value":431.25"#)
                    .replacing("{", with: #"{"patientId":"seeded-patient-5521","encounterId":"seeded-encounter-6613","#)
        }
    }

    /// The arguments of a run that keeps everything that it can.
    func arguments(_ source: String...) -> [String] {
        ["run"] + source + keyFlag
            + [
                "--data", data, "--out", output, "--format", "ndjson", "--dead-letter", letters, "--window", "1m",
                "--lateness", "5s", "--config", folder.file("kymo.yaml"),
            ]
    }

    /// Runs `lines` from standard input.
    @discardableResult
    func run(_ lines: [String], environment: [String: String] = [:]) throws -> Kymo.Finished {
        try Kymo.run(arguments("--stdin"), environment: environment, input: .bytes(Readings.ndjson(lines)))
    }

    /// A command on the store.
    func command(_ arguments: String...) throws -> Kymo.Finished {
        try Kymo.run(arguments + ["--data", data] + keyFlag)
    }

    /// What a file that the run has written holds.
    func content(_ path: String) throws -> [UInt8] {
        guard isSealed else { return Files.read(path) }
        let done = try Kymo.run(["decrypt", path, "--data", data] + keyFlag)
        guard done.end == .exit(0) else { throw WaitError(description: done.error) }
        return done.output
    }

    /// All lines that were written as output, sorted.
    func written() throws -> [String] {
        try Files.names(output).filter { !$0.hasSuffix(".open") && !$0.hasSuffix(".partial") }.flatMap { name in
            String(decoding: try content("\(output)/\(name)"), as: UTF8.self).split(separator: "\n").map(String.init)
        }.sorted()
    }

    /// The files of the run but for the key, with their content: `data/kymo.sqlite` and the like.
    func files() -> [(name: String, bytes: [UInt8])] {
        SealedRun.files(in: folder.path).filter { $0.name != "key" && !$0.name.hasSuffix(".sock") }
    }

    /// The files below `path`, with their content.
    static func files(in path: String, _ prefix: String = "") -> [(name: String, bytes: [UInt8])] {
        Files.names(path).flatMap { name -> [(name: String, bytes: [UInt8])] in
            let (file, shown) = ("\(path)/\(name)", prefix + name)
            if Files.isDirectory(file) { return files(in: file, shown + "/") }
            return Files.isSocket(file) ? [] : [(shown, Files.read(file))]
        }
    }

    /// Which files have which of the needles.
    func found() -> [String] {
        files().flatMap { file in
            SealedRun.needles.filter { file.bytes.contains(Array($0.utf8)) }.map { "\(file.name): \($0)" }
        }
    }
}

extension [UInt8] {
    /// Whether `bytes` are somewhere among these.
    func contains(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first, count >= bytes.count else { return false }
        return (0...(count - bytes.count)).contains { place in
            self[place] == first && self[place..<(place + bytes.count)].elementsEqual(bytes)
        }
    }
}
