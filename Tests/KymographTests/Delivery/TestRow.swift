import KymographCore

/// Rows as the bundle writer makes them, with as little in them as possible.
enum TestRow {
    /// One Observation of a row.
    struct Reading {
        var device: String
        var window: Int
        var value: Int
        var patient: String?
        var encounter: String?

        init(_ device: String, _ window: Int, _ value: Int = 1, patient: String? = nil, encounter: String? = nil) {
            self.device = device
            self.window = window
            self.value = value
            self.patient = patient
            self.encounter = encounter
        }

        var id: String { "\(device)-\(window)" }
        fileprivate var subject: (system: String, value: String) {
            patient.map { ("urn:kymograph:patient", $0) } ?? ("urn:kymograph:device-subject", device)
        }
    }

    /// A transaction: Patients and Devices with conditional create, Observations that refer to them.
    static func transaction(_ readings: [Reading]) -> String { bundle(readings, isTransaction: true) }

    /// A batch: references by identifier.
    static func batch(_ readings: [Reading]) -> String { bundle(readings, isTransaction: false) }

    private static func bundle(_ readings: [Reading], isTransaction: Bool) -> String {
        var entries: [String] = []
        var seen: Set<IdentifierText> = []
        for reading in readings {
            for (type, identifier) in [("Patient", reading.subject), ("Device", device(reading))]
            where seen.insert(IdentifierText("\(type)|\(identifier.system)|\(identifier.value)")).inserted {
                entries.append(resource(type, identifier, isTransaction))
            }
            entries.append(observation(reading, isTransaction))
        }
        let type = isTransaction ? "transaction" : "batch"
        return #"{"resourceType":"Bundle","type":"\#(type)","entry":[\#(entries.joined(separator: ","))]}"# + "\n"
    }

    private static func device(_ reading: Reading) -> (system: String, value: String) {
        ("urn:kymograph:device", reading.device)
    }

    private static func url(_ type: String, _ value: String) -> String {
        "urn:uuid:\(type.lowercased())-\(Array(value.utf8))"
    }

    private static func resource(
        _ type: String, _ identifier: (system: String, value: String), _ isTransaction: Bool
    ) -> String {
        let fullURL = isTransaction ? #""fullUrl":"\#(url(type, identifier.value))","# : ""
        return #"{\#(fullURL)"resource":{"resourceType":"\#(type)","identifier":[\#(json(identifier))]},"#
            + #""request":{"method":"POST","url":"\#(type)","#
            + #""ifNoneExist":"identifier=\#(identifier.system)|\#(identifier.value)"}}"#
    }

    private static func json(_ identifier: (system: String, value: String)) -> String {
        #"{"system":"\#(identifier.system)","value":"\#(identifier.value)"}"#
    }

    private static func observation(_ reading: Reading, _ isTransaction: Bool) -> String {
        func reference(_ type: String, _ identifier: (system: String, value: String)) -> String {
            isTransaction
                ? #"{"reference":"\#(url(type, identifier.value))"}"#
                : #"{"type":"\#(type)","identifier":\#(json(identifier))}"#
        }
        let encounter = reading.encounter.map {
            #""encounter":{"type":"Encounter","identifier":\#(json(("urn:kymograph:encounter", $0)))},"#
        }
        let second = reading.window % 60 < 10 ? "0\(reading.window % 60)" : "\(reading.window % 60)"
        return #"{"resource":{"resourceType":"Observation","id":"\#(reading.id)","#
            + #""identifier":[{"system":"urn:kymograph:observation","value":".\#(reading.id)"}],"status":"final","#
            + #""subject":\#(reference("Patient", reading.subject)),\#(encounter ?? "")"#
            + #""effectivePeriod":{"start":"2026-01-01T00:00:\#(second)Z","end":"2026-01-01T00:00:\#(second)Z"},"#
            + #""device":\#(reference("Device", device(reading))),"valueQuantity":{"value":\#(reading.value)}},"#
            + #""request":{"method":"PUT","url":"Observation/\#(reading.id)"}}"#
    }
}
