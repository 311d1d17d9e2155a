import KymographCore

/// When the samples of a SampledData value were measured, after its start.
struct SeriesTimes {
    /// Of a regular series.
    private var interval = Decimal64(mantissa: 0)
    /// Of an irregular one.
    private var offsets: [Decimal64] = []
    private var unit: Int128 = 1_000_000

    private static let extensions = "http://hl7.org/fhir/5.0/StructureDefinition/extension-SampledData."
    /// Nanoseconds of the UCUM units of time.
    private static let units: [String: Int128] = [
        "ns": 1, "us": 1000, "ms": 1_000_000, "s": 1_000_000_000, "min": 60_000_000_000, "h": 3_600_000_000_000,
        "d": 86_400_000_000_000,
    ]

    init(_ data: JSONTree) throws(SeriesDecoderError) {
        let further = data["extension"]?.elements ?? []
        func carried(_ name: String) -> JSONTree? { further.first { $0["url"]?.text == Self.extensions + name } }
        let unitName =
            data["intervalUnit"]?.text ?? carried("intervalUnit").flatMap { $0["valueCode"]?.text } ?? "ms"
        guard let known = Self.units[unitName] else { throw SeriesDecoderError("the unit '\(unitName)' is no time") }
        unit = known
        let texts = data["offsets"]?.text ?? carried("offsets").flatMap { $0["valueString"]?.text }
        if let texts {
            for text in texts.split(separator: " ", omittingEmptySubsequences: false) {
                offsets.append(try SeriesTokenScale.decimal(String(text)))
            }
            return
        }
        guard let digits = data["period"]?.digits ?? data["interval"]?.digits else {
            throw SeriesDecoderError("the series has neither a period nor offsets")
        }
        interval = try SeriesTokenScale.decimal(digits)
    }

    /// Nanoseconds from the start to sample `index`.
    func nanoseconds(to index: Int) throws(SeriesDecoderError) -> Int64 {
        if offsets.isEmpty { return try nanoseconds(interval, times: index) }
        guard index < offsets.count else { throw SeriesDecoderError("there are fewer offsets than samples") }
        return try nanoseconds(offsets[index], times: 1)
    }

    private func nanoseconds(_ length: Decimal64, times count: Int) throws(SeriesDecoderError) -> Int64 {
        var (result, overflow) = (Int128(length.mantissa) * Int128(count)).multipliedReportingOverflow(by: unit)
        for _ in 0..<abs(Int(length.exponent)) where !overflow {
            if length.exponent < 0 {
                result /= 10
            } else {
                (result, overflow) = result.multipliedReportingOverflow(by: 10)
            }
        }
        guard !overflow, let nanoseconds = Int64(exactly: result) else {
            throw SeriesDecoderError("a sample is more than 292 years after the start")
        }
        return nanoseconds
    }
}
