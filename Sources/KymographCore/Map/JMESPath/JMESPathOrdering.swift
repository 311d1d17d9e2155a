/// Equality and order of values.
struct JMESPathOrdering: ~Copyable {
    /// The places that ``sort(keys:_:)`` found, 0 for the first.
    private(set) var places = RawArray<Int32>(capacity: 64)
    private var mergedPlaces = RawArray<Int32>(capacity: 64)

    /// Whether two values are equal: numbers by value, arrays and objects by what is in them.
    func areEqual(_ one: Int, _ other: Int, depth: Int = 0, _ values: inout JMESPathValues) throws(EvaluationError)
        -> Bool
    {
        if one == other { return true }
        try values.count(1)
        try values.allowDepth(depth)
        let kind = values.kind(of: one)
        guard kind == values.kind(of: other) else { return false }
        switch kind {
        case TokenKind.number, TokenKind.string: return try order(of: one, other, &values) == 0
        case TokenKind.array: return try equalArrays(one, other, depth: depth, &values)
        case TokenKind.object: return try equalObjects(one, other, depth: depth, &values)
        default: return true
        }
    }

    private func equalArrays(_ one: Int, _ other: Int, depth: Int, _ values: inout JMESPathValues)
        throws(EvaluationError) -> Bool
    {
        var first = values.children(of: one)
        var second = values.children(of: other)
        while true {
            let a = values.next(&first)
            let b = values.next(&second)
            if a < 0 || b < 0 { return a < 0 && b < 0 }
            if !(try areEqual(values.resolved(a), values.resolved(b), depth: depth + 1, &values)) { return false }
        }
    }

    private func equalObjects(_ one: Int, _ other: Int, depth: Int, _ values: inout JMESPathValues)
        throws(EvaluationError) -> Bool
    {
        guard try values.childCount(of: one) == values.childCount(of: other) else { return false }
        var first = values.children(of: one)
        var second = values.children(of: other)
        while case let a = values.next(&first), a >= 0 {
            // Members mostly come in the same order.
            var b = values.next(&second)
            if b < 0 || !values.sameKey(a, b) { b = try place(ofKey: a, in: other, &values) }
            guard b >= 0, try areEqual(values.resolved(a), values.resolved(b), depth: depth + 1, &values) else {
                return false
            }
        }
        return true
    }

    /// The member of `object` that has the key of the member at `place`, or -1.
    private func place(ofKey place: Int, in object: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int
    {
        var cursor = values.children(of: object)
        while case let other = values.next(&cursor), other >= 0 {
            try values.count(1)
            if values.sameKey(place, other) { return other }
        }
        return -1
    }

    /// Negative, zero or positive, for two numbers or two strings. Texts are ordered by code points.
    func order(of one: Int, _ other: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        if values.kind(of: one) == TokenKind.number {
            return NumberText.order(values.content(one), values.content(other))
        }
        let first = values.plainText(one, second: false)
        let second = values.plainText(other, second: true)
        try values.count(min(first.count, second.count) >> 6)
        return JMESPathOrdering.order(first, second)
    }

    private static func order(_ one: ByteView, _ other: ByteView) -> Int {
        var index = 0
        while index < one.count && index < other.count {
            if one[index] != other[index] { return one[index] < other[index] ? -1 : 1 }
            index += 1
        }
        return one.count - other.count
    }

    // MARK: Sorting

    /// Sorts the numbers or strings on the stack from `keys` on, without changing them: ``places`` afterwards has their
    /// places, 0 for the first. Equal ones stay in their order.
    mutating func sort(keys: Int, _ values: inout JMESPathValues) throws(EvaluationError) {
        let count = values.stack.count - keys
        places.removeAll()
        mergedPlaces.removeAll()
        for index in 0..<count {
            places.append(Int32(index))
            mergedPlaces.append(0)
        }
        var width = 1
        while width < count {
            var low = 0
            while low < count {
                try merge(low, min(low + width, count), min(low + 2 * width, count), keys, &values)
                low += 2 * width
            }
            swap(&places, &mergedPlaces)
            width *= 2
        }
    }

    /// Merges two runs of ``places`` that lie side by side.
    private mutating func merge(_ low: Int, _ middle: Int, _ high: Int, _ keys: Int, _ values: inout JMESPathValues)
        throws(EvaluationError)
    {
        var one = low
        var other = middle
        for index in low..<high {
            try values.count(1)
            var takesFirst = one < middle
            if takesFirst, other < high {
                takesFirst =
                    try order(
                        of: values.stack[keys + Int(places[one])], values.stack[keys + Int(places[other])], &values)
                    <= 0
            }
            mergedPlaces[index] = takesFirst ? places[one] : places[other]
            if takesFirst { one += 1 } else { other += 1 }
        }
    }
}
