/// Makes documents and paths from few names and values, so that paths often find something.
struct PathGenerator {
    var random: WindowRandom

    private static let names = ["a", "b", "c", "d e", "é", "Properties"]
    private static let texts = ["", "hr", "hr-2", "HR", "60", "9", "x", "é", "it's", "a\\b", "12345678", "123456789"]
    private static let numbers = ["0", "1", "2", "60", "60.0", "-1", "2.5", "1e1", "9"]
    private static let patterns = ["^h", "r$", "h.*2", "[0-9]+", "H|x", "^$", "(?:h|H)r-?", "\\d\\d", "[^a-z]", "é"]
    private static let operations = ["==", "!=", "<>", "===", "!==", "<", "<=", ">", ">="]

    private mutating func pick<Element>(_ choices: [Element]) -> Element { choices[random.int(0...choices.count - 1)] }

    // MARK: Documents

    mutating func document() -> DocumentNode {
        if random.once(in: 3) { return object(depth: 0, nests: false) }
        if random.once(in: 8) {
            let body = DocumentNode(.object)
            body.children = [("Body", value(depth: 1)), ("Properties", object(depth: 2, nests: false))]
            return body
        }
        return value(depth: 0)
    }

    private mutating func value(depth: Int) -> DocumentNode {
        switch random.int(0...(depth > 3 ? 5 : 11)) {
        case 0, 1: return DocumentNode(.number, pick(PathGenerator.numbers))
        case 2, 3: return DocumentNode(.string, pick(PathGenerator.texts))
        case 4: return DocumentNode(.bool, pick(["true", "false"]))
        case 5: return DocumentNode(.null, "null")
        case 6, 7, 8: return object(depth: depth, nests: true)
        default:
            let array = DocumentNode(.array)
            for _ in 0..<random.int(0...4) { array.children.append(("", value(depth: depth + 1))) }
            return array
        }
    }

    private mutating func object(depth: Int, nests: Bool) -> DocumentNode {
        let object = DocumentNode(.object)
        for name in PathGenerator.names.shuffled(using: &random).prefix(random.int(0...4)) {
            let value = nests ? value(depth: depth + 1) : value(depth: 9)
            object.children.append((name, value))
        }
        return object
    }

    // MARK: Paths

    /// A path as templates have it: most match by a filter over everything.
    mutating func path() -> ModelPath {
        if random.once(in: 2) {
            return ModelPath(fromRoot: true, steps: [.filter(condition(depth: 0), descends: true)])
        }
        return path(depth: 0, fromRoot: true)
    }

    private mutating func path(depth: Int, fromRoot: Bool) -> ModelPath {
        var steps: [ModelStep] = []
        if fromRoot && random.once(in: 2) { steps.append(.name("Body", descends: false)) }
        for _ in 0..<random.int(0...(depth > 0 ? 2 : 3)) { steps.append(step(depth: depth)) }
        return ModelPath(fromRoot: fromRoot, steps: steps)
    }

    private mutating func step(depth: Int) -> ModelStep {
        switch random.int(0...(depth > 1 ? 13 : 16)) {
        case 0...5: return .name(plainName(), descends: random.once(in: 5))
        case 6:
            let names = (0..<random.int(2...3)).map { _ in pick(PathGenerator.names) }
            return .names(names, descends: random.once(in: 2))
        case 7: return .members
        case 8: return random.once(in: 2) ? .everything : .elements
        case 9: return .elements
        case 10, 11: return .index(random.int(0...3), descends: random.once(in: 5))
        case 12: return .indexes((0..<random.int(2...3)).map { _ in random.int(0...3) })
        case 13: return .slice(bound(), bound(), random.once(in: 2) ? nil : pick([1, 2, -1, -2, 3]))
        default: return .filter(condition(depth: depth + 1), descends: random.once(in: 2))
        }
    }

    private mutating func plainName() -> String { pick(["a", "b", "c", "é", "Properties", "Body"]) }

    private mutating func bound() -> Int? { random.once(in: 3) ? nil : random.int(-4...4) }

    // MARK: Filters

    private mutating func condition(depth: Int) -> ModelCondition {
        guard random.once(in: 3) else { return simple(depth: depth) }
        let count = random.int(2...4)
        let conditions = (0..<count).map { _ in
            random.once(in: 5) ? ModelCondition.group(condition(depth: depth + 1)) : simple(depth: depth)
        }
        return .joined(conditions, (1..<count).map { _ in pick(["&&", "||"]) })
    }

    private mutating func simple(depth: Int) -> ModelCondition {
        switch random.int(0...9) {
        case 0...2: return .exists(filterPath(depth: depth))
        case 3, 4: return .compares(.path(filterPath(depth: depth)), "==", .text(pick(PathGenerator.texts)))
        case 5: return .compares(.path(filterPath(depth: depth)), "=~", .pattern(pick(PathGenerator.patterns), flags()))
        default: return .compares(side(depth: depth), pick(PathGenerator.operations), side(depth: depth))
        }
    }

    private mutating func flags() -> String { pick(["", "i", "x", "ix"]) }

    private mutating func filterPath(depth: Int) -> ModelPath {
        if random.once(in: 2) { return ModelPath(fromRoot: false, steps: [.name(plainName(), descends: false)]) }
        return path(depth: depth + 1, fromRoot: random.once(in: 6))
    }

    private mutating func side(depth: Int) -> ModelSide {
        switch random.int(0...7) {
        case 0...3: .path(filterPath(depth: depth))
        case 4: .text(pick(PathGenerator.texts))
        case 5, 6: .number(pick(PathGenerator.numbers))
        default: .word(pick(["true", "false", "null"]))
        }
    }
}
