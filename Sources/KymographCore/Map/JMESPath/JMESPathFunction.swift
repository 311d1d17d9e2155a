/// The functions: the 26 of the JMESPath specification, the 8 that the reference system adds (mapping dialect, section
/// 3.2), and `items` as JMESPath Community has it (JEP-13).
package enum JMESPathFunction: UInt8, CaseIterable, BitwiseCopyable {
    case abs, avg, ceil, contains, endsWith, floor, join, keys, length, map, max, maxBy, merge, min, minBy, notNull
    case reverse, sort, sortBy, startsWith, sum, toArray, toNumber, toString, type, values
    case add, subtract, multiply, divide, pow, insertString, fromUnixTimestamp, fromUnixTimestampMs
    case items

    /// The functions that the reference system adds.
    static let custom: [JMESPathFunction] = [
        .add, .subtract, .multiply, .divide, .pow, .insertString, .fromUnixTimestamp, .fromUnixTimestampMs,
    ]

    /// All names.
    package static let names = allCases.map(\.name)

    /// The function that expressions call `name`, or nil.
    package static func named(_ name: String) -> JMESPathFunction? { byName[name] }

    private static let byName = Dictionary(uniqueKeysWithValues: zip(names, allCases))

    /// The name as expressions write it.
    package var name: String {
        switch self {
        case .endsWith: "ends_with"
        case .maxBy: "max_by"
        case .minBy: "min_by"
        case .notNull: "not_null"
        case .sortBy: "sort_by"
        case .startsWith: "starts_with"
        case .toArray: "to_array"
        case .toNumber: "to_number"
        case .toString: "to_string"
        case .abs, .avg, .ceil, .contains, .floor, .join, .keys, .length, .map, .max, .merge, .min, .reverse, .sort,
            .sum,
            .type, .values, .add, .subtract, .multiply, .divide, .pow, .insertString, .fromUnixTimestamp,
            .fromUnixTimestampMs, .items:
            "\(self)"
        }
    }

    /// What each argument must be; the last one repeats when the function takes any number.
    package var parameters: [JMESPathTypes] {
        switch self {
        case .abs, .ceil, .floor: [.number]
        case .avg, .sum: [.numbers]
        case .contains: [[.array, .string], .any]
        case .endsWith, .startsWith: [.string, .string]
        case .join: [.string, .strings]
        case .keys, .values, .items, .merge: [.object]
        case .length: [[.string, .array, .object]]
        case .map: [.expression, .array]
        case .max, .min, .sort: [[.numbers, .strings]]
        case .maxBy, .minBy, .sortBy: [.array, .expression]
        case .notNull, .toArray, .toNumber, .toString, .type: [.any]
        case .reverse: [[.string, .array]]
        case .add, .subtract, .multiply, .divide, .pow: [.anyNumber, .anyNumber]
        case .insertString: [.plainString, .plainString, .integer]
        case .fromUnixTimestamp, .fromUnixTimestampMs: [.integer]
        }
    }

    /// Whether it takes one argument or more.
    package var isVariadic: Bool { self == .merge || self == .notNull }

    /// Whether its result can depend on members of an object that the expression does not name.
    var readsObjects: Bool {
        switch self {
        case .keys, .values, .items, .merge, .length, .toString, .contains: true
        case .abs, .avg, .ceil, .endsWith, .floor, .join, .map, .max, .maxBy, .min, .minBy, .notNull, .reverse, .sort,
            .sortBy, .startsWith, .sum, .toArray, .toNumber, .type, .add, .subtract, .multiply, .divide, .pow,
            .insertString, .fromUnixTimestamp, .fromUnixTimestampMs:
            false
        }
    }
}

/// A set of types that an argument may have.
package struct JMESPathTypes: OptionSet, BitwiseCopyable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    static let null = JMESPathTypes(rawValue: 1)
    static let boolean = JMESPathTypes(rawValue: 2)
    static let number = JMESPathTypes(rawValue: 4)
    static let string = JMESPathTypes(rawValue: 8)
    static let array = JMESPathTypes(rawValue: 16)
    static let object = JMESPathTypes(rawValue: 32)
    static let expression = JMESPathTypes(rawValue: 64)
    /// Arrays of nothing but numbers, or strings.
    static let numbers = JMESPathTypes(rawValue: 128)
    static let strings = JMESPathTypes(rawValue: 256)
    /// The added functions name types in the words of the reference system.
    static let integer = JMESPathTypes(rawValue: 512)
    static let float = JMESPathTypes(rawValue: 1024)
    static let plainString = JMESPathTypes(rawValue: 2048)

    static let any: JMESPathTypes = [.null, .boolean, .number, .string, .array, .object]
    static let anyNumber: JMESPathTypes = [.integer, .float]

    private static let words: [(JMESPathTypes, String)] = [
        (.null, "null"), (.boolean, "boolean"), (.number, "number"), (.string, "string"), (.array, "array"),
        (.object, "object"), (.expression, "expression"), (.numbers, "array[number]"), (.strings, "array[string]"),
        (.integer, "Integer"), (.float, "Float"), (.plainString, "String"),
    ]

    /// The names of the types, joined by bars.
    var text: String { JMESPathTypes.words.filter { contains($0.0) }.map(\.1).joined(separator: "|") }
}
