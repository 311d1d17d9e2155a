import CommandSupport
import KymographCore

/// A store whose identifiers, payloads, refusals and files have control characters in them.
final class HostileScene {
    let folder = TemporaryFolder()
    /// A device that the pipeline takes, and its patient.
    let (device, patient): (String, String)
    /// Text that it does not take for an identifier.
    let text: String
    /// The arguments of the run.
    private let arguments: [String]
    private let server: EchoingServer
    private var instance: ChildProcess?

    init(seed: UInt64) throws {
        var hostile = HostileText(seed: seed)
        (device, patient) = (hostile.identifier("device"), hostile.identifier("patient"))
        text = hostile.text("text")
        server = try EchoingServer()
        Self.writeMapping(to: folder, name: "mine")
        folder.write("patients.csv", "device,patient\n\(device),\(patient)\n")
        folder.write("document.json", "{\"a\":\(JSONText.quoted(text))}")
        folder.write("broken \(Self.inFile(text)).yaml", "windw: 5m\n\(text)\n")
        arguments = [
            "run", "--unix", folder.file("a.sock"), "--data", folder.file("data"), "--out", folder.file("out"),
            "--window", "1m", "--lateness", "0s", "--mapping", "reading", "--mapping",
            folder.file("mine"), "--server", server.url, "--server-identity", "create", "--log-level", "debug",
        ]
    }

    /// The text as an argument can have it.
    var argument: String { text.replacing("\0", with: "") }

    /// A text as the name of a file.
    static func inFile(_ text: String) -> String { text.filter { $0 != "/" && $0 != "\0" } }

    /// A mapping with a value that is a text.
    private static func writeMapping(to folder: TemporaryFolder, name: String) {
        let value =
            "\"value\": {\"valueType\": \"Quantity\", \"valueName\": \"pulse\", \"unit\": \"/min\", \"code\": \"/min\"}"
        folder.write(
            "\(name)/device.json",
            MappingText.device.replacing("pulse", with: "note"))
        folder.write(
            "\(name)/fhir.json",
            MappingText.fhir.replacing(value, with: "\"value\": {\"valueType\": \"String\", \"valueName\": \"note\"}")
                .replacing("pulse", with: "note"))
    }

    /// What devices send: good readings, and each kind that is rejected.
    var payloads: [[UInt8]] {
        let good = (0..<3).map { minute in
            """
            {"deviceId":\(JSONText.quoted(device)),"patientId":\(JSONText.quoted(patient)),"type":"heartRate",\
            "timestamp":"2026-03-01T08:0\(minute):00Z","value":6\(minute),"unit":"/min"}
            """
        }
        let quoted = JSONText.quoted(text)
        let odd = [
            good[0].replacing("\"value\":60", with: "\"value\":61"),
            "{\"id\":\(JSONText.quoted(device)),\"at\":\"2026-03-01T08:00:00Z\",\"note\":\(quoted)}",
            "{\"id\":\(JSONText.quoted(device)),\"at\":\"2026-03-01T08:05:00Z\",\"note\":\"later\"}",
            good[0].replacing("\"heartRate\"", with: quoted), good[0].replacing("\"/min\"", with: quoted),
            good[0].replacing(JSONText.quoted(device), with: quoted), "{\(quoted):\(quoted)}",
            good[0].replacing("\"2026-03-01T08:00:00Z\"", with: quoted), "{\"deviceId\":\(quoted)",
        ]
        return (good + odd).map { Array($0.utf8) } + [invalidUTF8]
    }

    /// One of the payloads: a byte of C1, and one that is in no UTF-8.
    var invalidUTF8: [UInt8] {
        Array("{\"deviceId\":\"".utf8) + text.utf8.filter { $0 != 0x0A } + [0x9B, 0xFF] + Array("\"}".utf8)
    }

    /// Starts the instance with more arguments.
    func start(_ more: [String] = []) throws -> ChildProcess {
        let run = try Kymo.start(arguments + more)
        try run.waitForError("listening on")
        instance = run
        return run
    }

    /// Sends all of it, until the server has refused and all is decided.
    func fill() throws {
        try Sending.send(payloads.map { $0 + [0x0A] }, to: "unix \(folder.file("a.sock"))")
        try Waiting.until("letters of all kinds") {
            let text = try command(["dead"]).text
            return text.contains("serverRefused") && text.contains("noTemplate") && text.contains("invalidJSON")
        }
    }

    /// A command on the store.
    func command(_ arguments: [String], output: ChildProcess.Output = .file) throws -> Kymo.Finished {
        try Kymo.run(arguments + ["--data", folder.file("data")], directory: folder.path, output: output)
    }

    /// Ends the instance.
    func stop() throws -> Kymo.Finished? { try instance?.terminate() }
}
