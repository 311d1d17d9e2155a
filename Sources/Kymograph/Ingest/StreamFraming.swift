public import KymographCore

/// How the bytes of a stream become payloads.
public enum StreamFraming: Hashable, Sendable {
    /// NDJSON: one payload a line.
    case lines
    /// Any other way.
    case frames(Framing)
}
