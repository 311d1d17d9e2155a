@testable import KymographCore

/// A value of a test reading.
enum TestValue: Equatable {
    case number(Int64, Int8)
    case text(String)
    /// The samples of a waveform.
    case samples([Int64])

    func isSame(as other: TestValue) -> Bool {
        switch (self, other) {
        case (.number(let mantissa, let exponent), .number(let otherMantissa, let otherExponent)):
            Decimal64(mantissa: mantissa, exponent: exponent)
                .isEqualInValue(to: Decimal64(mantissa: otherMantissa, exponent: otherExponent))
        case (.text(let text), .text(let other)): text == other
        default: false
        }
    }

    var description: String {
        switch self {
        case .number(let mantissa, let exponent): "\(mantissa)e\(exponent)"
        case .text(let text): "'\(text)'"
        case .samples(let samples): "[\(samples.map(String.init).joined(separator: " "))]"
        }
    }
}

/// A reading as the tests write it.
struct TestReading {
    var series = 0
    /// Event time in nanoseconds.
    var instant: Int64
    /// Receive time in nanoseconds.
    var received: Int64
    var offset: Int16 = UTCOffset.none
    /// Digits of the fraction of its time.
    var digits = 0
    var values: [Int: TestValue] = [:]

    /// A reading with one number in slot 0; `second` is its event time, and its receive time unless another is given.
    static func at(_ second: Int64, _ value: Int64 = 60, received: Int64? = nil, series: Int = 0) -> TestReading {
        TestReading(
            series: series, instant: second * 1_000_000_000, received: (received ?? second) * 1_000_000_000,
            values: [0: .number(value, 0)])
    }

    func measurement(_ payload: inout ByteWriter) -> Measurement {
        var result = Measurement(instant: Instant(nanoseconds: instant), received: Instant(nanoseconds: received))
        result.timeForm = TimeForm(offsetMinutes: offset, digits: digits)
        payload.removeAll()
        for (slot, value) in values.sorted(by: { $0.key < $1.key }) {
            switch value {
            case .number(let mantissa, let exponent):
                let number = Decimal64(mantissa: mantissa, exponent: exponent)
                if slot < Measurement.inlineValues {
                    result.setInline(slot, number)
                } else {
                    ValueRecord.append(slot: slot, number: number, to: &payload)
                }
            case .text(let text):
                Array(text.utf8).withByteView { ValueRecord.append(slot: slot, text: $0, to: &payload) }
            case .samples(let samples):
                var content = ByteWriter()
                let isExact = SampleRecord.append(RawArray(samples.map { Decimal64(mantissa: $0) }), to: &content)
                precondition(isExact)
                ValueRecord.append(slot: slot, .samples, content.view, to: &payload)
            }
        }
        result.payloadBytes = payload.count
        return result
    }
}

extension WindowContent {
    /// Everything that an Observation could show, as one text per reading.
    var canonical: String {
        let lines = (0..<readings.count).map { index -> String in
            let form = readings[index].timeForm
            var text = "\(readings[index].instant.nanoseconds) \(form.offsetMinutes)"
            if form.digits > 0 { text += ".\(form.digits)" }
            for slot in 0..<16 {
                if let words = self.text(index, slot: slot) {
                    text += " \(slot)='\(words.string)'"
                } else if let samples = samples(index, slot: slot) {
                    var tokens = ByteWriter()
                    tokens.append(samples: samples)
                    text += " \(slot)=[\(tokens.view.string)]"
                } else if let number = number(index, slot: slot) {
                    text += " \(slot)=\(number.mantissa)e\(number.exponent)"
                }
            }
            return text
        }
        return lines.joined(separator: "\n")
    }
}
