import KymographCore

/// What a search asks for. All of its conditions must be met.
struct SearchQuery: Sendable {
    /// One parameter of the request; one of its values is enough.
    enum Condition: Hashable, Sendable {
        case subject([SearchToken])
        case device([SearchToken])
        case code([SearchToken])
        case category([SearchToken])
        case identifier([SearchToken])
        case status([SearchToken])
        case id([String])
        case date([SearchDate])
        case lastUpdated([SearchDate])
    }

    /// Observations of a page that is asked for without a number, and most of any page.
    static let (usualCount, mostCount) = (50, 1_000)

    var conditions: [Condition] = []
    var order = WalkOrder()
    /// Most Observations of a page.
    var count = SearchQuery.usualCount
    /// Whether only their number is wanted.
    var isCountOnly = false
    /// The names and values that it was made of, but for the cursor.
    var pairs: [(name: String, value: String)] = []
    /// Whether it came as a form, which keeps its values out of addresses: so must its links.
    var isForm = false
    /// What the cursor says, as it came; nil for the first page.
    var cursor: String?

    /// The system of the codes of `Observation.status`.
    static let statusSystem = "http://hl7.org/fhir/observation-status"

    /// Whether `observation` is asked for.
    func matches(_ observation: ServedObservation) -> Bool {
        conditions.allSatisfy { Self.matches($0, observation) }
    }

    /// Whether Observations with the code and categories of `observation` may be asked for.
    func acceptsKind(of observation: ServedObservation) -> Bool {
        conditions.allSatisfy { condition in
            switch condition {
            case .code, .category: Self.matches(condition, observation)
            case .subject, .device, .identifier, .status, .id, .date, .lastUpdated: true
            }
        }
    }

    private static func matches(_ condition: Condition, _ found: ServedObservation) -> Bool {
        switch condition {
        case .subject(let tokens):
            let whole = IdentifierText(utf8: found.series.patient ?? found.series.device)
            return tokens.contains { $0.matches(found.subject, whole: whole) }
        case .device(let tokens):
            let whole = IdentifierText(utf8: found.series.device)
            return tokens.contains { $0.matches(found.device, whole: whole) }
        case .code(let tokens): return found.codes.contains { code in tokens.contains { $0.matches(code) } }
        case .category(let tokens):
            return found.categories.contains { category in tokens.contains { $0.matches(category) } }
        case .identifier(let tokens):
            return found.identifiers.contains { identifier in tokens.contains { $0.matches(identifier) } }
        case .status(let tokens):
            return tokens.contains { $0.matches(SystemValue(system: statusSystem, value: found.status)) }
        case .id(let ids): return ids.contains { $0.utf8.elementsEqual(found.id.utf8) }
        case .date(let dates): return found.effective.map { span in dates.contains { $0.matches(span) } } ?? false
        case .lastUpdated(let dates): return dates.contains { $0.matches(found.lastUpdated) }
        }
    }

    // MARK: What need not be read

    /// Identifiers of devices, one of which it must be; nil for any.
    var devices: Set<IdentifierText>? {
        conditions.lazy.compactMap { condition -> Set<IdentifierText>? in
            if case .device(let tokens) = condition { Self.values(tokens) } else { nil }
        }.first
    }

    /// Identifiers of patients, or of devices of readings that name none, one of which it must be; nil for any.
    var subjects: Set<IdentifierText>? {
        conditions.lazy.compactMap { condition -> Set<IdentifierText>? in
            if case .subject(let tokens) = condition { Self.values(tokens) } else { nil }
        }.first
    }

    /// Whether it is about somebody.
    var namesSubject: Bool {
        conditions.contains { condition in
            switch condition {
            case .subject, .device: true
            case .code, .category, .identifier, .status, .id, .date, .lastUpdated: false
            }
        }
    }

    /// The identifiers that `tokens` name; nil when one stands for an identifier that it does not say.
    private static func values(_ tokens: [SearchToken]) -> Set<IdentifierText>? {
        let values = tokens.compactMap(\.value)
        guard values.count == tokens.count, !values.contains(where: { $0.utf8.starts(with: "sha256:".utf8) }) else {
            return nil
        }
        return Set(values)
    }

    /// The times that are asked for, and perhaps more.
    var span: WalkSpan {
        var span = WalkSpan()
        for case .date(let dates) in conditions {
            // Times may be written less exactly than they are kept: to the day at most.
            let from = (dates.map(\.from).min() ?? .min).minus(86_400_000_000_000)
            span.from = max(span.from, from)
            span.to = min(span.to, dates.map(\.to).max() ?? .max)
        }
        return span
    }

    /// Whether windows that were written at `modified` may be asked for.
    func acceptsChange(at modified: Int64) -> Bool {
        for case .lastUpdated(let dates) in conditions {
            guard let span = DateSpan(Instant(nanoseconds: modified).text) else { return false }
            guard dates.contains(where: { $0.matches(span) }) else { return false }
        }
        return true
    }
}
