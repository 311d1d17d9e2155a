/// A window, or in instance grouping a reading, that is due to become an Observation.
public struct Emission: Equatable, Sendable {
    /// Series number within the machine.
    public let series: Int
    /// Status to emit.
    public let status: ObservationStatus
    /// First instant, as in ``WindowContent/start``.
    public let start: Instant
    /// End, as in ``WindowContent/end``.
    public let end: Instant
    /// Place in the table of open windows.
    let window: UInt32
}
