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
    /// Gets the resources of each batch together, before any sink gets them and before a store has them: a batch is
    /// what one bundle of files holds, `output.maxEntries` entries at most. It changes nothing; ``entryHook`` decides,
    /// on one resource at a time. After a crash, resources that no sink has got come again, perhaps in other batches.
    ///
    /// Called on the threads of shards, several at once, and never by ``callbackQueue``: until it returns, the batch
    /// waits, and so do the windows of that shard.
    public var onBatch: (@Sendable ([ResourceEntry]) -> Void)?
    /// Runs ``onRejection``, ``onDelivery`` and ``onNote``, each call of which it gets as a function, in the order in
    /// which they were due: `{ queue.async(execute: $0) }`. Nil to call them where they are due.
    ///
    /// It must return at once, and run everything, once. The engine does not wait for what it runs: what has not been
    /// run takes memory, and may be run after ``KymographEngine/run()`` has returned.
    public var callbackQueue: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
    /// Gets every reading that is rejected, of whatever source; see ``RejectedPayload`` for when.
    ///
    /// Called on the thread of the lane or shard that rejects, several at once, unless there is a ``callbackQueue``.
    /// One that blocks holds up that thread, and in the end whoever sends: hand on what takes long.
    public var onRejection: (@Sendable (RejectedPayload) -> Void)?
    /// Gets what FHIR servers have stored or refused, once the store has noted it. After a crash, some comes again or
    /// not at all: it is for information, and the store has the truth.
    ///
    /// Called on the thread that commits, one call at a time, unless there is a ``callbackQueue``. One that blocks
    /// holds up all receipts of submissions.
    public var onDelivery: (@Sendable ([DeliveryReport]) -> Void)?
    /// Gets what an operator should know, in sentences without final stop: `kymo run` writes them to standard error. On
    /// any thread, unless there is a ``callbackQueue``.
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

extension EngineConfiguration {
    /// The same with callbacks that go to its queue.
    var queued: EngineConfiguration {
        guard let queue = callbackQueue else { return self }
        func handed<Value: Sendable>(_ callback: @escaping @Sendable (Value) -> Void) -> @Sendable (Value) -> Void {
            { value in queue { callback(value) } }
        }
        var configuration = self
        configuration.onRejection = onRejection.map(handed)
        configuration.onDelivery = onDelivery.map(handed)
        configuration.onNote = handed(onNote)
        return configuration
    }
}
