import KymographTestKit

/// Documents such as devices send, with members that templates of the tests look for: of usual values mostly, and of
/// others that are read in another way or refused.
enum GeneratedDocument {
    private static let choices: [String: [String]] = [
        "device": [#""d-1""#, #""d-2""#, #""sensor-with-a-long-name""#, #""""#, #"" ""#, #""é""#, #""a\u0062""#, "7"],
        "type": [#""hr""#, #""hr""#, #""hs""#, #""temperature""#, #""temperaturE""#, #""free""#, #""freedom""#, "1"],
        "ts": [
            #""2023-11-14T22:13:20Z""#, #""2023-11-14T22:13:20.125Z""#, #""2023-11-14T22:13:20+01:00""#,
            "1700000000000",
            "1700000000000.5", #""1700000000000""#, "17000000000000000", #""soon""#, #""2999-01-01T00:00:00Z""#,
        ],
        "value": [
            "72", "30.5", "30.6", "0", "36.60", "0.05", "-3", "1e2", "123456789012345678", "1234567890123456789",
            "12345678.12345678", "12345678901234567.5", "007", "1.", "null", #""72""#, "99999999", "123456789",
        ],
        "level": ["1", "0", "5", "5.0", "1.25"], "amount": ["3", "-1"], "kind": [#""x""#, #""y""#, "1"],
        "who": [#""p""#, #""""#, "3"], "unit": [#""bpm""#, #""/min""#, #""\"""#, #""}""#],
        "seq": ["1", "22", "333", "4444444444"],
        "a-name-that-is-longer-than-one-piece-of-a-shape-can-be": ["1", #""t""#],
    ]
    private static let orders = [
        ["device", "type", "ts", "value", "unit"], ["type", "ts", "device", "value", "who", "seq"],
        ["device", "ts", "level", "seq"], ["ts", "device", "amount", "kind"],
        ["device", "type", "ts", "value", "device"],
        ["device", "a-name-that-is-longer-than-one-piece-of-a-shape-can-be", "type", "ts", "value"],
    ]

    /// A document as a device writes it.
    static func text(_ random: inout SeededGenerator) -> String {
        let order = GeneratedDocument.orders.randomElement(using: &random) ?? []
        let members = order.map { name in
            let values = GeneratedDocument.choices[name] ?? []
            let isUsual = Int.random(in: 0..<3, using: &random) > 0
            return "\"\(name)\":" + (isUsual ? values[0] : values.randomElement(using: &random) ?? "1")
        }
        let blank = Int.random(in: 0..<8, using: &random) == 0 ? " " : ""
        return "{\(blank)\(members.joined(separator: ",\(blank)"))}" + (blank.isEmpty ? "" : "\r")
    }

    /// A document, one of `share` of which has a byte more, less, or another.
    static func edited(_ random: inout SeededGenerator, oneOf share: Int = 4) -> [UInt8] {
        var bytes = Array(text(&random).utf8)
        guard Int.random(in: 0..<share, using: &random) == 0 else { return bytes }
        let place = Int.random(in: 0..<bytes.count, using: &random)
        let byte = Array("{}[]\",:\\ 0159.-e\n\u{1}".utf8).randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] = byte
        case 1: bytes.insert(byte, at: place)
        default: bytes.remove(at: place)
        }
        return bytes
    }
}
