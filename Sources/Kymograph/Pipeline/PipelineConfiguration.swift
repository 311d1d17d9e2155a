import KymographCore
import KymographTemplates

/// What a pipeline reads and maps by: what it began with, and what reloads have made of it.
final class PipelineConfiguration: Sendable {
    /// What it began with.
    let settings: PipelineSettings
    /// What lanes and shards begin with.
    let set: MappingSet
    let mappings: MappingExchange
    let newSettings: SettingsExchange
    let routings = RoutingExchange()

    /// The settings in use.
    var present: PipelineSettings { newSettings.current }

    /// Begins with `settings` and `set`.
    init(_ settings: PipelineSettings, _ set: MappingSet) {
        (self.settings, self.set) = (settings, set)
        (mappings, newSettings) = (MappingExchange(set), SettingsExchange(settings))
    }
}
