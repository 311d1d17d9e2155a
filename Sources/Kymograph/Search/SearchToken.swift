import KymographCore

/// A system and a value, as they stand in a resource.
struct SystemValue {
    var system: String?
    var value: String?
}

/// What a token asks for: `system|value`, `|value` without a system, `value` of any system, `system|` with any value.
/// Both are compared byte by byte and in full.
struct SearchToken: Hashable, Sendable {
    private enum System: Hashable, Sendable {
        case any
        case none
        case exactly(IdentifierText)
    }

    private let system: System
    /// Nil for any.
    let value: IdentifierText?

    /// Most values of a parameter.
    private static let mostValues = 100

    /// The tokens in the value of `parameter`, which are separated by commas. `needsSystem` and `needsValue` say what
    /// must be there.
    static func all(
        _ text: String, of parameter: String, needsBar: Bool = false, needsValue: Bool = false
    ) throws(SearchRefusal) -> [SearchToken] {
        let parts = SearchText.divided(text, at: ",")
        guard parts.count <= mostValues else {
            throw .malformed(parameter, "it has more than \(mostValues) values")
        }
        var tokens: [SearchToken] = []
        for part in parts {
            let token = try SearchToken(part, of: parameter)
            guard !needsBar || token.system != .any else {
                throw .malformed(
                    parameter, "kymo knows whom readings are of by identifiers only: write system|value, or |value")
            }
            guard !needsValue || token.value != nil else { throw .malformed(parameter, "it has no value") }
            tokens.append(token)
        }
        return tokens
    }

    private init(_ part: String, of parameter: String) throws(SearchRefusal) {
        var halves: [String] = []
        for half in SearchText.divided(part, at: "|") {
            guard let half = SearchText.unescaped(half) else {
                throw .malformed(parameter, "a backslash stands before what needs none, or nothing")
            }
            halves.append(half)
        }
        guard halves.count <= 2, halves.contains(where: { !$0.isEmpty }) else {
            throw .malformed(parameter, "write system|value; a bar or comma of either has a backslash before it")
        }
        let last = halves[halves.count - 1]
        value = last.isEmpty ? nil : IdentifierText(last)
        system = halves.count == 1 ? .any : halves[0].isEmpty ? .none : .exactly(IdentifierText(halves[0]))
    }

    /// Whether `system` is the one that it asks for.
    func accepts(system: String?) -> Bool {
        switch self.system {
        case .any: true
        case .none: system == nil
        case .exactly(let wanted): system.map { wanted.utf8.elementsEqual($0.utf8) } ?? false
        }
    }

    /// Whether it asks for `found`.
    func matches(_ found: SystemValue) -> Bool {
        guard accepts(system: found.system), let text = found.value else { return false }
        return value.map { $0.utf8.elementsEqual(text.utf8) } ?? true
    }

    /// Whether it asks for `found`, which stands for `identifier`: a long one is written as its digest.
    func matches(_ found: SystemValue, whole identifier: IdentifierText) -> Bool {
        matches(found) || accepts(system: found.system) && value == identifier
    }
}
