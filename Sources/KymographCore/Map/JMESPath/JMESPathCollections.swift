/// Functions on arrays and objects, and those on values of several types.
struct JMESPathCollections: ~Copyable {
    /// Compares and sorts.
    private var ordering = JMESPathOrdering()

    // MARK: Arrays

    /// The array's element, from the end when `number` is negative; else null.
    func element(_ number: Int, of handle: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        guard values.kind(of: handle) == TokenKind.array else { return JMESPathValues.null }
        let wanted = number < 0 ? number + (try values.childCount(of: handle)) : number
        guard wanted >= 0 else { return JMESPathValues.null }
        var cursor = values.children(of: handle)
        var index = 0
        while case let place = values.next(&cursor), place >= 0 {
            if index == wanted { return values.resolved(place) }
            index += 1
        }
        return JMESPathValues.null
    }

    /// The elements that a slice takes, with the rules of Python; of anything but an array, null.
    func slice(_ slice: JMESPathSlice, of handle: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        guard values.kind(of: handle) == TokenKind.array else { return JMESPathValues.null }
        let elements = values.stack.count
        try values.pushChildren(of: handle)
        let count = values.stack.count - elements
        let step = Int(slice.step)
        let lowest = step < 0 ? -1 : 0
        let highest = step < 0 ? count - 1 : count
        var index = JMESPathCollections.bound(
            slice.start, count, lowest...max(highest, lowest), step < 0 ? highest : lowest)
        let stop = JMESPathCollections.bound(
            slice.stop, count, lowest...max(highest, lowest), step < 0 ? lowest : highest)
        let taken = values.stack.count
        while step > 0 ? index < stop : index > stop {
            values.stack.append(values.stack[elements + index])
            index += step
        }
        let result = try values.makeArray(from: taken)
        values.stack.truncate(to: elements)
        return result
    }

    private static func bound(_ written: Int32, _ count: Int, _ range: ClosedRange<Int>, _ otherwise: Int) -> Int {
        if written == JMESPathSlice.absent { return otherwise }
        let index = Int(written) < 0 ? Int(written) + count : Int(written)
        return min(max(index, range.lowerBound), range.upperBound)
    }

    /// The array with each array in it replaced by its elements; of anything else, null.
    func flatten(_ handle: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        guard values.kind(of: handle) == TokenKind.array else { return JMESPathValues.null }
        let mark = values.stack.count
        var cursor = values.children(of: handle)
        while case let place = values.next(&cursor), place >= 0 {
            let element = values.resolved(place)
            try values.count(1)
            if values.kind(of: element) == TokenKind.array {
                try values.pushChildren(of: element)
            } else {
                values.stack.append(element)
            }
        }
        return try values.makeArray(from: mark)
    }

    func contains(_ subject: Int, _ wanted: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        if values.kind(of: subject) == TokenKind.string {
            guard values.kind(of: wanted) == TokenKind.string else { return values.flag(false) }
            return values.flag(try JMESPathStrings.isText(wanted, in: subject, &values))
        }
        var cursor = values.children(of: subject)
        while case let place = values.next(&cursor), place >= 0 {
            if try ordering.areEqual(values.resolved(place), wanted, &values) { return values.flag(true) }
        }
        return values.flag(false)
    }

    func reversed(_ argument: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        if values.kind(of: argument) == TokenKind.string { return try JMESPathStrings.reversedText(argument, &values) }
        let mark = values.stack.count
        try values.pushChildren(of: argument)
        var low = mark
        var high = values.stack.count - 1
        while low < high {
            (values.stack[low], values.stack[high]) = (values.stack[high], values.stack[low])
            low += 1
            high -= 1
        }
        return try values.makeArray(from: mark)
    }

    func array(from argument: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        if values.kind(of: argument) == TokenKind.array { return argument }
        let mark = values.stack.count
        values.stack.append(argument)
        return try values.makeArray(from: mark)
    }

    func notNull(_ first: Int, _ values: borrowing JMESPathValues) -> Int {
        for index in first..<values.stack.count where values.kind(of: values.stack[index]) != TokenKind.null {
            return values.stack[index]
        }
        return JMESPathValues.null
    }

    // MARK: Order

    /// `==`, `!=`, `<`, `<=`, `>` and `>=`; values that are not in order compare to null.
    func comparison(
        _ operation: JMESPathNode.Operation, _ one: Int, _ other: Int, _ values: inout JMESPathValues
    ) throws(EvaluationError) -> Int {
        if operation == .equal { return values.flag(try ordering.areEqual(one, other, &values)) }
        if operation == .notEqual { return values.flag(!(try ordering.areEqual(one, other, &values))) }
        let kind = values.kind(of: one)
        guard kind == values.kind(of: other), kind == TokenKind.number || kind == TokenKind.string else {
            return JMESPathValues.null
        }
        let order = try ordering.order(of: one, other, &values)
        if operation == .less { return values.flag(order < 0) }
        if operation == .lessOrEqual { return values.flag(order <= 0) }
        return values.flag(operation == .greater ? order > 0 : order >= 0)
    }

    mutating func sorted(_ argument: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        let keys = values.stack.count
        try values.pushChildren(of: argument)
        return try sortedArray(elements: keys, keys: keys, &values)
    }

    /// The values on the stack from `elements` on, in the order of those from `keys` on.
    mutating func sortedArray(elements: Int, keys: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        try ordering.sort(keys: keys, &values)
        let mark = values.stack.count
        for index in 0..<ordering.places.count {
            values.stack.append(values.stack[elements + Int(ordering.places[index])])
        }
        return try values.makeArray(from: mark)
    }

    /// `max`, `min` and, with keys that an expression gave, `max_by` and `min_by`; the first of equal ones.
    func extreme(_ first: Int, keys: Int?, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        let isMaximum = values.work.calling == .max || values.work.calling == .maxBy
        let elements = keys == nil ? values.stack.count : first
        if keys == nil { try values.pushChildren(of: values.stack[first]) }
        let keys = keys ?? elements
        let count = values.stack.count - keys
        guard count > 0 else { return JMESPathValues.null }
        var best = 0
        for index in 1..<max(count, 1) {
            let order = try ordering.order(of: values.stack[keys + index], values.stack[keys + best], &values)
            if isMaximum ? order > 0 : order < 0 { best = index }
        }
        return values.stack[elements + best]
    }

    // MARK: Objects

    func keys(_ object: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        let mark = values.stack.count
        var cursor = values.children(of: object)
        while case let place = values.next(&cursor), place >= 0 {
            let key = try key(of: place, &values)
            values.stack.append(key)
        }
        return try values.makeArray(from: mark)
    }

    /// The key of a member, as a text.
    private func key(of place: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        try values.count(1)
        let start = values.text.count
        try values.appendKey(place)
        return try values.make(TokenKind.string, from: start)
    }

    /// Each member as an array of its key and its value.
    func items(_ object: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        let mark = values.stack.count
        var cursor = values.children(of: object)
        while case let place = values.next(&cursor), place >= 0 {
            let (key, pair) = (try key(of: place, &values), values.stack.count)
            values.stack.append(key)
            values.stack.append(values.resolved(place))
            let item = try values.makeArray(from: pair)
            values.stack.append(item)
        }
        return try values.makeArray(from: mark)
    }

    func memberValues(_ object: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        let mark = values.stack.count
        try values.pushChildren(of: object)
        return try values.makeArray(from: mark)
    }

    /// The members of all arguments; a later one replaces one of the same key.
    func merged(_ first: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        let mark = values.stack.count
        for argument in first..<mark {
            var cursor = values.children(of: values.stack[argument])
            while case let place = values.next(&cursor), place >= 0 {
                let same = try indexOfKey(place, from: mark, &values)
                if same < 0 { values.stack.append(place) } else { values.stack[same] = place }
            }
        }
        return try values.makeObject(from: mark)
    }

    private func indexOfKey(_ place: Int, from mark: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int
    {
        try values.count(1 + (values.stack.count - mark) >> 3)
        for index in mark..<values.stack.count where values.sameKey(values.stack[index], place) { return index }
        return -1
    }

    // MARK: Types

    func typeName(_ argument: Int, _ values: borrowing JMESPathValues) -> Int {
        let name: JMESPathTypeName
        switch values.kind(of: argument) {
        case TokenKind.object: name = .object
        case TokenKind.array: name = .array
        case TokenKind.string: name = .string
        case TokenKind.number: name = .number
        case TokenKind.null: name = .null
        default: name = .boolean
        }
        return JMESPathValues.ownBase + Int(name.constant)
    }

    func length(_ argument: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        if values.kind(of: argument) != TokenKind.string {
            return try values.make(integer: Int64(try values.childCount(of: argument)))
        }
        let text = values.plainText(argument, second: false)
        try values.count(text.count >> 6)
        var characters: Int64 = 0
        for index in 0..<text.count where text[index] & 0xC0 != 0x80 { characters += 1 }
        return try values.make(integer: characters)
    }
}
