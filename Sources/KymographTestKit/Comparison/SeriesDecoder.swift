package import KymographCore

/// Reads SampledData back into times and values, in exact decimal arithmetic.
///
/// Reads R4 and STU3 (`period`), R5 (`interval`, `intervalUnit`, `offsets`), and R4 with the extensions that carry R5's
/// offsets: value = origin + token × factor, and the time of sample i is the start + (i ÷ dimensions) × period
/// (FHIR datatypes, "SampledData").
package struct SeriesDecoder: Sendable {
    /// What a token says.
    package enum Value: Hashable, Sendable {
        /// A value; its exponent is the finest of origin and token × factor, so that `36.60` has two decimals.
        case number(Decimal64)
        /// `E`: there is no valid measurement.
        case missing
        /// `L`: below the lower limit of detection.
        case belowLimit
        /// `U`: above the upper limit of detection.
        case aboveLimit
    }

    /// One token.
    package struct Sample: Hashable, Sendable {
        /// When it was measured, rounded down to nanoseconds.
        package var instant: Instant
        /// Which of the signals it belongs to, from 0.
        package var dimension: Int
        /// What it says.
        package var value: Value
    }

    /// A series of an Observation.
    package struct Series: Hashable, Sendable {
        /// `system|code` of the component, or of the Observation when the series is its own value.
        package var codes: [String]
        /// UCUM code of the unit, or else its name; nil when there is neither.
        package var unit: String?
        /// The tokens in order.
        package var samples: [Sample]

        /// The samples that have a value, in order.
        package var values: [(instant: Instant, number: Decimal64)] {
            samples.compactMap { sample in
                if case .number(let number) = sample.value { (sample.instant, number) } else { nil }
            }
        }
    }

    /// Every series of `observation`: its own value first, then those of its components.
    ///
    /// - Throws: ``SeriesDecoderError`` when a series cannot be read as FHIR defines it.
    package static func series(of observation: JSONTree) throws(SeriesDecoderError) -> [Series] {
        var found: [Series] = []
        for holder in [observation] + (observation["component"]?.elements ?? []) {
            if let series = try series(of: holder, in: observation) { found.append(series) }
        }
        return found
    }

    /// The series that is the value of `holder`, which is `observation` or one of its components; nil without one.
    ///
    /// - Throws: ``SeriesDecoderError`` when it cannot be read as FHIR defines it.
    package static func series(
        of holder: JSONTree, in observation: JSONTree
    ) throws(SeriesDecoderError) -> Series? {
        guard let data = holder["valueSampledData"] else { return nil }
        let unit = data["origin"]?["code"]?.text ?? data["origin"]?["unit"]?.text
        return Series(codes: codes(of: holder), unit: unit, samples: try samples(data, start: start(of: observation)))
    }

    /// The samples of a SampledData value whose first sample is at `start`.
    ///
    /// - Throws: ``SeriesDecoderError`` when it cannot be read as FHIR defines it.
    package static func samples(_ data: JSONTree, start: Instant) throws(SeriesDecoderError) -> [Sample] {
        guard let text = data["data"]?.text else {
            throw SeriesDecoderError("the series has no data here; a document that derivedFrom names may have them")
        }
        let tokens = text.split(separator: " ", omittingEmptySubsequences: false)
        let dimensions = Int(data["dimensions"]?.digits ?? "") ?? 0
        guard dimensions > 0, tokens.count % dimensions == 0 else {
            throw SeriesDecoderError("\(tokens.count) tokens do not fit the dimensions")
        }
        let times = try SeriesTimes(data)
        let scale = try SeriesTokenScale(data)
        var samples: [Sample] = []
        for (index, token) in tokens.enumerated() {
            let distance = try times.nanoseconds(to: index / dimensions)
            samples.append(
                Sample(
                    instant: start.advanced(by: distance), dimension: index % dimensions, value: try scale.value(token))
            )
        }
        return samples
    }

    private static func codes(of holder: JSONTree) -> [String] {
        (holder["code"]?["coding"]?.elements ?? []).map { "\($0["system"]?.text ?? "")|\($0["code"]?.text ?? "")" }
    }

    /// The first moment that `observation` is of.
    ///
    /// - Throws: ``SeriesDecoderError`` when it has no effective time.
    package static func start(of observation: JSONTree) throws(SeriesDecoderError) -> Instant {
        let text =
            observation["effectivePeriod"]?["start"]?.text ?? observation["effectiveDateTime"]?.text
            ?? observation["effectiveInstant"]?.text
        let bytes = PaddedBytes(copying: Array((text ?? "").utf8))
        guard let time = TimestampParser.iso8601(bytes.view) else {
            throw SeriesDecoderError("the Observation has no effective time")
        }
        return time.instant
    }
}

/// A series is not what FHIR defines.
package struct SeriesDecoderError: Error, Hashable, Sendable {
    /// What is wrong.
    package var message: String

    init(_ message: String) {
        self.message = message
    }
}

extension JSONTree {
    /// The digits, or nil when this is no number.
    package var digits: String? {
        if case .number(let digits) = self { digits } else { nil }
    }
}
