/// What has become of a connection that kymo itself keeps: to a broker, or to a serial line.
package enum ConnectionChange: Sendable {
    /// It is there, for the first time or again.
    case made
    /// It has gone, or could not be made; it is tried again.
    case lost
}

extension ConnectionChange {
    /// The entry of the log that says so of `source` in the words of `text`.
    func entry(of source: String, _ text: String) -> LogEntry {
        switch self {
        case .made: .change(.info, "source.connected", ("source", source), text)
        case .lost: .change(.warning, "source.disconnected", ("source", source), text)
        }
    }
}
