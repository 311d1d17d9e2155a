import FoundationEssentials
import GRDB
import KymographCore
import KymographTemplates

/// A measurement type as a store keeps it: numbers and slots in stored series and windows mean what they meant.
struct StoredType: Codable, Equatable, Sendable {
    var name: String
    /// `instance`, `correlation`, or nanoseconds.
    var grouping: String
    var compatibility: String
    var valueNames: [String]
    var isNumeric: [Bool]
    var durationSlot: Int?
    var idSlot: Int?
    /// ``MeasurementType/sameInstant``; earlier versions merged.
    var sameInstant: String?
    /// Whether its readings become Observations.
    var hasTemplate: Bool
    /// What its readings mean.
    var meaning: TypeMeaning?
    /// In stores of version 1 in place of the meaning: code or text of the unit of each value that has one.
    var units: [String: String]?

    init(_ type: MeasurementType, _ history: TypeHistory) {
        hasTemplate = history.hasTemplate
        meaning = history.meaning
        name = type.name
        grouping =
            switch type.grouping {
            case .instance: "instance"
            case .correlation: "correlation"
            case .tumbling(let nanoseconds): String(nanoseconds)
            }
        compatibility = type.compatibility == .none ? "none" : "iomt-fhir"
        (valueNames, isNumeric, durationSlot) = (type.valueNames, type.isNumeric, type.durationSlot)
        (idSlot, sameInstant) = (type.idSlot, type.sameInstant.rawValue)
    }

    /// What a mapping set continues, or nil when the form is not known. Only what has a template gets series, so that
    /// a type with series had one, whatever an earlier version has noted. Without any, letters may have readings of it.
    func former(hasSeries: Bool, hasLetters: Bool) -> FormerType? {
        type.map { type in
            var meaning = self.meaning ?? meaningOfUnits
            meaning.noteFormer(type)
            let history = TypeHistory(hasTemplate: hasTemplate || hasSeries, meaning: meaning)
            var former = FormerType(type: type, history: history, hasReadings: hasSeries || hasLetters)
            former.isOfLetters = !hasSeries && hasLetters
            return former
        }
    }

    /// Code, or else text, of the unit of the numbers of the value called `name`, as they are stored; nil when none is
    /// known, or they have none.
    func unit(of name: String?) -> String? {
        let unit = name.flatMap { (meaning ?? meaningOfUnits).values[$0]?.storedUnit }
        return unit?.code ?? unit?.text
    }

    private var meaningOfUnits: TypeMeaning {
        var meaning = TypeMeaning()
        for (name, unit) in units ?? [:] {
            var value = ValueMeaning()
            value.unit = UnitMeaning(code: unit == "none" ? nil : unit, text: nil)
            meaning.values[name] = value
        }
        return meaning
    }

    /// The type, or nil when the form is not known.
    var type: MeasurementType? {
        let grouping: Grouping
        switch self.grouping {
        case "instance": grouping = .instance
        case "correlation": grouping = .correlation
        default:
            guard let nanoseconds = Int64(self.grouping), nanoseconds > 0, nanoseconds < .max else { return nil }
            grouping = .tumbling(nanoseconds: nanoseconds)
        }
        var type = MeasurementType(
            name: name, valueNames: valueNames, grouping: grouping, isNumeric: isNumeric, durationSlot: durationSlot)
        type.compatibility = compatibility == "none" ? .none : .iomtFHIR
        type.idSlot = idSlot
        type.sameInstant = sameInstant.flatMap(SameInstant.init(rawValue:)) ?? .merge
        return type
    }
}

extension MeasurementType {
    /// No mapping has it: ``unknown(_:)`` is no type that readings are written by.
    private static let unknownGrouping = Grouping.tumbling(nanoseconds: .max)

    /// Stands for the type `number` of a store in a form that this version does not know.
    static func unknown(_ number: Int) -> MeasurementType {
        MeasurementType(name: "type \(number) (unknown form)", valueNames: [], grouping: unknownGrouping, isNumeric: [])
    }

    /// Whether it stands for a type whose form is not known: what its readings mean is not known either.
    var isUnknown: Bool { grouping == Self.unknownGrouping }
}

extension ValueMeaning {
    /// The factor that the Observation has its numbers multiplied with; nil for 1.
    var scalingFactor: String? { factor.flatMap { Double($0) == 1 ? nil : $0 } }
    /// What is added then; nil for 0.
    var scalingOrigin: String? { origin.flatMap { Double($0) == 0 ? nil : $0 } }
    /// The unit of its numbers as they are stored; nil when none is known, and when it is the unit of what the
    /// Observation makes of them.
    var storedUnit: UnitMeaning? { scalingFactor == nil && scalingOrigin == nil ? unit : nil }
}

/// The types that a store knows, and those that it does not know yet.
struct StoredTypes {
    private var known: [StoredType] = []
    private var adopted: MappingSet?

    /// Reads the types of earlier runs, in the order of their numbers.
    private static func read(_ db: Database) throws -> [StoredType] {
        try String.fetchAll(db, sql: "SELECT form FROM type ORDER BY number").map { form in
            try JSONDecoder().decode(StoredType.self, from: Data(form.utf8))
        }
    }

    /// What the store has of each type, at its number: nil where that is nothing that this version understands.
    static func forms(_ db: Database) throws -> [StoredType?] {
        var forms: [StoredType?] = []
        for row in try Row.fetchAll(db, sql: "SELECT number, form FROM type WHERE number >= 0 ORDER BY number") {
            let (number, form) = (row[0] as Int, row[1] as String)
            // Numbers are given without gaps: one far behind the others is damage.
            guard number < forms.count + mostMissing else { break }
            while forms.count < number { forms.append(nil) }
            let type = try? JSONDecoder().decode(StoredType.self, from: Data(form.utf8))
            forms.append(type?.type == nil ? nil : type)
        }
        return forms
    }

    /// Types that may be missing between two others.
    private static let mostMissing = 10_000

    /// The types, each at its number: where the form is not known, one that stands for it
    /// (``MeasurementType/isUnknown``), so that the others keep theirs.
    static func types(_ db: Database) throws -> [MeasurementType] {
        try forms(db).enumerated().map { $1?.type ?? .unknown($0) }
    }

    /// Reads what a mapping set must continue: each type has its number there, too. What letters alone have readings of
    /// is looked for, unless `withLetters` is false: then such types have none.
    static func formerTypes(_ db: Database, withLetters: Bool = true) throws -> [FormerType] {
        let forms = try forms(db)
        let ofSeries = try forms.indices.filter { number in
            let sql = "SELECT EXISTS (SELECT 1 FROM series WHERE type = ?)"
            return try Bool.fetchOne(db, sql: sql, arguments: [number]) ?? false
        }
        let others = forms.indices.filter { !ofSeries.contains($0) }
        let named = others.compactMap { number in forms[number].map { (number: number, name: $0.name) } }
        let ofLetters = withLetters ? try LetteredTypes.find(among: named, db) : []
        return forms.enumerated().map { number, form in
            let hasSeries = ofSeries.contains(number)
            let former = form?.former(hasSeries: hasSeries, hasLetters: ofLetters.contains(number))
            // Whoever has series had a template: that no template writes them is said then.
            let history = TypeHistory(hasTemplate: hasSeries, meaning: TypeMeaning())
            return former ?? FormerType(type: .unknown(number), history: history, hasReadings: hasSeries)
        }
    }

    /// Whether all types are there that series have: numbers without gaps, in a form that is known.
    static func areWhole(_ db: Database) throws -> Bool {
        let numbers = try Int.fetchAll(db, sql: "SELECT number FROM type ORDER BY number")
        guard numbers == Array(0..<numbers.count), let types = try? read(db) else { return false }
        let most = try Int.fetchOne(db, sql: "SELECT max(type) FROM series") ?? -1
        return most < numbers.count && types.allSatisfy { $0.type != nil }
    }

    /// Writes the types of `set` that are new or have changed. They continue those that are stored: what a
    /// type was stays known when a set lacks it.
    mutating func update(_ set: MappingSet, _ db: Database) throws {
        guard set !== adopted else { return }
        let types = set.types.indices.map { StoredType(set.types[$0], set.histories[$0]) }
        for (number, type) in types.enumerated() where number >= known.count || known[number] != type {
            let form = String(decoding: try JSONEncoder().encode(type), as: UTF8.self)
            try db.execute(
                sql: "INSERT OR REPLACE INTO type VALUES (?, ?, ?)", arguments: [number, type.name, form])
        }
        known = types
        adopted = set
    }
}
