import KymographCore

/// Tells once when the file system of a directory comes to be 50, 80 or 100 percent full, and when it has room again.
///
/// The limit of the store does not help where others fill its disk, and outputs have none.
struct DiskWatch {
    private let directory: String
    private var announced = 0

    /// Percent that are told of, and how much they matter.
    private static let alarms: [(percent: Int, level: LogLevel)] = [(50, .info), (80, .warning), (100, .error)]
    /// Percent that the use must fall below an alarm before it may come again.
    private static let slack = 5

    /// For the file system of `directory`.
    init(_ directory: String) { self.directory = directory }

    /// What has changed.
    mutating func entry(_ disk: DiskFacts) -> LogEntry? {
        let percent = disk.percent
        if let alarm = Self.alarms.last(where: { percent >= $0.percent }), alarm.percent > announced {
            announced = alarm.percent
            let left = ByteSizeText.text(disk.freeBytes & ~0xF_FFFF)
            return entry(
                alarm.level, percent,
                "the file system of \(directory) is \(percent) % full, with \(left) left: make room, since readings "
                    + "wait when it is full")
        }
        let former = announced
        while announced > 0, percent < announced - Self.slack {
            announced = Self.alarms.last { $0.percent < announced }?.percent ?? 0
        }
        guard announced < former else { return nil }
        return entry(
            .info, percent, "the file system of \(directory) is \(percent) % full, after \(former) % or more")
    }

    private func entry(_ level: LogLevel, _ percent: Int, _ text: String) -> LogEntry {
        LogEntry(level, text, fields: [("event", .text("disk.fill")), ("percent", .number(percent))])
    }
}
