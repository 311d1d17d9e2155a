/// One series of one window: which numbers it has, and how they are written.
struct SeriesForm: BitwiseCopyable {
    /// Slot of the numbers in the readings.
    var slot: Int
    /// Instant of the first sample.
    var start: Instant
    var plan: SeriesPlan
    var policy: SlotCollision
    var limits = SeriesLimits()
    var scale = SeriesScale.plain

    /// Whether every token is a number's own digits.
    var isPlain: Bool { limits.isEmpty && scale.isPlain }
}
