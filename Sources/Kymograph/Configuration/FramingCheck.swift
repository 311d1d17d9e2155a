import KymographCore
import KymographTemplates

/// Checks framings against sources and limits.
enum FramingCheck {
    /// Notes framings that have no effect or can never give a payload.
    static func check(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        if let origin = settings.origins["framing"] { check(settings.framing, settings, origin, &log) }
        for source in settings.sources {
            checkTable(settings.framing(of: source), source, settings, &log)
            guard let framing = source.statedFraming, let origin = source.origins["framing"] else { continue }
            if source.configuration.capabilities.contains(.framing) {
                check(framing, settings, origin, &log)
            } else {
                log.add(
                    .warning, origin, "it has no effect here", advice: "its messages have their borders already")
            }
        }
    }

    /// A serial line is opened anywhere in what its device sends, and so behind a header row.
    private static func checkTable(
        _ framing: StreamFraming, _ source: PipelineSettings.Source, _ settings: PipelineSettings,
        _ log: inout ConfigurationLog
    ) {
        guard case .table(let table) = framing, table.columns == nil,
            source.configuration.capabilities.contains(.openEnds),
            let origin = source.origins["framing"] ?? settings.origins["framing"]
        else { return }
        log.add(
            .error, origin, "a serial line may be opened behind the header row of its table",
            advice: "name the columns: csv,columns=device|time|value")
    }

    private static func check(
        _ framing: StreamFraming, _ settings: PipelineSettings, _ origin: SettingOrigin, _ log: inout ConfigurationLog
    ) {
        guard case .frames(let framing) = framing, case .fixed(let count) = framing.borders,
            count > settings.lineBytes
        else { return }
        log.add(
            .error, origin, "payloads of \(count) bytes are longer than limits.lineBytes",
            advice: "raise limits.lineBytes")
    }
}
