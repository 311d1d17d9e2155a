package import KymographCore

/// What a timeline is asked for.
package struct TimelineQuery: Sendable {
    /// Caps that keep an answer small. What they cut off is told (``Timeline/partial``).
    package struct Limits: Sendable {
        /// Series.
        package var series = 50
        /// Buckets of each series.
        package var buckets = 20_000
        /// Readings that are looked at one by one; of more, windows are taken as a whole.
        package var readings = 2_000_000
        /// Dead letters.
        package var letters = 100

        /// The usual ones.
        package init() {}
    }

    /// The device; nil for all of the patient.
    package var device: IdentifierText?
    /// The patient; nil for whoever the device was with.
    package var patient: IdentifierText?
    /// Names of types; nil for all.
    package var types: [String]?
    /// The span: from this instant,
    package var from: Instant
    /// up to this one.
    package var to: Instant
    /// How long the buckets are.
    package var bucket = TimelineBucket.hour
    /// By whose clock.
    package var zone = LocalTimeZone(name: "UTC", minutes: 0)
    /// The present: nothing is missing behind it.
    package var now: Instant
    /// Caps.
    package var limits = Limits()

    /// Asks for a span.
    package init(device: IdentifierText?, patient: IdentifierText?, from: Instant, to: Instant, now: Instant) {
        (self.device, self.patient, self.from, self.to, self.now) = (device, patient, from, to, now)
    }
}
