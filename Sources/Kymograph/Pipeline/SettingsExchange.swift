import KymographCore
import Synchronization

/// The settings in use: replaced while the pipeline runs, together with the mappings.
///
/// A lane that goes over to a generation of the mappings goes over to the settings of that generation, so that it never
/// has mappings of the one and settings of the other.
final class SettingsExchange: Sendable {
    /// The last few, each with the generation of the mappings from which on it is in use.
    private let entries: Mutex<[(generation: Int, settings: PipelineSettings)]>

    /// A lane asks for the newest generation, while the next may just be made ready.
    private static let kept = 3

    /// Begins with `settings` for generation 0.
    init(_ settings: PipelineSettings) { entries = Mutex([(0, settings)]) }

    /// The settings that belong to `generation`.
    func settings(at generation: Int) -> PipelineSettings {
        entries.withLock { entries in
            (entries.last { $0.generation <= generation } ?? entries[0]).settings
        }
    }

    /// The newest settings.
    var current: PipelineSettings { entries.withLock { $0[$0.count - 1].settings } }

    /// Has `settings` in use from `generation` on, which no lane has seen yet.
    func replace(with settings: PipelineSettings, from generation: Int) {
        entries.withLock { entries in
            entries.append((generation, settings))
            entries.removeFirst(max(0, entries.count - Self.kept))
        }
    }
}
