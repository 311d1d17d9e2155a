import KymographCore
import KymographTemplates

/// Checks framings against sources and limits.
enum FramingCheck {
    /// Notes framings that have no effect or can never give a payload.
    static func check(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        if let origin = settings.origins["framing"] { check(settings.framing, settings, origin, &log) }
        for source in settings.sources {
            guard let framing = source.statedFraming, let origin = source.origins["framing"] else { continue }
            if source.configuration.capabilities.contains(.framing) {
                check(framing, settings, origin, &log)
            } else {
                log.add(
                    .warning, origin, "it has no effect here", advice: "its messages have their borders already")
            }
        }
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
