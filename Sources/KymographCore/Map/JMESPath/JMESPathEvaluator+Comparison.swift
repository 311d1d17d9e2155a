/// Equality and order.
extension JMESPathEvaluator {
    /// `==`, `!=`, `<`, `<=`, `>` and `>=`; values that are not in order compare to null.
    mutating func comparison(_ node: JMESPathNode, at current: Int) throws(EvaluationError) -> Int {
        let one = try value(of: node.left, at: current)
        let other = try value(of: node.right, at: current)
        if node.operation == .equal { return flag(try areEqual(one, other)) }
        if node.operation == .notEqual { return flag(!(try areEqual(one, other))) }
        let kind = kind(of: one)
        guard kind == self.kind(of: other), kind == TokenKind.number || kind == TokenKind.string else {
            return JMESPathEvaluator.null
        }
        let order = try order(of: one, other)
        switch node.operation {
        case .less: return flag(order < 0)
        case .lessOrEqual: return flag(order <= 0)
        case .greater: return flag(order > 0)
        default: return flag(order >= 0)
        }
    }

    /// Whether two values are equal: numbers by value, arrays and objects by what is in them.
    mutating func areEqual(_ one: Int, _ other: Int, depth: Int = 0) throws(EvaluationError) -> Bool {
        if one == other { return true }
        try count(1)
        try allowDepth(depth)
        let kind = kind(of: one)
        guard kind == self.kind(of: other) else { return false }
        switch kind {
        case TokenKind.number, TokenKind.string: return try order(of: one, other) == 0
        case TokenKind.array: return try equalArrays(one, other, depth: depth)
        case TokenKind.object: return try equalObjects(one, other, depth: depth)
        default: return true
        }
    }

    private mutating func equalArrays(_ one: Int, _ other: Int, depth: Int) throws(EvaluationError) -> Bool {
        var first = children(of: one)
        var second = children(of: other)
        while true {
            let a = next(&first)
            let b = next(&second)
            if a < 0 || b < 0 { return a < 0 && b < 0 }
            if !(try areEqual(resolved(a), resolved(b), depth: depth + 1)) { return false }
        }
    }

    private mutating func equalObjects(_ one: Int, _ other: Int, depth: Int) throws(EvaluationError) -> Bool {
        guard try childCount(of: one) == childCount(of: other) else { return false }
        var first = children(of: one)
        var second = children(of: other)
        while case let a = next(&first), a >= 0 {
            // Members mostly come in the same order.
            var b = next(&second)
            if b < 0 || !sameKey(a, b) { b = try place(ofKey: a, in: other) }
            guard b >= 0, try areEqual(resolved(a), resolved(b), depth: depth + 1) else { return false }
        }
        return true
    }

    /// The member of `object` that has the key of the member at `place`, or -1.
    private mutating func place(ofKey place: Int, in object: Int) throws(EvaluationError) -> Int {
        var cursor = children(of: object)
        while case let other = next(&cursor), other >= 0 {
            try count(1)
            if sameKey(place, other) { return other }
        }
        return -1
    }

    /// Negative, zero or positive, for two numbers or two strings. Texts are ordered by code points.
    mutating func order(of one: Int, _ other: Int) throws(EvaluationError) -> Int {
        if kind(of: one) == TokenKind.number { return NumberText.order(content(one), content(other)) }
        let first = plainText(one, second: false)
        let second = plainText(other, second: true)
        try count(min(first.count, second.count) >> 6)
        return JMESPathEvaluator.order(first, second)
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
    mutating func sort(keys: Int) throws(EvaluationError) {
        let count = stack.count - keys
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
                try merge(low, min(low + width, count), min(low + 2 * width, count), keys)
                low += 2 * width
            }
            swap(&places, &mergedPlaces)
            width *= 2
        }
    }

    /// Merges two runs of ``places`` that lie side by side.
    private mutating func merge(_ low: Int, _ middle: Int, _ high: Int, _ keys: Int) throws(EvaluationError) {
        var one = low
        var other = middle
        for index in low..<high {
            try count(1)
            var takesFirst = one < middle
            if takesFirst, other < high {
                takesFirst = try order(of: stack[keys + Int(places[one])], stack[keys + Int(places[other])]) <= 0
            }
            mergedPlaces[index] = takesFirst ? places[one] : places[other]
            if takesFirst { one += 1 } else { other += 1 }
        }
    }
}
