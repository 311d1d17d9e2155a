/// Evaluates compiled paths over the tape of a scanned document.
///
/// Holds its own copies of the program's arrays, so that nothing is reference counted while readings are mapped. Node
/// lists are kept on one stack: every selection appends to it and the caller truncates it again.
struct PathEvaluator: ~Copyable {
    var scanner: JSONScanner
    private let steps: RawArray<PathStep>
    private let predicates: RawArray<PathPredicate>
    /// For each predicate.
    private let textTests: RawArray<TextTest>
    /// For each predicate: whether only an object that is not the envelope can satisfy it.
    private let isAboutPayload: RawArray<Bool>
    private let operands: RawArray<PathOperand>
    private let literals: PaddedBytes
    private var nodes: RawArray<UInt32>
    private var text = ByteWriter(capacity: 256)

    /// Result of ``single(_:root:bytes:)``: no token.
    static let none = -1
    /// Result of ``single(_:root:bytes:)``: several tokens.
    static let several = -2

    init(program: PathProgram, limits: ScanLimits, payloadIsRoot: Bool = false) {
        scanner = JSONScanner(
            names: NameTable(program.names), limits: limits, marksUnnamed: program.selectsUnnamed,
            buildsProperties: program.mentionsProperties, payloadIsRoot: payloadIsRoot)
        steps = RawArray(program.steps)
        predicates = RawArray(program.predicates)
        textTests = RawArray(program.predicates.map { TextTest($0, in: program) })
        isAboutPayload = RawArray(program.predicates.indices.map { program.isAboutPayload($0) })
        operands = RawArray(program.operands)
        literals = PaddedBytes(copying: program.literals)
        nodes = RawArray(capacity: 256)
    }

    /// The object's unshadowed member `name`, or ``none``.
    @inline(__always)
    func member(of object: Int, _ name: UInt16) -> Int {
        if object == JSONScanner.payload { return scanner.slot(of: name) ?? PathEvaluator.none }
        guard scanner.tape[object].kind == TokenKind.object else { return PathEvaluator.none }
        let end = Int(scanner.tape[object].next)
        var child = object + 1
        while child < end {
            let token = scanner.tape[child]
            if token.name == name && !token.isShadowed { return child }
            child = Int(token.next)
        }
        return PathEvaluator.none
    }

    /// The one token that `path` selects from `root`, ``none`` or ``several``.
    @inline(__always)
    mutating func single(_ path: PathReference, root: Int, bytes: ByteView) -> Int {
        guard path.isMemberChain else { return singleGeneral(path, root: root, bytes: bytes) }
        var node = root
        var step = Int(path.start)
        let end = step + Int(path.count)
        while step < end, node >= 0 {
            node = member(of: node, steps[step].name)
            step += 1
        }
        return node
    }

    private mutating func singleGeneral(_ path: PathReference, root: Int, bytes: ByteView) -> Int {
        let mark = nodes.count
        let found = select(path, root: root, current: root, bytes: bytes)
        defer { nodes.truncate(to: mark) }
        switch found.count {
        case 0: return PathEvaluator.none
        case 1: return Int(nodes[found.lowerBound])
        default: return PathEvaluator.several
        }
    }

    /// Token `index` of a selection.
    @inline(__always)
    func node(_ index: Int) -> Int { Int(nodes[index]) }

    /// The present height of the node stack, to return to with ``release(to:)``.
    var mark: Int { nodes.count }

    /// Drops the selections made since `mark`.
    mutating func release(to mark: Int) { nodes.truncate(to: mark) }

    /// Selects all tokens of `path` in document order; the range is of the node stack.
    mutating func select(_ path: PathReference, root: Int, current: Int, bytes: ByteView) -> Range<Int> {
        var low = nodes.count
        nodes.append(UInt32(path.fromRoot ? root : current))
        for step in Int(path.start)..<Int(path.start + path.count) {
            let high = nodes.count
            for index in low..<high { apply(steps[step], to: Int(nodes[index]), root: root, bytes: bytes) }
            low = high
        }
        return low..<nodes.count
    }

    private mutating func apply(_ step: PathStep, to node: Int, root: Int, bytes: ByteView) {
        switch step.operation {
        case .member:
            let member = member(of: node, step.name)
            if member >= 0 { nodes.append(UInt32(member)) }
        case .element: appendElement(Int(step.argument), of: node)
        case .children: appendChildren(of: node, predicate: nil, root: root, bytes: bytes)
        case .filterChildren: appendChildren(of: node, predicate: step.argument, root: root, bytes: bytes)
        case .descendants: appendDescendants(of: node, predicate: nil, root: root, bytes: bytes)
        case .filterDescendants: appendDescendants(of: node, predicate: step.argument, root: root, bytes: bytes)
        case .descendantMembers: appendDescendantMembers(of: node, step.name)
        }
    }

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

    /// Children; with a filter those of arrays only, because the reference filters an object's members as wrapped
    /// properties, on which nothing is found (mapping dialect, section 3.1).
    private mutating func appendChildren(of node: Int, predicate: Int32?, root: Int, bytes: ByteView) {
        let kind = scanner.tape[node].kind
        guard kind == TokenKind.array || (predicate == nil && kind == TokenKind.object) else { return }
        var child = node + 1
        while child < Int(scanner.tape[node].next) {
            let token = scanner.tape[child]
            if !token.isShadowed, predicate.map({ holds(Int($0), at: child, root: root, bytes: bytes) }) ?? true {
                nodes.append(UInt32(child))
            }
            child = Int(token.next)
        }
    }

    /// The node itself and everything below it, in document order.
    private mutating func appendDescendants(of node: Int, predicate: Int32?, root: Int, bytes: ByteView) {
        let onlyObjects = predicate.map { predicates[Int($0)].needsObject } ?? false
        let end = Int(scanner.tape[node].next)
        var index = node
        while index < end {
            let token = scanner.tape[index]
            if token.isShadowed && index != node {
                index = Int(token.next)
                continue
            }
            if !onlyObjects || token.kind == TokenKind.object,
                predicate.map({ holds(Int($0), at: index, root: root, bytes: bytes) }) ?? true
            {
                nodes.append(UInt32(index))
            }
            index += 1
        }
    }

    /// What a match expression selects from a flat payload, as far as it can be told without a selection.
    enum FlatVerdict {
        /// It must be evaluated.
        case unknown
        /// Nothing: the usual way not to be chosen.
        case nothing
        /// The payload and nothing else: the usual way to be chosen.
        case payload
    }

    /// Decides a filter over a flat document by testing the payload alone.
    @inline(__always)
    mutating func flatVerdict(_ path: PathReference, bytes: ByteView) -> FlatVerdict {
        guard path.count == 1, scanner.isFlatObject, scanner.root != JSONScanner.payload else { return .unknown }
        let step = steps[Int(path.start)]
        let predicate = Int(step.argument)
        guard step.operation == .filterDescendants, isAboutPayload[predicate] else { return .unknown }
        let holds = holds(predicate, at: JSONScanner.payload, root: scanner.root, bytes: bytes)
        return holds ? .payload : .nothing
    }

    private mutating func appendDescendantMembers(of node: Int, _ name: UInt16) {
        let end = Int(scanner.tape[node].next)
        var index = node + 1
        while index < end {
            let token = scanner.tape[index]
            if token.isShadowed {
                index = Int(token.next)
                continue
            }
            if token.name == name { nodes.append(UInt32(index)) }
            index += 1
        }
    }

    // MARK: Predicates

    /// Whether predicate `index` holds at token `current`.
    private mutating func holds(_ index: Int, at current: Int, root: Int, bytes: ByteView) -> Bool {
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
        default:
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
        guard token.kind == TokenKind.string else { return false }
        if token.flags & Token.escaped != 0 {
            return compares(predicates[index], at: current, root: root, bytes: bytes)
        }
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

    /// The tokens of a path, or one place that stands for a constant.
    private mutating func operandNodes(
        _ operand: PathOperand, at current: Int, root: Int, bytes: ByteView
    ) -> Range<Int> {
        if operand.kind == .path { return select(operand.path, root: root, current: current, bytes: bytes) }
        nodes.append(0)
        return (nodes.count - 1)..<nodes.count
    }

    /// A value of a comparison, from the document or from the program.
    struct Comparand {
        var kind: UInt8
        var number = Decimal64(mantissa: 0)
        /// Whether the number is exact; others never compare.
        var isExact = true
        var text = ByteView("")
        var isEscaped = false
    }

    private func comparand(_ operand: PathOperand, node: Int, bytes: ByteView) -> Comparand {
        switch operand.kind {
        case .path: return comparand(scanner.tape[Int(nodes[node])], bytes: bytes)
        case .number: return Comparand(kind: TokenKind.number, number: operand.number)
        case .text:
            let start = Int(operand.textStart)
            let text = literals.view(start..<(start + Int(operand.textLength)))
            return Comparand(kind: TokenKind.string, text: text)
        case .yes: return Comparand(kind: TokenKind.yes)
        case .no: return Comparand(kind: TokenKind.no)
        case .null: return Comparand(kind: TokenKind.null)
        }
    }

    private func comparand(_ token: Token, bytes: ByteView) -> Comparand {
        switch token.kind {
        case TokenKind.number:
            guard case .number(let number) = DecimalParser.parse(bytes[token.range]) else {
                return Comparand(kind: TokenKind.number, isExact: false)
            }
            return Comparand(kind: TokenKind.number, number: number)
        case TokenKind.string:
            let isEscaped = token.flags & Token.escaped != 0
            return Comparand(kind: TokenKind.string, text: bytes[token.range], isEscaped: isEscaped)
        default: return Comparand(kind: token.kind)
        }
    }

    /// Compares (mapping dialect, section 3.1). Equality does not convert between types: `"60" == 60` is false. Order
    /// does: a text beside a number is read as one, whichever side it is on; a text that is none is not in order.
    private mutating func compare(
        _ left: Comparand, _ operation: PathPredicate.Operation, _ right: Comparand, _ bytes: ByteView
    ) -> Bool {
        guard left.kind > TokenKind.array, left.kind == right.kind else {
            return operation == .notEqual || comparesAcross(left, operation, right)
        }
        switch left.kind {
        case TokenKind.number:
            guard left.isExact, right.isExact else { return operation == .notEqual }
            let order =
                left.number.isEqualInValue(to: right.number) ? 0 : left.number.isLess(than: right.number) ? -1 : 1
            return PathEvaluator.satisfies(order, operation)
        case TokenKind.string: return PathEvaluator.satisfies(textOrder(left, right), operation)
        default: return operation == .equal || operation == .lessOrEqual || operation == .greaterOrEqual
        }
    }

    private mutating func comparesAcross(
        _ left: Comparand, _ operation: PathPredicate.Operation, _ right: Comparand
    ) -> Bool {
        let isOrder = operation != .equal && operation != .notEqual
        guard isOrder, let left = number(left), let right = number(right) else { return false }
        let order = left.isEqualInValue(to: right) ? 0 : left.isLess(than: right) ? -1 : 1
        return PathEvaluator.satisfies(order, operation)
    }

    /// A number, or the number that a text says.
    private mutating func number(_ side: Comparand) -> Decimal64? {
        if side.kind == TokenKind.number { return side.isExact ? side.number : nil }
        guard side.kind == TokenKind.string else { return nil }
        text.removeAll()
        if side.isEscaped { JSONUnescape.append(side.text, into: &text) } else { text.append(side.text) }
        // Numbers are read eight bytes at a time.
        text.reserve(ByteView.padding)
        guard case .number(let number) = DecimalParser.parse(text.view) else { return nil }
        return number
    }

    private static func satisfies(_ order: Int, _ operation: PathPredicate.Operation) -> Bool {
        switch operation {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        case .and, .or, .exists: false
        }
    }

    private mutating func textOrder(_ left: Comparand, _ right: Comparand) -> Int {
        guard left.isEscaped || right.isEscaped else { return PathEvaluator.order(left.text, right.text) }
        text.removeAll()
        JSONUnescape.append(left.text, into: &text)
        let middle = text.count
        if right.isEscaped { JSONUnescape.append(right.text, into: &text) } else { text.append(right.text) }
        return PathEvaluator.order(text.view(0..<middle), text.view(middle..<text.count))
    }

    /// Ordinal comparison of UTF-8.
    private static func order(_ left: ByteView, _ right: ByteView) -> Int {
        var index = 0
        while index < left.count && index < right.count {
            if left[index] != right[index] { return left[index] < right[index] ? -1 : 1 }
            index += 1
        }
        return left.count == right.count ? 0 : left.count < right.count ? -1 : 1
    }
}

extension PathEvaluator {
    /// Appends a scalar as text (mapping dialect, section 2.4); null appends nothing. True when it is a container.
    @inline(__always)
    func appendText(of index: Int, _ bytes: ByteView, to writer: inout ByteWriter) -> Bool {
        let token = scanner.tape[index]
        switch token.kind {
        case TokenKind.string:
            if token.flags & Token.escaped == 0 {
                writer.append(bytes[token.range])
            } else {
                JSONUnescape.append(bytes[token.range], into: &writer)
            }
        case TokenKind.number: writer.append(bytes[token.range])
        case TokenKind.yes: writer.append("True")
        case TokenKind.no: writer.append("False")
        case TokenKind.null: break
        default: return true
        }
        return false
    }
}
