import KymographCore

/// The playground: a payload and the two files of a mapping in, what comes out of them and why.
enum PlaygroundRoutes {
    /// One for all: its limits are those of the instance.
    private static let playground = Playground()

    static let all: [ConsoleRoute] = [
        .post("playground", .view) { (_, request) throws(ConsoleRefusal) in
            let asked = try asked(request)
            do throws(Playground.Refusal) {
                return .json(bytes: try playground.answer(to: asked).json)
            } catch {
                throw ConsoleRefusal(error)
            }
        }
    ]

    private struct Body: Decodable {
        /// The payload as text, or as hexadecimal digits.
        var payload: String?
        var hex: String?
        var deviceText: String
        var fhirText: String
        var name: String?
        var compatibility: String?
        var fhirVersion: String?
        var defaultDevice: String?
    }

    private static func asked(_ request: ConsoleRequest) throws(ConsoleRefusal) -> Playground.Request {
        let body = try request.decode(Body.self)
        var asked = Playground.Request()
        (asked.device, asked.fhir) = (Array(body.deviceText.utf8), Array(body.fhirText.utf8))
        asked.payload = try payload(body)
        if let name = body.name, !name.isEmpty { asked.name = name }
        guard let compatibility = Compatibility(rawValue: body.compatibility ?? Compatibility.none.rawValue) else {
            throw ConsoleRefusal(400, "badCompatibility", "compatibility is none or iomt-fhir")
        }
        guard let version = FHIRVersion(rawValue: body.fhirVersion ?? FHIRVersion.r4.rawValue) else {
            let names = FHIRVersion.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConsoleRefusal(400, "badVersion", "fhirVersion is one of \(names)")
        }
        (asked.compatibility, asked.fhirVersion) = (compatibility, version)
        asked.context = SourceContext(defaultDevice: Array((body.defaultDevice ?? "").utf8))
        return asked
    }

    private static func payload(_ body: Body) throws(ConsoleRefusal) -> [UInt8] {
        guard let hex = body.hex else { return Array((body.payload ?? "").utf8) }
        do throws(HexText.Invalid) {
            return try HexText.decode(Array(hex.utf8))
        } catch {
            throw ConsoleRefusal(
                400, "badHex", "line \(error.line) of the payload is not hexadecimal: write two digits a byte")
        }
    }
}

extension ConsoleRefusal {
    fileprivate init(_ refusal: Playground.Refusal) {
        let (status, code) =
            switch refusal {
            case .tooLarge: (413, "tooLarge")
            case .tooMany: (429, "tooMany")
            case .tooSlow: (422, "tooSlow")
            case .busy, .unavailable: (503, "busy")
            case .slow: (503, "slow")
            }
        self.init(status, code, refusal.message)
    }
}

extension HTTPReply {
    /// JSON that is written already.
    static func json(bytes: [UInt8]) -> HTTPReply {
        var reply = HTTPReply(200, type: "application/json", "")
        reply.body = bytes
        return reply
    }
}
