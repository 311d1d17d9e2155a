/// Filters.
extension PathEvaluator {
    /// Whether predicate `index` holds at token `current`.
    mutating func holds(_ index: Int, at current: Int, root: Int, bytes: ByteView) -> Bool {
        if textTests[index].isUsable {
            return passes(textTests[index], predicate: index, at: current, root: root, bytes: bytes)
        }
        let predicate = predicates[index]
        let left = Int(predicate.left)
        switch predicate.operation {
        case .and:
            return holds(left, at: current, root: root, bytes: bytes)
                && holds(Int(predicate.right), at: current, root: root, bytes: bytes)
        case .or:
            return holds(left, at: current, root: root, bytes: bytes)
                || holds(Int(predicate.right), at: current, root: root, bytes: bytes)
        case .exists:
            return exists(operands[left].path, at: current, root: root, bytes: bytes)
        case .matches:
            return matchesPattern(predicate, at: current, root: root, bytes: bytes)
        case .equal, .notEqual, .strictlyEqual, .strictlyNotEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            return compares(predicate, at: current, root: root, bytes: bytes)
        }
    }

    @inline(__always)
    private mutating func passes(
        _ test: TextTest, predicate index: Int, at current: Int, root: Int, bytes: ByteView
    ) -> Bool {
        var node = member(of: current, test.firstName)
        var step = Int(test.firstStep) + 1
        while node >= 0, step < Int(test.firstStep + test.stepCount) {
            node = member(of: node, steps[step].name)
            step += 1
        }
        guard node >= 0 else { return false }
        let token = scanner.tape[node]
        let isPlain = token.kind == TokenKind.string && token.flags & Token.escaped == 0
        if !isPlain {
            if token.kind != TokenKind.string, !test.isNegated { return false }
            return compares(predicates[index], at: current, root: root, bytes: bytes)
        }
        return isText(token, test, bytes) != test.isNegated
    }

    @inline(__always)
    private func isText(_ token: Token, _ test: TextTest, _ bytes: ByteView) -> Bool {
        guard Int32(truncatingIfNeeded: token.length) == test.textLength else { return false }
        let difference = (bytes.word(at: Int(token.start)) ^ test.firstWord) & test.firstMask
        if difference != 0 || test.textLength <= 8 { return difference == 0 }
        let start = Int(test.textStart)
        return bytes[token.range].equalsPadded(literals.view(start..<(start + Int(test.textLength))))
    }

    @inline(__always)
    private mutating func exists(_ path: PathReference, at current: Int, root: Int, bytes: ByteView) -> Bool {
        if path.isMemberChain && !path.fromRoot { return single(path, root: current, bytes: bytes) >= 0 }
        let mark = nodes.count
        defer { nodes.truncate(to: mark) }
        return !select(path, root: root, current: current, bytes: bytes).isEmpty
    }

    /// True when any pair of tokens of the two sides compares true; a side without token never does.
    private mutating func compares(_ predicate: PathPredicate, at current: Int, root: Int, bytes: ByteView) -> Bool {
        let path = operands[Int(predicate.left)].path
        if path.isMemberChain, !path.fromRoot, operands[Int(predicate.right)].kind != .path {
            return comparesMember(path, predicate, at: current, bytes: bytes)
        }
        let mark = nodes.count
        defer { nodes.truncate(to: mark) }
        let left = operandNodes(operands[Int(predicate.left)], at: current, root: root, bytes: bytes)
        let right = operandNodes(operands[Int(predicate.right)], at: current, root: root, bytes: bytes)
        for l in left {
            for r in right {
                let a = comparand(operands[Int(predicate.left)], node: l, bytes: bytes)
                let b = comparand(operands[Int(predicate.right)], node: r, bytes: bytes)
                if compare(a, predicate.operation, b, bytes) { return true }
            }
        }
        return false
    }

    /// Nearly all comparisons: one member beside a constant, without lists of tokens.
    @inline(__always)
    private mutating func comparesMember(
        _ path: PathReference, _ predicate: PathPredicate, at current: Int, bytes: ByteView
    ) -> Bool {
        let node = single(path, root: current, bytes: bytes)
        guard node >= 0 else { return false }
        let right = Int(predicate.right)
        let token = scanner.tape[node]
        if token.kind == TokenKind.number, operands[right].kind == .number,
            case .number(let number) = DecimalParser.parse(bytes[token.range])
        {
            return PathEvaluator.compares(number, predicate.operation, operands[right].number)
        }
        return compare(
            comparand(token, bytes: bytes), predicate.operation, comparand(operands[right], node: 0, bytes: bytes),
            bytes)
    }

    /// True when a text of the left side matches the regular expression that the right side is.
    private mutating func matchesPattern(
        _ predicate: PathPredicate, at current: Int, root: Int, bytes: ByteView
    ) -> Bool {
        let mark = nodes.count
        defer { nodes.truncate(to: mark) }
        let operand = operands[Int(predicate.left)]
        let pattern = Int(operands[Int(predicate.right)].pattern)
        for node in operandNodes(operand, at: current, root: root, bytes: bytes) {
            let side = comparand(operand, node: node, bytes: bytes)
            guard side.kind == TokenKind.string else { continue }
            if patterns.matches(pattern, side.isEscaped ? unescaped(side.text) : side.text) { return true }
        }
        return false
    }

    /// The tokens of a path, or one place that stands for a constant.
    private mutating func operandNodes(
        _ operand: PathOperand, at current: Int, root: Int, bytes: ByteView
    ) -> Range<Int> {
        if operand.kind == .path { return select(operand.path, root: root, current: current, bytes: bytes) }
        nodes.append(0)
        return (nodes.count - 1)..<nodes.count
    }
}
