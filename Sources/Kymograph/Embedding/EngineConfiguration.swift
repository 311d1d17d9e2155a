import FoundationEssentials

/// What an engine is made from: a configuration as `kymo run --config` takes it, and what only a program can add.
///
/// ```swift
/// var configuration = EngineConfiguration(storage: .directory("/var/lib/ward"))
/// configuration.mappings = ["wristband"]
/// configuration.window = .seconds(60)
/// configuration.sinks = [EntrySink("chart") { entries in try await chart.store(entries) }]
/// ```
///
/// Command lines are not read, and of the environment only the variables that the text names, as `${NAME}`.
public struct EngineConfiguration: Sendable {
    /// Where readings, windows and what waits for sinks are kept.
    public enum Storage: Hashable, Sendable {
        /// As the text says by `data` or `ephemeral`; it is an error when it says neither.
        case configured
        /// Nowhere: what is in memory is lost with the process.
        case ephemeral
        /// In this directory, which belongs to one engine at a time; made if need be.
        case directory(String)
    }

    /// Where readings, windows and what waits for sinks are kept.
    public var storage: Storage
    /// Mappings of sources that name none: names of the catalogue, or folders (with a `/`). Empty for those of the
    /// text, or else `reading`.
    public var mappings: [String] = []
    /// Window of templates that name no period, of whole milliseconds; nil for that of the text, or else 5 minutes.
    public var window: Duration?
    /// Names of sources to which the program submits, besides those that the text names by `app`. Where nothing names
    /// any source, there is one called `main`.
    public var sources: [String] = []
    /// Kinds of sources of the program's own, which the text may name by their keys.
    public var sourceKinds: [SourceDescriptor] = []
    /// Framings of the program's own, which the text may name.
    public var framings: [FramingDescriptor] = []
    /// Sinks of the program's own, besides those of the text. Without any, the text must name one; standard output is
    /// none unless the text says so.
    public var sinks: [EntrySink] = []
    /// Decides on each reading behind the rules of the text; nil for nothing.
    public var readingHook: (any ReadingHook)?
    /// Decides on each resource behind the rules of the text; nil for nothing.
    public var entryHook: (any EntryHook)?
    /// Gets every reading that is rejected, of whatever source; see ``RejectedPayload`` for when.
    ///
    /// Called on the thread of the lane or shard that rejects, several at once. One that blocks holds up that thread,
    /// and in the end whoever sends: hand on what takes long.
    public var onRejection: (@Sendable (RejectedPayload) -> Void)?
    /// Gets what FHIR servers have stored or refused, once the store has noted it. After a crash, some comes again or
    /// not at all: it is for information, and the store has the truth.
    ///
    /// Called on the thread that commits, one call at a time. One that blocks holds up all receipts of submissions.
    public var onDelivery: (@Sendable ([DeliveryReport]) -> Void)?
    /// Gets what an operator should know, in sentences without final stop: `kymo run` writes them to standard error. On
    /// any thread.
    public var onNote: @Sendable (String) -> Void = { _ in }

    /// The configuration's name in messages, its bytes, and whether it is a file.
    let text: (name: String, bytes: [UInt8])
    let path: String?

    /// A configuration in YAML or JSON (docs/configuration.md), which is checked when an engine is made of it; empty
    /// for the defaults. `name` is what messages call it.
    public init(_ text: String = "", name: String = "configuration", storage: Storage = .configured) {
        self.text = (name, Array(text.utf8))
        path = nil
        self.storage = storage
    }

    /// The configuration of a file. The engine watches the file, and says in a note when it changes: it takes effect
    /// with the next engine.
    ///
    /// - Throws: ``EngineError`` of kind ``EngineError/Kind/configuration`` when the file cannot be read.
    public init(contentsOf path: String, storage: Storage = .configured) throws(EngineError) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw EngineError(.configuration, "\(path) cannot be read; name a YAML file")
        }
        text = (path, [UInt8](data))
        self.path = path
        self.storage = storage
    }
}
