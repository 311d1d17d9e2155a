/// One node of a compiled JMESPath expression.
package struct JMESPathNode: BitwiseCopyable {
    /// What a node gives for the current value.
    package enum Operation: UInt8, BitwiseCopyable {
        /// The current value: `@`.
        case current
        /// The object's member; `value` numbers its name.
        case field
        /// A literal; `value` is its place among the constants.
        case constant
        /// `right` evaluated on the result of `left`: `a.b` and `a | b`.
        case chain
        /// The array's element `value`, from the end when negative.
        case element
        /// The part of an array that slice `value` says.
        case slice
        /// The array with the arrays in it opened: `[]`.
        case flatten
        /// `right` on each element of the array `left`.
        case projection
        /// `right` on each value of the object `left`.
        case valueProjection
        /// `right` on each element of the array `left` for which node `value` is true.
        case filterProjection
        /// An array of the results of the nodes from `left` on.
        case list
        /// An object of the results of the nodes from `left` on; the `value` of each `entry` is its key.
        case hash
        /// `key: left` of a hash; `value` is the key's place among the constants.
        case entry
        case or, and, not
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
        /// The function `function` of the nodes from `left` on.
        case call
        /// An argument that is not evaluated by the caller: `&left`.
        case expression
    }

    package var operation: Operation
    var function = JMESPathFunction.abs
    package var left: Int32 = -1
    package var right: Int32 = -1
    /// The next node of the same list, or -1.
    package var next: Int32 = -1
    package var value: Int32 = 0
    /// Where the node is in its expression, in bytes.
    package var offset: Int32 = 0

    package init(
        operation: Operation, function: JMESPathFunction = JMESPathFunction.abs, left: Int32 = -1, right: Int32 = -1,
        value: Int32 = 0
    ) {
        (self.operation, self.function, self.left, self.right) = (operation, function, left, right)
        self.value = value
    }
}

/// The bounds of a slice as they are written.
package struct JMESPathSlice: BitwiseCopyable {
    /// Stands for a bound that is not written.
    package static let absent = Int32.min

    package var start = JMESPathSlice.absent
    package var stop = JMESPathSlice.absent
    package var step: Int32 = 1

    package init() {}
}

/// Where a compiled JMESPath expression is.
package struct JMESPathReference: BitwiseCopyable {
    /// The root node, or -1 when there is no expression.
    var root: Int32

    package init(root: Int32) {
        self.root = root
    }

    /// No expression.
    package static let absent = JMESPathReference(root: -1)
    var isAbsent: Bool { root < 0 }
}

/// What the function `type` gives: constants of every program, behind null, true and false.
enum JMESPathTypeName: Int32, CaseIterable {
    case object, array, string, number, null, boolean

    /// Its place among the constants.
    var constant: Int32 { JMESPathProgram.no + 1 + rawValue }
}

/// All JMESPath expressions of a mapping set, flat.
///
/// Literals are tokens here already: the evaluator's own tape starts with ``constants``, its text with ``literals``.
package struct JMESPathProgram: Sendable {
    /// Places of the constants that every program has.
    static let null: Int32 = 0
    static let yes: Int32 = 1
    static let no: Int32 = 2
    /// Most operations on each other's results.
    package static let deepestTree = 128

    package var nodes: [JMESPathNode] = []
    package var slices: [JMESPathSlice] = []
    package var constants = [TokenKind.null, TokenKind.yes, TokenKind.no].enumerated().map { index, kind in
        Token(kind: kind, start: 0, next: UInt32(index + 1))
    }
    package var literals: [UInt8] = []

    package init() {
        for name in JMESPathTypeName.allCases { _ = constant(text: "\(name)") }
    }

    /// Member names that expressions mention; the scanner must know them all.
    package private(set) var names: [String] = []
    /// Where each of ``names`` is.
    private var numbers: [String: Int32] = [:]
    /// For each name, the string constant that holds its text.
    var nameConstants: [Int32] = []

    /// The member that ``JMESPathEvaluator`` adds to the root of Calculated templates.
    static let matchedToken = "matchedToken"

    /// The number of `name`, given on first use.
    package mutating func number(of name: String) -> Int32 {
        if let known = numbers[name] { return known }
        let number = Int32(names.count)
        numbers[name] = number
        names.append(name)
        nameConstants.append(constant(text: name))
        return number
    }

    /// How much of everything there is.
    package struct Extent {
        fileprivate var nodes: Int
        fileprivate var slices: Int
        fileprivate var constants: Int
        fileprivate var literals: Int
        fileprivate var names: Int
    }

    package var extent: Extent {
        Extent(
            nodes: nodes.count, slices: slices.count, constants: constants.count, literals: literals.count,
            names: names.count)
    }

    /// Forgets what was added since there was as much as `extent` says.
    package mutating func cut(to extent: Extent) {
        nodes.removeLast(nodes.count - extent.nodes)
        slices.removeLast(slices.count - extent.slices)
        constants.removeLast(constants.count - extent.constants)
        literals.removeLast(literals.count - extent.literals)
        for name in names[extent.names...] { numbers[name] = nil }
        names.removeLast(names.count - extent.names)
        nameConstants.removeLast(nameConstants.count - extent.names)
    }

    /// Adds a string constant.
    package mutating func constant(text: String) -> Int32 {
        let start = literals.count
        literals += text.utf8
        let token = Token(
            kind: TokenKind.string, start: UInt32(start), length: UInt32(literals.count - start),
            next: UInt32(constants.count + 1))
        constants.append(token)
        return Int32(constants.count - 1)
    }

    /// Whether the result of a node behind the first `known` ones can depend on members whose names no expression says,
    /// or can be the envelope itself.
    func readsWhole(behind known: Int) -> Bool {
        nodes[known...].contains { node in
            switch node.operation {
            case .valueProjection, .current: true
            case .equal, .notEqual: !isScalar(node.left) && !isScalar(node.right)
            case .call: node.function.readsObjects
            case .field, .constant, .chain, .element, .slice, .flatten, .projection, .filterProjection, .list, .hash,
                .entry, .or, .and, .not, .less, .lessOrEqual, .greater, .greaterOrEqual, .expression:
                false
            }
        }
    }

    /// Whether a node is a literal that equals no object.
    private func isScalar(_ index: Int32) -> Bool {
        let node = nodes[Int(index)]
        return node.operation == .constant && !constants[Int(node.value)].isContainer
    }

    /// The names when the expression is only a chain of members such as `a.b.c`; else nil.
    package static func memberChain(_ reference: JMESPathReference, in program: JMESPathProgram) -> [String]? {
        guard !reference.isAbsent else { return nil }
        var names: [String] = []
        var index = reference.root
        while program.nodes[Int(index)].operation == .chain {
            let node = program.nodes[Int(index)]
            guard let name = program.fieldName(node.right) else { return nil }
            names.append(name)
            index = node.left
        }
        guard let first = program.fieldName(index) else { return nil }
        return [first] + names.reversed()
    }

    private func fieldName(_ index: Int32) -> String? {
        let node = nodes[Int(index)]
        return node.operation == .field ? names[Int(node.value)] : nil
    }

    /// Where, in bytes, an expression divides without a number that is surely a double, so that the rest may be dropped
    /// (quirk 13); nil when it does not.
    package static func integerDivision(_ reference: JMESPathReference, in program: JMESPathProgram) -> Int? {
        program.integerDivision(reference.root)
    }

    private func integerDivision(_ index: Int32) -> Int? {
        guard index >= 0 else { return nil }
        let node = nodes[Int(index)]
        let isDivision = node.operation == .call && node.function == .divide
        if isDivision, !isDouble(node.left), !isDouble(nodes[Int(node.left)].next) { return Int(node.offset) }
        let condition = node.operation == .filterProjection ? node.value : -1
        return integerDivision(condition) ?? integerDivision(node.left) ?? integerDivision(node.right)
            ?? integerDivision(node.next)
    }

    /// Whether a node is a literal with a point or exponent, or arithmetic with one.
    private func isDouble(_ index: Int32) -> Bool {
        let node = nodes[Int(index)]
        if node.operation == .call, [.add, .subtract, .multiply, .divide].contains(node.function) {
            return isDouble(node.left) || isDouble(nodes[Int(node.left)].next)
        }
        guard node.operation == .constant else { return false }
        let token = constants[Int(node.value)]
        return token.kind == TokenKind.number && literals[token.range].contains { ".eE".utf8.contains($0) }
    }
}
