/// One stage of the data flow with everything it needs, ready to take readings.
package protocol Stage: ~Copyable {
    /// Takes the next `count` readings (Observations for the FHIR stage).
    mutating func run(_ count: Int)
}
