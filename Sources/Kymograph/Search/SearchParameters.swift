import KymographCore

/// Reads the parameters of a search. One that is not known, or cannot be read, is refused: without it the search would
/// show more than was asked for.
struct SearchParameters {
    /// A parameter and its type, as the CapabilityStatement has them.
    static let known: [(name: String, type: String, about: String)] = [
        ("patient", "reference", "By identifier: system|value"),
        ("subject", "reference", "By identifier: system|value"),
        ("device", "reference", "By identifier: system|value"),
        ("code", "token", "Of the Observation, not of its components"),
        ("category", "token", "Such as vital-signs"),
        ("identifier", "token", "Of the Observation"),
        ("status", "token", "preliminary, final, amended or entered-in-error"),
        ("date", "date", "The effective time; days and times without an offset are of UTC"),
        ("_id", "token", "The id that kymo gives"),
        ("_lastUpdated", "date", "When the window was written last"),
    ]

    /// Parameters that may be there once.
    private static let single = ["_count", "_sort", "_summary", "_format", SearchParameters.cursor]

    /// The parameter of links to further pages.
    static let cursor = "_cursor"

    private static let statuses: Set = [
        "registered", "preliminary", "final", "amended", "corrected", "cancelled", "entered-in-error", "unknown",
    ]

    private var query = SearchQuery()
    private var seen: Set<IdentifierText> = []

    /// The query of `pairs`. With `isLenient`, parameters of names that are not known are left out of it; those of
    /// known ones that cannot be read are refused all the same.
    static func query(
        _ pairs: [(name: String, value: String)], isLenient: Bool
    ) throws(SearchRefusal) -> SearchQuery {
        var parameters = SearchParameters()
        for pair in pairs {
            guard try parameters.take(pair.name, pair.value) else {
                guard isLenient, !Self.isVariant(pair.name) else {
                    throw .unknown(SearchText.shown(pair.name), unknownText(SearchText.shown(pair.name)))
                }
                continue
            }
            if pair.name != cursor { parameters.query.pairs.append(pair) }
        }
        guard parameters.query.cursor == nil || !parameters.query.isCountOnly else {
            throw .malformed(cursor, "a count is of all pages: leave it out")
        }
        return parameters.query
    }

    /// Whether `name` is that of a known parameter with a modifier or chain: to leave it out would not be lenient.
    private static func isVariant(_ name: String) -> Bool {
        let stem = name.utf8.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ".") }
        return stem.count < name.utf8.count
            && (known.map(\.name) + single).contains { $0.utf8.elementsEqual(stem) }
    }

    private static func unknownText(_ name: String) -> String {
        let names = (known.map(\.name) + ["_count", "_sort", "_summary"]).joined(separator: ", ")
        return "\(name) is not supported; there are \(names)"
    }

    /// Takes one parameter; false when it is not known.
    private mutating func take(_ name: String, _ value: String) throws(SearchRefusal) -> Bool {
        if Self.single.contains(name), !seen.insert(IdentifierText(name)).inserted {
            throw .malformed(name, "it is there twice")
        }
        switch name {
        case "_count": try takeCount(value)
        case "_sort": try takeSort(value)
        case "_summary": try takeSummary(value)
        case "_format": try takeFormat(value)
        case Self.cursor: query.cursor = value
        default:
            guard let condition = try Self.condition(name, value) else { return false }
            query.conditions.append(condition)
        }
        return true
    }

    private static func condition(_ name: String, _ value: String) throws(SearchRefusal) -> SearchQuery.Condition? {
        switch name {
        case "patient", "patient:identifier", "patient.identifier", "subject", "subject:identifier",
            "subject.identifier":
            .subject(try SearchToken.all(value, of: name, needsBar: true, needsValue: true))
        case "device", "device:identifier", "device.identifier":
            .device(try SearchToken.all(value, of: name, needsBar: true, needsValue: true))
        case "code": .code(try SearchToken.all(value, of: name))
        case "category": .category(try SearchToken.all(value, of: name))
        case "identifier": .identifier(try SearchToken.all(value, of: name))
        case "status": .status(try statuses(value))
        case "_id": .id(try ids(value))
        case "date": .date(try SearchDate.all(value, of: name))
        case "_lastUpdated": .lastUpdated(try SearchDate.all(value, of: name))
        default: nil
        }
    }

    private static func statuses(_ value: String) throws(SearchRefusal) -> [SearchToken] {
        let tokens = try SearchToken.all(value, of: "status", needsValue: true)
        guard tokens.allSatisfy({ Self.statuses.contains($0.value?.text ?? "") }) else {
            throw .malformed("status", "there is no such code; use preliminary, final, amended or entered-in-error")
        }
        return tokens
    }

    private static func ids(_ value: String) throws(SearchRefusal) -> [String] {
        let ids = SearchText.divided(value, at: ",")
        guard ids.count <= 100, ids.allSatisfy(isID) else {
            throw .malformed("_id", "an id has 1 to 64 letters, digits, hyphens and full stops; there may be 100")
        }
        return ids
    }

    /// Whether `text` can be an id of FHIR.
    static func isID(_ text: String) -> Bool {
        1...64 ~= text.utf8.count
            && text.utf8.allSatisfy {
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
                    || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
            }
    }

    // MARK: What is done with what is found

    private mutating func takeCount(_ value: String) throws(SearchRefusal) {
        guard value.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            throw .malformed("_count", "it is no whole number from 0 on")
        }
        // What is beyond all numbers is beyond the limit, too.
        query.count = min(Int(value) ?? .max, SearchQuery.mostCount)
        if query.count == 0 { query.isCountOnly = true }
    }

    private mutating func takeSort(_ value: String) throws(SearchRefusal) {
        let key = value.hasPrefix("-") ? String(value.dropFirst()) : value
        guard ["date", "_lastUpdated"].contains(key) else {
            throw .malformed("_sort", "write one of date, -date, _lastUpdated, -_lastUpdated")
        }
        query.order = WalkOrder(key: key == "date" ? .date : .change, isDescending: value.hasPrefix("-"))
    }

    private mutating func takeSummary(_ value: String) throws(SearchRefusal) {
        switch value {
        case "count": query.isCountOnly = true
        case "false": return
        default: throw .malformed("_summary", "write count or false")
        }
    }

    private mutating func takeFormat(_ value: String) throws(SearchRefusal) {
        // A plus sign that was not escaped has become a blank.
        guard ["json", "application/json", "application/fhir+json", "application/fhir json"].contains(value) else {
            throw SearchRefusal(406, "not-supported", "_format: there is JSON only", of: "_format")
        }
    }
}
