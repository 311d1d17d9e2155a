/// Evaluates compiled paths over the tape of a scanned document.
///
/// Holds its own copies of the program's arrays, so that nothing is reference counted while readings are mapped. Node
/// lists are kept on one stack: every selection appends to it and the caller truncates it again.
package struct PathEvaluator: ~Copyable {
    package var scanner: JSONScanner
    let steps: RawArray<PathStep>
    let lists: RawArray<PathList>
    let entries: RawArray<Int32>
    let slices: RawArray<PathSlice>
    let predicates: RawArray<PathPredicate>
    /// For each predicate.
    let textTests: RawArray<TextTest>
    /// For each predicate: whether only an object that is not the envelope can satisfy it.
    private let isAboutPayload: RawArray<Bool>
    let operands: RawArray<PathOperand>
    let literals: PaddedBytes
    var patterns: PatternMatcher
    var nodes: RawArray<UInt32>
    var text = ByteWriter(capacity: 256)
    /// Whether values are put in order as the reference does it, which fails where the default says "not in order".
    var isCompatible: Bool
    /// Whether a comparison of order met values that cannot be converted, with `isCompatible`: the reference gives up
    /// the whole event then. Stays set until ``clearFailures()``.
    package var comparisonFailed = false
    /// Whether a selection was given up because it had more than ``mostNodes`` tokens. Stays set until
    /// ``clearFailures()``.
    package private(set) var selectionOverflowed = false

    /// Most tokens that one selection holds at a time: paths such as `$..*..*` multiply what a payload has.
    static let mostNodes = 1 << 22

    /// Result of ``single(_:root:bytes:)``: no token.
    static let none = -1
    /// Result of ``single(_:root:bytes:)``: several tokens.
    static let several = -2

    package init(program: PathProgram, limits: ScanLimits, payloadIsRoot: Bool = false, isCompatible: Bool = false) {
        scanner = JSONScanner(
            names: NameTable(program.names), limits: limits, marksUnnamed: program.selectsUnnamed,
            buildsProperties: program.mentionsProperties, payloadIsRoot: payloadIsRoot)
        steps = RawArray(program.steps)
        predicates = RawArray(program.predicates)
        textTests = RawArray(program.predicates.map { TextTest($0, in: program) })
        isAboutPayload = RawArray(program.predicates.indices.map { program.isAboutPayload($0) })
        lists = RawArray(program.lists)
        entries = RawArray(program.entries)
        slices = RawArray(program.slices)
        patterns = PatternMatcher(program.patterns)
        self.isCompatible = isCompatible
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
        // What was given up had too many.
        case 0: return selectionOverflowed ? PathEvaluator.several : PathEvaluator.none
        case 1: return Int(nodes[found.lowerBound])
        default: return PathEvaluator.several
        }
    }

    /// Token `index` of a selection.
    @inline(__always)
    package func node(_ index: Int) -> Int { Int(nodes[index]) }

    /// The present height of the node stack, to return to with ``release(to:)``.
    package var mark: Int { nodes.count }

    /// Drops the selections made since `mark`.
    package mutating func release(to mark: Int) { nodes.truncate(to: mark) }

    /// Whether a selection since ``clearFailures()`` did not come to its end.
    var hasFailed: Bool { comparisonFailed || selectionOverflowed }

    /// Forgets failures of earlier selections.
    package mutating func clearFailures() {
        comparisonFailed = false
        selectionOverflowed = false
    }

    /// Selects all tokens of `path`, those of one step after the other's in document order; the range is of the node
    /// stack. Nothing, and ``selectionOverflowed``, when there are more than ``mostNodes``.
    package mutating func select(_ path: PathReference, root: Int, current: Int, bytes: ByteView) -> Range<Int> {
        var low = nodes.count
        nodes.append(UInt32(path.fromRoot ? root : current))
        for step in Int(path.start)..<Int(path.start + path.count) {
            let high = nodes.count
            for index in low..<high {
                apply(steps[step], to: Int(nodes[index]), root: root, bytes: bytes)
                guard nodes.count - high <= PathEvaluator.mostNodes else { return overflow() }
            }
            low = high
        }
        return low..<nodes.count
    }

    @inline(never)
    private mutating func overflow() -> Range<Int> {
        selectionOverflowed = true
        return nodes.count..<nodes.count
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
}
