import FoundationEssentials
import KymographCore
import KymographTemplates

/// What to pause or resume.
package struct PauseRequest: Codable, Sendable {
    /// Names of types and sources.
    package var names: [String]
    /// `type` or `source`, where a name is that of both; nil when it is one of either.
    package var kind: String?

    /// A request.
    package init(_ names: [String], kind: String? = nil) { (self.names, self.kind) = (names, kind) }
}

/// What became of a type or source that was paused or resumed.
package struct PauseOutcome: Codable, Sendable {
    /// `type` or `source`.
    package var kind: String
    /// Its name.
    package var name: String
    /// Whether it was paused before.
    package var wasPaused: Bool
    /// Since when it is, or was, paused; nil when it was not.
    package var since: String?
    /// How long that is, in seconds.
    package var seconds: Double?
    /// Dead letters that were put aside meanwhile and wait to be replayed.
    package var letters: Int
    /// Whether its senders wait meanwhile, and nothing is put aside; nil when that is not known.
    package var waits: Bool?
    /// Whether all lanes follow; without an instance the next start does.
    package var isInEffect: Bool
}

/// What a request makes of what is paused.
struct PausePlan {
    /// What is paused then.
    private(set) var pauses: [Pause]
    /// What is asked for, and the pause that there was of each.
    private(set) var steps: [(target: Pause, former: Pause?)] = []

    /// The steps that change something.
    var changes: [(target: Pause, former: Pause?)] { steps.filter { ($0.former == nil) == isPausing } }

    private let isPausing: Bool

    /// Plans `request` at `now`, where `present` are paused and these types and sources are known.
    ///
    /// - Throws: ``PipelineError`` for a name that is nobody's, or one of both.
    init(
        _ request: PauseRequest, isPausing: Bool, present: [Pause], types: [String], sources: [String], now: Instant
    ) throws(PipelineError) {
        (pauses, self.isPausing) = (present, isPausing)
        for name in request.names {
            let kind = try PausePlan.kind(of: name, request, present, types, sources)
            let target = Pause(kind: kind, name: name, since: now)
            let former = pauses.first { $0.isSame(as: target) }
            steps.append((target, former))
            if isPausing {
                if former == nil { pauses.append(target) }
            } else {
                pauses.removeAll { $0.isSame(as: target) }
            }
        }
    }

    private static func kind(
        of name: String, _ request: PauseRequest, _ present: [Pause], _ types: [String], _ sources: [String]
    ) throws(PipelineError) -> Pause.Kind {
        let kinds = Pause.Kind.allCases.filter { kind in
            guard request.kind == nil || request.kind == kind.rawValue else { return false }
            let isPaused = present.contains { $0.kind == kind && $0.isNamed(name) }
            return isPaused || (kind == .type ? types : sources).contains { $0.utf8.elementsEqual(name.utf8) }
        }
        if kinds.count == 1 { return kinds[0] }
        guard kinds.isEmpty else {
            throw PipelineError(
                message: "'\(name)' is a type and a source: say which with --as type or --as source",
                exitCode: ExitStatus.dataError)
        }
        let names = (request.kind == "source" ? [] : types) + (request.kind == "type" ? [] : sources)
        let advice = NearestName.advice(
            for: name, among: names, otherwise: "'kymo sources' shows sources and 'kymo capabilities' types")
        throw PipelineError(
            message: "there is no type or source '\(name)'; \(advice)", exitCode: ExitStatus.dataError)
    }

    /// What became of the steps at `now`. `letters` counts the dead letters of a pause, and `waits` says whether the
    /// senders of a source wait.
    func outcomes(
        now: Instant, isInEffect: Bool, letters: (Pause) -> Int, waits: (Pause) -> Bool?
    ) -> [PauseOutcome] {
        steps.map { target, former in
            let known = former ?? pauses.first { $0.isSame(as: target) }
            return PauseOutcome(
                kind: target.kind.rawValue, name: target.name, wasPaused: former != nil, since: known?.since.text,
                seconds: known.map { Double(max(0, now.nanoseconds &- $0.since.nanoseconds)) / 1e9 },
                letters: known.map(letters) ?? 0, waits: waits(target), isInEffect: isInEffect)
        }
    }
}
