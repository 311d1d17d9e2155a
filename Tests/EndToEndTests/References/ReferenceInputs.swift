import CommandSupport
import Testing

/// Readings whose resources refer to others in other ways than Observations do.
struct ReferenceInputs: Sendable, CustomTestStringConvertible {
    var mappings: [String]
    var profile: String?
    var lines: [String]

    var testDescription: String { mappings.joined(separator: ", ") + (profile.map { " with \($0)" } ?? "") }

    /// The devices of all lines.
    static let devices = (0..<3).map { "device-\($0)" }

    static let all = [
        ReferenceInputs(mappings: ["device-registration", "reading"], lines: registrations),
        ReferenceInputs(mappings: ["insulin-pump"], lines: boluses),
        ReferenceInputs(mappings: ["pill-dispenser"], lines: pills),
        ReferenceInputs(mappings: ["device-alarms"], lines: alarms),
        ReferenceInputs(mappings: ["reading"], profile: "phd", lines: glucose),
    ]

    private static func lines(_ make: (_ device: String, _ minute: String) -> [String]) -> [String] {
        (10..<22).flatMap { minute in devices.flatMap { make($0, "\(minute)") } }
    }

    /// A description comes before Observations of the same device, which point to it; so does its clock.
    private static let registrations = lines { device, minute in
        let second = Readings.heartRate(second: (Int(minute) ?? 0) * 60, device: device)
        let clock = #"{"deviceId":"\#(device)","clock":"2026-03-01T08:\#(minute):30Z"}"#
        guard minute == "10" || minute == "16" else { return [second, clock] }
        return [
            #"{"deviceId":"\#(device)","timestamp":"2026-03-01T08:\#(minute):00Z","registration":"#
                + #"{"serialNumber":"S-\#(minute)","manufacturer":"M"}}"#, second, clock,
        ]
    }

    private static let boluses = lines { device, minute in
        [
            #"{"pumpId":"\#(device)","patientId":"of-\#(device)","insulin":"lispro","#
                + #""start":"2026-03-01T08:\#(minute):00Z","end":"2026-03-01T08:\#(minute):30Z","#
                + #""bolus":{"delivered":4.5,"state":"complete"}}"#
        ]
    }

    private static let pills = lines { device, minute in
        [
            #"{"dispenser":"\#(device)","patient":"of-\#(device)","time":"2026-03-01T08:\#(minute):00Z","#
                + #""event":"taken","medication":{"name":"Metformin","rxnorm":"861007"},"tablets":2,"slot":14}"#
        ]
    }

    /// Each alarm is reported twice: the second time it has ended.
    private static let alarms = lines { device, minute in
        let alarm =
            #"{"device":"\#(device)","patient":"of-\#(device)","alarm":{"code":"196940","text":"Occlusion","#
            + #""since":"2026-03-01T08:\#(minute):00Z","state":"#
        return [
            alarm + #""present"}}"#, alarm + #""ended","until":"2026-03-01T08:\#(minute):30Z"}}"#,
            #"{"device":"\#(device)","patient":"of-\#(device)","time":"2026-03-01T08:\#(minute):10Z","#
                + #""message":{"text":"Battery low","priority":"low"}}"#,
        ]
    }

    private static let glucose = lines { device, minute in
        [
            #"{"deviceId":"\#(device)","type":"capillaryGlucose","timestamp":"2026-03-01T08:\#(minute):00Z","#
                + #""value":104,"unit":"mg/dL"}"#
        ]
    }
}
