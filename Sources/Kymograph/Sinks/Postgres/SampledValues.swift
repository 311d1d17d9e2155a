import KymographCore
import KymographTemplates

/// The values of a SampledData with their times, exactly: sample i is at the start + (i ÷ dimensions) × period, or
/// + offset, and is origin + token × factor (FHIR datatypes, "SampledData"). Of R4 and STU3, of R5, and of R4 with the
/// extensions that carry R5's offsets.
struct SampledValues {
    /// One sample that there is.
    struct Sample {
        var instant: Instant
        /// Which of the signals it belongs to, from 0.
        var dimension: Int
        /// The number; nil where it was beyond what could be measured.
        var digits: String?
        /// `belowLimit` or `aboveLimit`.
        var flag: String?
    }

    private static let extensions = "http://hl7.org/fhir/5.0/StructureDefinition/extension-SampledData."

    /// Nanoseconds of a UCUM unit of time; nil for another.
    private static func length(ofUnit name: String) -> Int128? {
        switch name {
        case "ns": 1
        case "us": 1_000
        case "ms": 1_000_000
        case "s": 1_000_000_000
        case "min": 60_000_000_000
        case "h": 3_600_000_000_000
        case "d": 86_400_000_000_000
        default: nil
        }
    }

    private let tokens: [Substring]
    private let dimensions: Int
    private let period: Decimal64
    private let offsets: [Substring]?
    private let unit: Int128
    private let origin: Decimal64
    private let factor: Decimal64

    /// Reads `data`; nil unless it is as FHIR defines it.
    init?(_ data: JSONNode) {
        func carried(_ name: String, _ value: String) -> String? {
            let found = data.member("extension")?.elements?.first { $0.member("url")?.string == Self.extensions + name }
            return found?.member(value)?.string
        }
        let tokens = (data.member("data")?.string ?? "").split(separator: " ")
        let dimensions = data.member("dimensions")?.numberText.flatMap { Int($0) } ?? 0
        let unitName = data.member("intervalUnit")?.string ?? carried("intervalUnit", "valueCode") ?? "ms"
        let offsets = (data.member("offsets")?.string ?? carried("offsets", "valueString"))?.split(separator: " ")
        let interval = data.member("period") ?? data.member("interval")
        guard dimensions > 0, tokens.count % dimensions == 0, let unit = Self.length(ofUnit: unitName),
            let origin = Self.decimal(data.member("origin")?.member("value")?.numberText),
            let factor = Self.decimal(data.member("factor")?.numberText ?? "1"),
            let period = Self.decimal(interval?.numberText ?? (offsets == nil ? nil : "0")),
            (offsets?.count ?? .max) >= tokens.count / dimensions
        else { return nil }
        (self.tokens, self.dimensions, self.offsets) = (tokens, dimensions, offsets)
        (self.unit, self.origin, self.factor, self.period) = (unit, origin, factor, period)
    }

    /// The samples that there are, of which the first is at `start`; nil when one is not as FHIR defines it.
    func samples(from start: Instant) -> [Sample]? {
        var samples: [Sample] = []
        samples.reserveCapacity(tokens.count)
        for (index, token) in tokens.enumerated() where token != "E" {
            guard let distance = distance(to: index / dimensions) else { return nil }
            var sample = Sample(instant: start.advanced(by: distance), dimension: index % dimensions)
            switch token {
            case "L": sample.flag = "belowLimit"
            case "U": sample.flag = "aboveLimit"
            default:
                guard let digits = digits(of: token) else { return nil }
                sample.digits = digits
            }
            samples.append(sample)
        }
        return samples
    }

    private static func decimal(_ text: (some StringProtocol)?) -> Decimal64? {
        guard let text else { return nil }
        let bytes = PaddedBytes(copying: Array(text.utf8))
        guard case .number(let number) = DecimalParser.parse(bytes.view) else { return nil }
        return number
    }

    /// Nanoseconds from the start to sample `index`.
    private func distance(to index: Int) -> Int64? {
        guard let offsets else { return Self.nanoseconds(period, times: Int128(index), unit) }
        return Self.decimal(offsets[index]).flatMap { Self.nanoseconds($0, times: 1, unit) }
    }

    private static func nanoseconds(_ length: Decimal64, times count: Int128, _ unit: Int128) -> Int64? {
        let (product, overflow) = (Int128(length.mantissa) * count).multipliedReportingOverflow(by: unit)
        guard !overflow, let scaled = scale(product, by: Int(length.exponent)) else { return nil }
        return Int64(exactly: scaled)
    }

    /// `value` × 10^`zeros`, rounded towards zero.
    private static func scale(_ value: Int128, by zeros: Int) -> Int128? {
        var result = value
        for _ in 0..<abs(zeros) where result != 0 {
            guard zeros > 0 else {
                result /= 10
                continue
            }
            let (product, overflow) = result.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            result = product
        }
        return result
    }

    /// Origin + `token` × factor, as many digits behind the point as the finer of both has.
    private func digits(of token: Substring) -> String? {
        guard let number = Self.decimal(token) else { return nil }
        let product = Int128(number.mantissa) * Int128(factor.mantissa)
        let exponent = Int(number.exponent) + Int(factor.exponent)
        let finest = min(exponent, Int(origin.exponent))
        guard let scaled = Self.scale(product, by: exponent - finest),
            let base = Self.scale(Int128(origin.mantissa), by: Int(origin.exponent) - finest)
        else { return nil }
        let (sum, overflow) = scaled.addingReportingOverflow(base)
        return overflow ? nil : Self.text(sum, exponent: finest)
    }

    private static func text(_ mantissa: Int128, exponent: Int) -> String {
        var digits = String(mantissa.magnitude)
        if exponent >= 0 {
            if mantissa != 0 { digits += String(repeating: "0", count: exponent) }
        } else {
            let missing = -exponent + 1 - digits.utf8.count
            if missing > 0 { digits = String(repeating: "0", count: missing) + digits }
            digits.insert(".", at: digits.index(digits.endIndex, offsetBy: exponent))
        }
        return mantissa < 0 ? "-" + digits : digits
    }
}
