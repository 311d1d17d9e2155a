extension ByteWriter {
    /// Writes the distance of the samples of a series of `plan`. R4 demands a `period` even where the true times stand
    /// beside it; R5 has either `interval` or `offsets` (sdd-1).
    mutating func appendSpacing(_ plan: SeriesPlan, _ timing: SeriesTiming) {
        guard timing == .interval else {
            append("\"period\":")
            return append(milliseconds: plan.period)
        }
        if !plan.isIrregular {
            append("\"interval\":")
            append(milliseconds: plan.period)
            append(",")
        }
        append("\"intervalUnit\":\"ms\"")
    }

    /// Opens the member with the times of an irregular series; ``closeOffsets(_:)`` ends it.
    ///
    /// R4 has no irregular series. R5 has (`SampledData.offsets`), and FHIR's cross-version extensions carry an element
    /// of R5 in a resource of R4 or STU3 under a name fixed by HL7: the times stay exact, and the data stay readings of
    /// the component's code and unit, which interleaved times (`dimensions` 2) would not be.
    mutating func openOffsets(_ timing: SeriesTiming) {
        if timing == .interval { return append(",\"offsets\":\"") }
        append(",\"extension\":[{\"url\":\"http://hl7.org/fhir/5.0/StructureDefinition/extension-SampledData.")
        append("intervalUnit\",\"valueCode\":\"ms\"},{\"url\":\"http://hl7.org/fhir/5.0/StructureDefinition/")
        append("extension-SampledData.offsets\",\"valueString\":\"")
    }

    /// See ``openOffsets(_:)``.
    mutating func closeOffsets(_ timing: SeriesTiming) {
        timing == .interval ? append("\"") : append("\"}]")
    }
}

extension SeriesTiming {
    /// Bytes that an irregular series has beyond those of a regular one, besides its times.
    var irregularBytes: Int64 {
        switch self {
        case .period: 215
        // The name of one member in place of another's.
        case .interval: 0
        }
    }
}
