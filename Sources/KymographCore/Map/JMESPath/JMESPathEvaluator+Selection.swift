/// Elements, slices, projections and multi-selects.
extension JMESPathEvaluator {
    /// The array's element, from the end when `number` is negative; else null.
    mutating func element(_ number: Int, of handle: Int) throws(EvaluationError) -> Int {
        guard kind(of: handle) == TokenKind.array else { return JMESPathEvaluator.null }
        let wanted = number < 0 ? number + (try childCount(of: handle)) : number
        guard wanted >= 0 else { return JMESPathEvaluator.null }
        var cursor = children(of: handle)
        var index = 0
        while case let place = next(&cursor), place >= 0 {
            if index == wanted { return resolved(place) }
            index += 1
        }
        return JMESPathEvaluator.null
    }

    /// Puts the values of a container on the stack.
    mutating func pushChildren(of handle: Int) throws(EvaluationError) {
        var cursor = children(of: handle)
        while case let place = next(&cursor), place >= 0 {
            try count(1)
            stack.append(resolved(place))
        }
    }

    /// The elements that a slice takes, with the rules of Python; of anything but an array, null.
    mutating func slice(_ slice: JMESPathSlice, of handle: Int) throws(EvaluationError) -> Int {
        guard kind(of: handle) == TokenKind.array else { return JMESPathEvaluator.null }
        let elements = stack.count
        try pushChildren(of: handle)
        let count = stack.count - elements
        let step = Int(slice.step)
        let lowest = step < 0 ? -1 : 0
        let highest = step < 0 ? count - 1 : count
        var index = bound(slice.start, count, lowest...max(highest, lowest), step < 0 ? highest : lowest)
        let stop = bound(slice.stop, count, lowest...max(highest, lowest), step < 0 ? lowest : highest)
        let taken = stack.count
        while step > 0 ? index < stop : index > stop {
            stack.append(stack[elements + index])
            index += step
        }
        let result = try makeArray(from: taken)
        stack.truncate(to: elements)
        return result
    }

    private func bound(_ written: Int32, _ count: Int, _ range: ClosedRange<Int>, _ otherwise: Int) -> Int {
        if written == JMESPathSlice.absent { return otherwise }
        let index = Int(written) < 0 ? Int(written) + count : Int(written)
        return min(max(index, range.lowerBound), range.upperBound)
    }

    /// The array with each array in it replaced by its elements; of anything else, null.
    mutating func flatten(_ handle: Int) throws(EvaluationError) -> Int {
        guard kind(of: handle) == TokenKind.array else { return JMESPathEvaluator.null }
        let mark = stack.count
        var cursor = children(of: handle)
        while case let place = next(&cursor), place >= 0 {
            let element = resolved(place)
            try count(1)
            if kind(of: element) == TokenKind.array { try pushChildren(of: element) } else { stack.append(element) }
        }
        return try makeArray(from: mark)
    }

    /// The right side on each element of the left one, without nulls; null when there is nothing to project.
    mutating func project(_ node: JMESPathNode, at current: Int) throws(EvaluationError) -> Int {
        let source = try value(of: node.left, at: current)
        let wanted = node.operation == .valueProjection ? TokenKind.object : TokenKind.array
        guard kind(of: source) == wanted else { return JMESPathEvaluator.null }
        let mark = stack.count
        var cursor = children(of: source)
        while case let place = next(&cursor), place >= 0 {
            let element = resolved(place)
            if node.operation == .filterProjection, !isTrue(try value(of: node.value, at: element)) { continue }
            let result = try value(of: node.right, at: element)
            if kind(of: result) != TokenKind.null { stack.append(result) }
        }
        return try makeArray(from: mark)
    }

    /// `[a, b]`; of null, null.
    mutating func list(_ node: JMESPathNode, at current: Int) throws(EvaluationError) -> Int {
        guard kind(of: current) != TokenKind.null else { return JMESPathEvaluator.null }
        return try makeArray(from: try pushItems(of: node, at: current))
    }

    /// `{a: x, b: y}`; of null, null. The last of two members of the same name counts.
    mutating func hash(_ node: JMESPathNode, at current: Int) throws(EvaluationError) -> Int {
        guard kind(of: current) != TokenKind.null else { return JMESPathEvaluator.null }
        let mark = try pushItems(of: node, at: current)
        let object = try makeContainer(TokenKind.object, count: stack.count - mark)
        var item = node.left
        for index in mark..<stack.count {
            appendEntry(nodes[Int(item)], stack[index], to: object - JMESPathEvaluator.ownBase)
            item = nodes[Int(item)].next
        }
        stack.truncate(to: mark)
        return object
    }

    /// Pushes the value of each item of a list, or of each member of a hash; where the first is on the stack.
    private mutating func pushItems(of node: JMESPathNode, at current: Int) throws(EvaluationError) -> Int {
        let mark = stack.count
        let isHash = node.operation == .hash
        var item = node.left
        while item >= 0 {
            let result = try value(of: isHash ? nodes[Int(item)].left : item, at: current)
            stack.append(result)
            item = nodes[Int(item)].next
        }
        return mark
    }

    private mutating func appendEntry(_ entry: JMESPathNode, _ value: Int, to object: Int) {
        let key = own[Int(entry.value)]
        for index in object + 1..<own.count
        where text.view(own[index].keyRange).equals(text.view(key.range)) {
            own[index].flags |= Token.shadowed
        }
        var member = reference(to: value)
        member.keyStart = key.start
        member.keyLength = key.length
        own.append(member)
    }
}
