/// The functions. Their arguments are on the stack from `first` on, and have the right types.
extension JMESPathEvaluator {
    /// Calls `function`.
    mutating func result(of function: JMESPathFunction, _ first: Int) throws(EvaluationError) -> Int {
        let argument = stack[first]
        switch function {
        case .abs: return try absolute(argument)
        case .avg: return try average(argument)
        case .ceil: return try rounded(argument, .up)
        case .floor: return try rounded(argument, .down)
        case .sum: return try sum(argument)
        case .toNumber: return try number(from: argument)
        case .add, .subtract, .multiply, .divide, .pow:
            return try arithmetic(function, argument, stack[first + 1])
        case .fromUnixTimestamp: return try time(from: argument, perSecond: 1)
        case .fromUnixTimestampMs: return try time(from: argument, perSecond: 1000)
        case .max, .min: return try extreme(first, keys: nil)
        case .maxBy, .minBy, .sortBy: return try byKey(function, first)
        case .sort: return try sorted(argument)
        case .endsWith: return try ends(argument, with: stack[first + 1])
        case .startsWith: return try starts(argument, with: stack[first + 1])
        case .insertString: return try inserted(first)
        case .join: return try joined(argument, stack[first + 1])
        case .length: return try length(argument)
        case .toString: return try string(from: argument)
        case .type: return typeName(argument)
        case .contains: return try contains(argument, stack[first + 1])
        case .reverse: return try reversed(argument)
        case .keys: return try keys(argument)
        case .values: return try values(argument)
        case .items: return try items(argument)
        case .merge: return try merged(first)
        case .map: return try mapped(first)
        case .notNull: return notNull(first)
        case .toArray: return try array(from: argument)
        }
    }

    // MARK: Arrays

    private mutating func contains(_ subject: Int, _ wanted: Int) throws(EvaluationError) -> Int {
        if kind(of: subject) == TokenKind.string {
            guard kind(of: wanted) == TokenKind.string else { return flag(false) }
            return flag(try isText(wanted, in: subject))
        }
        var cursor = children(of: subject)
        while case let place = next(&cursor), place >= 0 {
            if try areEqual(resolved(place), wanted) { return flag(true) }
        }
        return flag(false)
    }

    private mutating func reversed(_ argument: Int) throws(EvaluationError) -> Int {
        if kind(of: argument) == TokenKind.string { return try reversedText(argument) }
        let mark = stack.count
        try pushChildren(of: argument)
        var low = mark
        var high = stack.count - 1
        while low < high {
            (stack[low], stack[high]) = (stack[high], stack[low])
            low += 1
            high -= 1
        }
        return try makeArray(from: mark)
    }

    private mutating func array(from argument: Int) throws(EvaluationError) -> Int {
        if kind(of: argument) == TokenKind.array { return argument }
        let mark = stack.count
        stack.append(argument)
        return try makeArray(from: mark)
    }

    private func notNull(_ first: Int) -> Int {
        for index in first..<stack.count where kind(of: stack[index]) != TokenKind.null { return stack[index] }
        return JMESPathEvaluator.null
    }

    /// The result of the expression for each element, nulls too.
    private mutating func mapped(_ first: Int) throws(EvaluationError) -> Int {
        let expression = Int32(-1 - stack[first])
        let mark = stack.count
        var cursor = children(of: stack[first + 1])
        while case let place = next(&cursor), place >= 0 {
            let result = try value(of: expression, at: resolved(place))
            stack.append(result)
        }
        return try makeArray(from: mark)
    }

    // MARK: Order

    private mutating func sorted(_ argument: Int) throws(EvaluationError) -> Int {
        let keys = stack.count
        try pushChildren(of: argument)
        return try sortedArray(elements: keys, keys: keys)
    }

    /// The values on the stack from `elements` on, in the order of those from `keys` on.
    private mutating func sortedArray(elements: Int, keys: Int) throws(EvaluationError) -> Int {
        try sort(keys: keys)
        let mark = stack.count
        for index in 0..<places.count { stack.append(stack[elements + Int(places[index])]) }
        return try makeArray(from: mark)
    }

    /// `max`, `min` and, with keys that an expression gave, `max_by` and `min_by`; the first of equal ones.
    private mutating func extreme(_ first: Int, keys: Int?) throws(EvaluationError) -> Int {
        let isMaximum = calling == .max || calling == .maxBy
        let elements = keys == nil ? stack.count : first
        if keys == nil { try pushChildren(of: stack[first]) }
        let keys = keys ?? elements
        let count = stack.count - keys
        guard count > 0 else { return JMESPathEvaluator.null }
        var best = 0
        for index in 1..<max(count, 1) {
            let order = try order(of: stack[keys + index], stack[keys + best])
            if isMaximum ? order > 0 : order < 0 { best = index }
        }
        return stack[elements + best]
    }

    /// Puts elements and keys on the stack, and chooses or sorts by them.
    private mutating func byKey(_ function: JMESPathFunction, _ first: Int) throws(EvaluationError) -> Int {
        let expression = Int32(-1 - stack[first + 1])
        let callPlace = place
        let elements = stack.count
        try pushChildren(of: stack[first])
        let keys = stack.count
        for index in elements..<keys {
            let key = try value(of: expression, at: stack[index])
            stack.append(key)
        }
        // The expression may have called functions itself.
        calling = function
        place = callPlace
        try checkKeys(from: keys)
        return function == .sortBy
            ? try sortedArray(elements: elements, keys: keys) : try extreme(elements, keys: keys)
    }

    /// Keys must be all numbers or all strings.
    private mutating func checkKeys(from keys: Int) throws(EvaluationError) {
        for index in keys..<stack.count {
            let kind = kind(of: stack[index])
            if kind == self.kind(of: stack[keys]), kind == TokenKind.number || kind == TokenKind.string { continue }
            var error = failure(.invalidType, argument: 1)
            error.expected = [.number, .string]
            throw error
        }
    }

    // MARK: Objects

    private mutating func keys(_ object: Int) throws(EvaluationError) -> Int {
        let mark = stack.count
        var cursor = children(of: object)
        while case let place = next(&cursor), place >= 0 {
            let key = try key(of: place)
            stack.append(key)
        }
        return try makeArray(from: mark)
    }

    /// The key of a member, as a text.
    private mutating func key(of place: Int) throws(EvaluationError) -> Int {
        try count(1)
        let start = text.count
        try appendKey(place)
        return try make(TokenKind.string, from: start)
    }

    /// Each member as an array of its key and its value.
    private mutating func items(_ object: Int) throws(EvaluationError) -> Int {
        let mark = stack.count
        var cursor = children(of: object)
        while case let place = next(&cursor), place >= 0 {
            let (key, pair) = (try key(of: place), stack.count)
            stack.append(key)
            stack.append(resolved(place))
            let item = try makeArray(from: pair)
            stack.append(item)
        }
        return try makeArray(from: mark)
    }

    private mutating func values(_ object: Int) throws(EvaluationError) -> Int {
        let mark = stack.count
        try pushChildren(of: object)
        return try makeArray(from: mark)
    }

    /// The members of all arguments; a later one replaces one of the same key.
    private mutating func merged(_ first: Int) throws(EvaluationError) -> Int {
        let mark = stack.count
        for argument in first..<mark {
            var cursor = children(of: stack[argument])
            while case let place = next(&cursor), place >= 0 {
                let same = try indexOfKey(place, from: mark)
                if same < 0 { stack.append(place) } else { stack[same] = place }
            }
        }
        return try makeObject(from: mark)
    }

    private mutating func indexOfKey(_ place: Int, from mark: Int) throws(EvaluationError) -> Int {
        try count(1 + (stack.count - mark) >> 3)
        for index in mark..<stack.count where sameKey(stack[index], place) { return index }
        return -1
    }

    // MARK: Types

    private func typeName(_ argument: Int) -> Int {
        let name: JMESPathTypeName
        switch kind(of: argument) {
        case TokenKind.object: name = .object
        case TokenKind.array: name = .array
        case TokenKind.string: name = .string
        case TokenKind.number: name = .number
        case TokenKind.null: name = .null
        default: name = .boolean
        }
        return JMESPathEvaluator.ownBase + Int(name.constant)
    }

    private mutating func length(_ argument: Int) throws(EvaluationError) -> Int {
        if kind(of: argument) != TokenKind.string { return try make(integer: Int64(try childCount(of: argument))) }
        let text = plainText(argument, second: false)
        try count(text.count >> 6)
        var characters: Int64 = 0
        for index in 0..<text.count where text[index] & 0xC0 != 0x80 { characters += 1 }
        return try make(integer: characters)
    }
}
