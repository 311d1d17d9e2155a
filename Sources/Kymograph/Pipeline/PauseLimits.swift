import KymographCore

/// What cannot be paused without losing readings, by the settings of a run.
struct PauseLimits {
    private let sources: [PipelineSettings.Source]
    /// Whether servers never take a later version of an Observation.
    private let keepsFirstVersion: Bool

    init(_ settings: PipelineSettings) {
        (sources, keepsFirstVersion) = (settings.sources, settings.output.keepsFirstVersion)
    }

    /// Why `pause` cannot be; nil when it can. `keeps` says whether the broker of a source, by its number, has granted
    /// a session that keeps messages; without it that is not asked.
    func refusal(_ pause: Pause, keeps: ((Int) -> Bool)? = nil) -> String? {
        pause.kind == .type ? typeRefusal : sourceRefusal(pause, keeps)
    }

    private var typeRefusal: String? {
        if let source = sources.first(where: { $0.configuration.mqtt.namesSenders }) {
            return "topics of the source \(source.name) name the device or patient, which dead letters do not keep: "
                + "pause the source"
        }
        return lateness
    }

    private func sourceRefusal(_ pause: Pause, _ keeps: ((Int) -> Bool)?) -> String? {
        guard let number = sources.firstIndex(where: { pause.isNamed($0.name) }) else { return nil }
        let configuration = sources[number].configuration
        guard configuration.canWait else {
            guard configuration.mqtt.namesSenders else { return lateness }
            return "its topics name the device or patient, which dead letters do not keep, and with qos: 0 its broker "
                + "keeps nothing: end the instance, or write qos: 1"
        }
        guard configuration.capabilities.contains(.broker), let keeps, !keeps(number) else { return nil }
        return
            "its broker has not granted a session with QoS 1 or 2 yet, and would keep nothing meanwhile: look at the "
            + "log for what it grants, and ask again once it is connected"
    }

    /// Why nothing may be put aside until later.
    private var lateness: String? {
        guard keepsFirstVersion else { return nil }
        return "servers keep the first version of an Observation (output.write: conditional-create): what is put aside "
            + "and replayed after its window has closed would never get there"
    }
}
