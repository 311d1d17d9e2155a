package import KymographCore

/// One value of a series and its time.
package struct SeriesSample: Hashable, Sendable {
    /// When.
    package var instant: Instant
    /// The value as the series has it, verbatim.
    package var text: String

    /// Makes a sample.
    package init(instant: Instant, text: String) {
        self.instant = instant
        self.text = text
    }
}

/// SampledData as text: reading, merging and writing what a server already holds (mapping dialect, sections 6.3 and
/// 6.4). Not for readings: ``ObservationEncoder`` writes those without any text between.
package enum SeriesText {
    /// The samples of `data`: token i is at `start` + i × `period` nanoseconds, `E` is none, anything else is a value.
    /// Times beyond 2262 are held there.
    package static func parse(_ data: String, start: Instant, period: Int64) -> [SeriesSample] {
        var samples: [SeriesSample] = []
        var instant = start
        for token in data.split(separator: " ") {
            if token != "E" { samples.append(SeriesSample(instant: instant, text: String(token))) }
            instant = instant.advanced(by: period)
        }
        return samples
    }

    /// Both lists, which are in time order, as one; of two samples of one instant the new one stays.
    package static func merge(_ existing: [SeriesSample], with new: [SeriesSample]) -> [SeriesSample] {
        var merged: [SeriesSample] = []
        merged.reserveCapacity(existing.count + new.count)
        var next = 0
        for sample in existing {
            while next < new.count, new[next].instant < sample.instant {
                merged.append(new[next])
                next += 1
            }
            let isReplaced = next < new.count && new[next].instant == sample.instant
            if !isReplaced { merged.append(sample) }
        }
        return merged + new[next...]
    }

    /// The series of `samples`, which are in time order, over slots of `period` nanoseconds at `start`, `start` +
    /// `period` … up to `end`; nil when there would be more than 2^20 of them.
    ///
    /// Of several samples in a slot the last stays, an empty slot is `E`, and samples outside are left out. With
    /// `compatibility: iomt-fhir` a sample before the start blocks all behind it, as in the reference (quirk 18).
    package static func build(
        _ samples: [SeriesSample], start: Instant, end: Instant, period: Int64,
        compatibility: Compatibility = .none
    ) -> String? {
        let (span, overflow) = end.nanoseconds.subtractingReportingOverflow(start.nanoseconds)
        guard !overflow, span >= 0, period > 0, span / period < SeriesPlan.maxSamples else { return nil }
        var tokens = [String](repeating: "E", count: Int(span / period) + 1)
        for sample in samples {
            guard sample.instant >= start else {
                if compatibility == .iomtFHIR { break }
                continue
            }
            let (offset, overflow) = sample.instant.nanoseconds.subtractingReportingOverflow(start.nanoseconds)
            guard !overflow, offset / period < tokens.count else { break }
            tokens[Int(offset / period)] = sample.text
        }
        return tokens.joined(separator: " ")
    }
}
