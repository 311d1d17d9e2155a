public import KymographCore

/// How the bytes of a stream become payloads.
public enum StreamFraming: Hashable, Sendable {
    /// NDJSON: one payload a line.
    case lines
    /// Any other way.
    case frames(Framing)
    /// What a Bluetooth tool writes to its terminal: its packets become frames of a bridge, everything else is passed
    /// over.
    case capture(CaptureFraming)
}

/// What the output of a Bluetooth tool does not say.
public struct CaptureFraming: Hashable, Sendable {
    /// Device of packets whose own is not told; nil for the source's default.
    public var device: IdentifierText?
    /// Minutes that device clocks are ahead of UTC; ``UTCOffset/none`` when nobody knows.
    public var offsetMinutes = UTCOffset.none

    /// Knows neither.
    public init() {}
}
