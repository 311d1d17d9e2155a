import KymographCore

/// Tells once when the devices or series that a lane or a shard has met come near their limit, and once when one was
/// refused for it; for another limit again. Nothing comes free before a restart, so that there is no end to tell.
struct LimitWatch {
    /// What is limited.
    enum Kind: String {
        case devices, series

        /// The setting.
        var setting: String { "limits.\(rawValue)" }
    }

    private let kind: Kind
    /// The limit that the others are about.
    private var limit = 0
    private var (isNear, refuses) = (false, false)

    /// It is told of when no more than this part of the limit is left.
    private static let share = 10

    init(_ kind: Kind) { self.kind = kind }

    /// What has changed: `fills` are those of all lanes and shards, and `limit` is that of the configuration. Who goes
    /// by another one has not followed yet.
    mutating func entries(_ fills: [LimitFill], limit: Int) -> [LogEntry] {
        if limit != self.limit { (self.limit, isNear, refuses) = (limit, false, false) }
        let fills = fills.filter { $0.limit == limit }
        let met = fills.reduce(0) { max($0, $1.met) }
        var entries: [LogEntry] = []
        if !isNear, met >= limit - limit / LimitWatch.share {
            isNear = true
            entries.append(
                entry(
                    .warning, "limit.near",
                    "\(met) of \(limit) \(kind.rawValue) (\(kind.setting)) have been met since the start: readings of "
                        + "new ones are rejected at the limit; raise \(kind.setting) in the configuration, and send "
                        + "SIGHUP"))
        }
        if !refuses, fills.contains(where: \.refuses) {
            refuses = true
            entries.append(
                entry(
                    .error, "limit.reached",
                    "\(limit) \(kind.rawValue) (\(kind.setting)) have been met since the start: readings of new ones "
                        + "are rejected (\(Rejection.tooManyDevices.name)); raise \(kind.setting) in the "
                        + "configuration, send SIGHUP, and replay what was rejected with 'kymo dead replay'"))
        }
        return entries
    }

    private func entry(_ level: LogLevel, _ event: String, _ text: String) -> LogEntry {
        .change(level, event, ("setting", kind.setting), text, fields: [("limit", .number(limit))])
    }
}
