/// The URLs of HealthKitOnFHIR's extensions for the exact times of a sample, in seconds since 1970.
package enum AbsoluteTimeRange {
    /// Of the start.
    package static let start = "https://bdh.stanford.edu/fhir/defs/absoluteTimeRangeStart"
    /// Of the end.
    package static let end = "https://bdh.stanford.edu/fhir/defs/absoluteTimeRangeEnd"
}
