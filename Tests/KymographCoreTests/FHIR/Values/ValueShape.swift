@testable import KymographCore

/// A template's members with readings, and what of the Observation they give.
struct ValueShape: Sendable {
    /// The readings' numbers and texts, by slot.
    struct Reading: Sendable {
        var numbers: [Int: String] = [:]
        var texts: [Int: String] = [:]
    }

    var members: String
    var readings: [Reading]
    /// From the time to the device; nil when nothing is to be written.
    var expected: String?

    init(_ members: String, _ readings: Reading..., gives expected: String?) {
        self.members = members
        self.readings = readings
        self.expected = expected
    }

    /// A value with `code` as code of the Observation.
    static func value(_ value: String, code: String = "1") -> String {
        "\"codes\":[{\"system\":\"urn:test\",\"code\":\"\(code)\"}],\"value\":{\(value)}"
    }

    func pipeline(_ name: String = "x") throws -> TestPipeline {
        try TestPipeline("{\"typeName\":\"\(name)\",\"period\":\"1h\",\(members)}")
    }

    func window(type: Int = 0, start: Int64 = TestWindow.tenOClock) -> TestWindow {
        var window = TestWindow(type: type, start: start, seconds: 3600)
        for (index, reading) in readings.enumerated() {
            window.add(Int64(index) * TestWindow.second, reading.numbers, texts: reading.texts)
        }
        return window
    }

    /// What is written between the time and the device, with the components after it.
    func written() throws -> (text: String, outcome: EncodeOutcome) {
        let (text, outcome) = try pipeline().text(window())
        guard let start = text.range(of: "\"effective"), let device = text.range(of: "\"device\":") else {
            return (text, outcome)
        }
        // The time ends with the first comma that is not within a period.
        let time = text[start.lowerBound...]
        let end = time.range(of: time.hasPrefix("\"effectivePeriod") ? "}," : "\",")
        guard let end, let close = text[device.upperBound...].range(of: "}}") else { return (text, outcome) }
        let components = text[close.upperBound...].dropLast()
        // The comma after the value and the one before the components, between which the device was.
        let joined = String(text[end.upperBound..<device.lowerBound]) + String(components)
        return (joined.replacing(",,", with: ","), outcome)
    }
}

extension String {
    func range(of part: String) -> Range<Index>? { firstRange(of: part) }
}

extension Substring {
    func range(of part: String) -> Range<Index>? { firstRange(of: part) }
}

extension ValueShape.Reading: ExpressibleByDictionaryLiteral {
    /// Numbers by slot.
    init(dictionaryLiteral elements: (Int, String)...) {
        numbers = Dictionary(uniqueKeysWithValues: elements)
    }

    static func texts(_ texts: [Int: String], _ numbers: [Int: String] = [:]) -> Self {
        Self(numbers: numbers, texts: texts)
    }
}
