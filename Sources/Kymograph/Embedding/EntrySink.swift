public import KymographCore

/// A sink of the program's own: an asynchronous function that gets entries, and by returning says that it has them.
///
/// Until it returns, a store keeps what it was given, and nothing else comes; when it throws, the same entries come
/// again half a second later, and so they do after a crash. So each entry comes at least once, and what keeps them must
/// be ready to get one again: by ``ResourceEntry/id``, the later replaces the earlier.
///
/// It is a function and not an `AsyncSequence` because an element that a loop has taken is not yet one that the program
/// has kept: only who handles an entry can acknowledge it, and a loop that ends would leave the engine waiting.
public struct EntrySink: Sendable {
    /// What gets entries: a task of its own for each call, one call at a time for each sink. At most
    /// `output.maxEntries` entries come together.
    public typealias Handler = @Sendable ([ResourceEntry]) async throws -> Void

    /// The name in messages, and under which a store keeps how far the sink is: a sink of another name is another sink.
    public let name: String
    /// Patterns (`heart-*`) of types of measurements that it gets; empty for all.
    public var types: [String] = []
    /// Patterns of devices; empty for all.
    public var devices: [IdentifierText] = []
    /// Patterns of sources' names (`udp *`), or of what the program calls those that it submits to (`ward-3`); empty
    /// for all. One that no source has is an error.
    public var sources: [String] = []
    /// Where the tasks run that call the function, unless that is isolated to an actor; nil for the cooperative pool.
    public var executor: (any TaskExecutor)?

    let handler: Handler

    /// A sink called `name` that gives entries to `handler`.
    public init(_ name: String, handler: @escaping Handler) {
        self.name = name
        self.handler = handler
    }
}

extension EntrySink {
    /// The sink as a pipeline has it.
    var settings: PipelineSettings.Sink {
        var sink = PipelineSettings.Sink(HandlerAddress(sink: name, handler: handler, executor: executor))
        sink.statedName = name
        (sink.types, sink.devices) = (types, devices.map(\.text))
        sink.sources = sources.flatMap(EntrySink.forms(ofPattern:))
        return sink
    }

    /// What is wrong with patterns that none of the sources called `names` has.
    func strayPatterns(among names: [String]) -> [EngineError.Problem] {
        sources.compactMap { text in
            let problems = EntrySink.forms(ofPattern: text).map { SinkCheck.strayPattern($0, among: names) }
            guard !problems.contains(where: { $0 == nil }), let problem = problems.first ?? nil else { return nil }
            return EngineError.Problem("sinks", "\(name): \(problem.message)", advice: problem.advice)
        }
    }

    /// The pattern, and the same for the source that the program knows under this name.
    private static func forms(ofPattern text: String) -> [String] { [text, SubmissionSource(text).name] }
}
