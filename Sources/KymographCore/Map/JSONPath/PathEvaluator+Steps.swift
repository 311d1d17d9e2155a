/// The steps of paths: what each selects from one token.
extension PathEvaluator {
    mutating func apply(_ step: PathStep, to node: Int, root: Int, bytes: ByteView) {
        let argument = Int(step.argument)
        switch step.operation {
        case .member: appendMember(step.name, of: node)
        case .memberUnion:
            let list = lists[argument]
            for index in list.start..<(list.start + list.count) {
                appendMember(UInt16(entries[Int(index)]), of: node)
            }
        case .element: appendElement(argument, of: node)
        case .elementUnion:
            let list = lists[argument]
            for index in list.start..<(list.start + list.count) { appendElement(Int(entries[Int(index)]), of: node) }
        case .slice: appendSlice(slices[argument], of: node)
        case .elements: appendChildren(of: node, kind: TokenKind.array)
        case .members: appendChildren(of: node, kind: TokenKind.object)
        case .filterChildren: filterChildren(of: node, predicate: argument, root: root, bytes: bytes)
        case .descendants: appendDescendants(of: node)
        case .filterDescendants: filterDescendants(of: node, predicate: argument, root: root, bytes: bytes)
        case .descendantMembers: appendDescendantMembers(of: node, step.name)
        case .descendantUnion: appendDescendantMembers(of: node, list: lists[argument])
        }
    }

    private mutating func appendMember(_ name: UInt16, of node: Int) {
        let member = member(of: node, name)
        if member >= 0 { nodes.append(UInt32(member)) }
    }

    // MARK: Elements

    private mutating func appendElement(_ number: Int, of node: Int) {
        guard scanner.tape[node].kind == TokenKind.array else { return }
        var left = number
        var child = node + 1
        while child < Int(scanner.tape[node].next) {
            if left == 0 {
                nodes.append(UInt32(child))
                return
            }
            left -= 1
            child = Int(scanner.tape[child].next)
        }
    }

    private mutating func appendSlice(_ slice: PathSlice, of node: Int) {
        guard scanner.tape[node].kind == TokenKind.array else { return }
        let (first, end, step) = slice.bounds(of: elementCount(node))
        let start = nodes.count
        var index = 0
        var child = node + 1
        while child < Int(scanner.tape[node].next) {
            let isInside = step > 0 ? index >= first && index < end : index <= first && index > end
            if isInside && (index - first) % step == 0 { nodes.append(UInt32(child)) }
            index += 1
            child = Int(scanner.tape[child].next)
        }
        if step < 0 { reverseNodes(from: start) }
    }

    private func elementCount(_ array: Int) -> Int {
        var count = 0
        var child = array + 1
        while child < Int(scanner.tape[array].next) {
            count += 1
            child = Int(scanner.tape[child].next)
        }
        return count
    }

    private mutating func reverseNodes(from start: Int) {
        var low = start
        var high = nodes.count - 1
        while low < high {
            let node = nodes[low]
            nodes[low] = nodes[high]
            nodes[high] = node
            low += 1
            high -= 1
        }
    }

    // MARK: Children

    /// All children of a container of this kind.
    private mutating func appendChildren(of node: Int, kind: UInt8) {
        guard scanner.tape[node].kind == kind else { return }
        var child = node + 1
        while child < Int(scanner.tape[node].next) {
            let token = scanner.tape[child]
            if !token.isShadowed { nodes.append(UInt32(child)) }
            child = Int(token.next)
        }
    }

    /// Elements of arrays only, because the reference filters an object's members as wrapped properties, on which
    /// nothing is found (mapping dialect, section 3.1).
    private mutating func filterChildren(of node: Int, predicate: Int, root: Int, bytes: ByteView) {
        guard scanner.tape[node].kind == TokenKind.array else { return }
        var child = node + 1
        while child < Int(scanner.tape[node].next) {
            if holds(predicate, at: child, root: root, bytes: bytes) { nodes.append(UInt32(child)) }
            child = Int(scanner.tape[child].next)
        }
    }

    // MARK: Descendants

    /// The first token from `index` up to `end` that no later duplicate of a key hides.
    @inline(__always)
    private func visible(from index: Int, to end: Int) -> Int {
        var index = index
        while index < end, scanner.tape[index].isShadowed { index = Int(scanner.tape[index].next) }
        return index
    }

    /// The node itself and everything below it, in document order.
    private mutating func appendDescendants(of node: Int) {
        let end = Int(scanner.tape[node].next)
        var index = node
        while index < end {
            nodes.append(UInt32(index))
            index = visible(from: index + 1, to: end)
        }
    }

    /// The node itself and everything below it for which the predicate holds, in document order.
    private mutating func filterDescendants(of node: Int, predicate: Int, root: Int, bytes: ByteView) {
        let onlyObjects = predicates[predicate].needsObject
        let end = Int(scanner.tape[node].next)
        var index = node
        while index < end {
            if !onlyObjects || scanner.tape[index].kind == TokenKind.object,
                holds(predicate, at: index, root: root, bytes: bytes)
            {
                nodes.append(UInt32(index))
            }
            index = visible(from: index + 1, to: end)
        }
    }

    private mutating func appendDescendantMembers(of node: Int, _ name: UInt16) {
        let end = Int(scanner.tape[node].next)
        var index = visible(from: node + 1, to: end)
        while index < end {
            if scanner.tape[index].name == name { nodes.append(UInt32(index)) }
            index = visible(from: index + 1, to: end)
        }
    }

    /// A name that the list has twice gives its member twice, as in the reference.
    private mutating func appendDescendantMembers(of node: Int, list: PathList) {
        let end = Int(scanner.tape[node].next)
        var index = visible(from: node + 1, to: end)
        while index < end {
            let name = Int32(scanner.tape[index].name)
            for entry in list.start..<(list.start + list.count) where entries[Int(entry)] == name {
                nodes.append(UInt32(index))
            }
            index = visible(from: index + 1, to: end)
        }
    }
}
