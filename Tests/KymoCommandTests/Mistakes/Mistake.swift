import Testing

/// A mistake that someone makes who uses the program for the first time, and the answer to it.
struct Mistake: Sendable, CustomTestStringConvertible {
    /// What the mistake needs besides files.
    enum Need: Sendable, Equatable {
        /// A user who may not do everything.
        case ordinaryUser
        /// A data directory `store` with one reading and one dead letter.
        case store
        /// An instance that uses it.
        case instance
        /// A port, in place of `{port}`, that another process has bound for UDP, or for TCP, or that is free.
        case udpPort, tcpPort, freePort
        /// A port, in place of `{port}`, where each connection gets this answer, whatever it asks.
        case answer(String)
        /// No standard input, no standard output, or one without room.
        case closedInput, closedOutput, fullOutput
    }

    var title: String
    var arguments: [String]
    var files: [String: [UInt8]] = [:]
    /// Files and folders that only the owner may use.
    var locked: [String] = []
    /// Files that everyone may read; others only the owner may.
    var shared: [String] = []
    var environment: [String: String] = [:]
    var input: [UInt8]
    var needs: [Need] = []
    var status: Int32
    /// What the message has: what is wrong, where, and what to do.
    var cause: String
    var place: String
    var remedy: String

    var testDescription: String { title }

    /// Paths are relative to the folder of the mistake.
    init(
        _ title: String, _ arguments: [String], files: [String: String] = [:], bytes: [String: [UInt8]] = [:],
        locked: [String] = [], shared: [String] = [], environment: [String: String] = [:], input: String = "",
        inputBytes: [UInt8]? = nil,
        needs: [Need] = [], _ status: Int32, _ cause: String, at place: String, _ remedy: String
    ) {
        self.title = title
        self.arguments = arguments
        self.files = files.mapValues { Array($0.utf8) }.merging(bytes) { $1 }
        (self.locked, self.shared) = (locked, shared)
        self.environment = environment
        self.input = inputBytes ?? Array(input.utf8)
        self.needs = needs
        self.status = status
        (self.cause, self.place, self.remedy) = (cause, place, remedy)
    }

    /// A configuration file with this text.
    static func configuration(
        _ title: String, _ text: String, _ status: Int32, _ cause: String, at place: String, _ remedy: String
    ) -> Mistake {
        Mistake(
            title, ["check", "--strict", "--config", "kymo.yaml"], files: ["kymo.yaml": text], status, cause, at: place,
            remedy)
    }

    /// The small mapping with a change in its device file.
    static func device(
        _ title: String, _ changes: [(String, String)], _ status: Int32, _ cause: String, at place: String,
        _ remedy: String
    ) -> Mistake {
        mapping(title, changed(MappingText.device, changes), MappingText.fhir, status, cause, at: place, remedy)
    }

    /// The small mapping with a change in its FHIR file.
    static func fhir(
        _ title: String, _ changes: [(String, String)], _ status: Int32, _ cause: String, at place: String,
        _ remedy: String
    ) -> Mistake {
        mapping(title, MappingText.device, changed(MappingText.fhir, changes), status, cause, at: place, remedy)
    }

    private static func mapping(
        _ title: String, _ device: String, _ fhir: String, _ status: Int32, _ cause: String, at place: String,
        _ remedy: String
    ) -> Mistake {
        Mistake(
            title, ["check", "--strict", "./m"], files: ["m/device.json": device, "m/fhir.json": fhir], status, cause,
            at: place, remedy)
    }

    private static func changed(_ text: String, _ changes: [(String, String)]) -> String {
        changes.reduce(text) { text, change in
            precondition(text.contains(change.0), "the mapping has no '\(change.0)'")
            return text.replacing(change.0, with: change.1)
        }
    }
}
