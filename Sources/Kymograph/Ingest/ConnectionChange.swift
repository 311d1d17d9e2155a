/// What has become of a connection that kymo itself keeps: to a broker, or to a serial line.
package enum ConnectionChange: Sendable {
    /// It is there, for the first time or again.
    case made
    /// It has gone, or could not be made; it is tried again.
    case lost
}

extension ConnectionChange {
    /// The entry of the log that says so of `source` in the words of `text`. Only the same words are repeats: why a
    /// connection is lost is news.
    func entry(of source: String, _ text: String) -> LogEntry {
        let (level, event): (LogLevel, String) =
            switch self {
            case .made: (.info, "source.connected")
            case .lost: (.warning, "source.disconnected")
            }
        return LogEntry(level, text, fields: [("event", .text(event)), ("source", .text(source))])
    }
}
