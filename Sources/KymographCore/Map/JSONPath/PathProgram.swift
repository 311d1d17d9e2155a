/// One step of a compiled JSONPath.
package struct PathStep: BitwiseCopyable {
    /// What a step selects from each current node.
    package enum Operation: UInt8, BitwiseCopyable {
        /// The object's member `name`.
        case member
        /// The array's element `argument`.
        case element
        /// The array's elements that list `argument` numbers, in its order.
        case elementUnion
        /// The array's elements that slice `argument` takes.
        case slice
        /// All elements of an array.
        case elements
        /// All members of an object.
        case members
        /// The object's members that list `argument` names, in its order.
        case memberUnion
        /// All members `name` of the node and everything below it.
        case descendantMembers
        /// All members below the node that list `argument` names, in document order.
        case descendantUnion
        /// The node itself and everything below it.
        case descendants
        /// The children for which predicate `argument` holds.
        case filterChildren
        /// The node itself and everything below it for which predicate `argument` holds (quirk 8: self included).
        case filterDescendants
    }

    package var operation: Operation
    package var name: UInt16 = NameTable.unknown
    var argument: Int32 = 0

    package init(operation: Operation, name: UInt16 = NameTable.unknown, argument: Int32 = 0) {
        (self.operation, self.name, self.argument) = (operation, name, argument)
    }
}

/// Where a compiled path's steps are, and how it can be evaluated.
package struct PathReference: BitwiseCopyable {
    /// First step, or -1 when there is no expression.
    package var start: Int32
    package var count: Int32
    /// Whether all steps are members: the common case, which needs no node list.
    package var isMemberChain: Bool
    /// Whether it starts at the root of the evaluation rather than at the current node.
    var fromRoot: Bool
    /// Names without which the path selects nothing, as bits of ``JSONScanner/nameMask``.
    package var requiredNames: UInt64

    package init(start: Int32, count: Int32, isMemberChain: Bool, fromRoot: Bool, requiredNames: UInt64) {
        (self.start, self.count, self.isMemberChain, self.fromRoot) = (start, count, isMemberChain, fromRoot)
        self.requiredNames = requiredNames
    }

    /// No expression.
    package static let absent = PathReference(
        start: -1, count: 0, isMemberChain: false, fromRoot: true, requiredNames: 0)
    package var isAbsent: Bool { start < 0 }
}

/// Names or indexes of a union, as a run of ``PathProgram/entries``.
struct PathList: BitwiseCopyable {
    var start: Int32
    var count: Int32
}

/// `[first:last:step]`, where absent parts are nil.
package struct PathSlice: BitwiseCopyable {
    var first: Int32?
    var end: Int32?
    package var step: Int32?

    package init(first: Int32? = nil, end: Int32? = nil, step: Int32? = nil) {
        (self.first, self.end, self.step) = (first, end, step)
    }

    /// The elements that are taken from `count`: the first one's index, one behind the last in the step's direction,
    /// and the step. As the reference's slices, which are Python's (mapping dialect, section 3.1).
    func bounds(of count: Int) -> (first: Int, end: Int, step: Int) {
        let step = Int(step ?? 1)
        var from = first.map { Int($0) } ?? (step > 0 ? 0 : count - 1)
        var to = end.map { Int($0) } ?? (step > 0 ? count : -1)
        if let first, first < 0 { from += count }
        if let end, end < 0 { to += count }
        from = step > 0 ? min(max(from, 0), count) : min(from, count - 1)
        to = min(max(to, -1), count)
        return (from, to, step)
    }
}

/// A comparison's side.
package struct PathOperand: BitwiseCopyable {
    package enum Kind: UInt8, BitwiseCopyable {
        case path, number, text, yes, no, null
    }

    package var kind: Kind
    var path: PathReference = .absent
    var number = Decimal64(mantissa: 0)
    /// Place of a text in the program's literals.
    package var textStart: Int32 = 0
    package var textLength: Int32 = 0
    /// Number of the regular expression that the text is, on the right of `=~`; else -1.
    package var pattern: Int32 = -1

    package init(
        kind: Kind, path: PathReference = .absent, number: Decimal64 = Decimal64(mantissa: 0), textStart: Int32 = 0,
        textLength: Int32 = 0
    ) {
        (self.kind, self.path, self.number, self.textStart) = (kind, path, number, textStart)
        self.textLength = textLength
    }
}

/// A node of a filter: a condition, or two joined.
package struct PathPredicate: BitwiseCopyable {
    package enum Operation: UInt8, BitwiseCopyable {
        case and, or, exists, equal, notEqual, strictlyEqual, strictlyNotEqual
        case less, lessOrEqual, greater, greaterOrEqual, matches

        /// Whether it asks which side is larger, which not all pairs of values can answer.
        var isOrder: Bool {
            switch self {
            case .less, .lessOrEqual, .greater, .greaterOrEqual: true
            case .and, .or, .exists, .equal, .notEqual, .strictlyEqual, .strictlyNotEqual, .matches: false
            }
        }
    }

    var operation: Operation
    /// Predicates of `and` and `or`; operands of the others.
    package var left: Int32
    package var right: Int32 = 0
    /// Names without which the predicate cannot hold, as bits of ``JSONScanner/nameMask``.
    package var requiredNames: UInt64 = 0
    /// Whether it can hold for objects only, because it asks for a member of the node that is tested.
    package var needsObject = false

    package init(operation: Operation, left: Int32, right: Int32 = 0) {
        (self.operation, self.left, self.right) = (operation, left, right)
    }
}

/// All compiled expressions of a mapping set, flat: nothing is parsed, looked up or allocated per reading.
package struct PathProgram: Sendable {
    package private(set) var names: [String] = ["Body", "Properties", "SystemProperties"]
    /// Where each of ``names`` is: a catalogue has hundreds, and mentions them thousands of times.
    private var numbers: [String: UInt16] = ["Body": 0, "Properties": 1, "SystemProperties": 2]
    package var steps: [PathStep] = []
    package var predicates: [PathPredicate] = []
    package var operands: [PathOperand] = []
    package var literals: [UInt8] = []
    /// Whether expressions of another kind look at members that no path names.
    var isReadWhole = false
    var lists: [PathList] = []
    /// Names or indexes of the lists.
    var entries: [Int32] = []
    package var slices: [PathSlice] = []
    package var patterns = PatternProgram()

    package init() {
    }

    /// Whether a step gives members whose names it does not say.
    var selectsUnnamed: Bool {
        isReadWhole
            || steps.contains { step in
                switch step.operation {
                case .members, .descendants: true
                case .filterDescendants: !predicates[Int(step.argument)].needsObject
                case .member, .memberUnion, .descendantMembers, .descendantUnion: false
                // These give elements of arrays, which have no names.
                case .element, .elementUnion, .slice, .elements, .filterChildren: false
                }
            }
    }

    /// Whether any step can meet the envelope's members besides the payload.
    var mentionsProperties: Bool {
        let envelope = NameTable.properties...NameTable.systemProperties
        return selectsUnnamed || steps.contains { names(of: $0).contains { envelope.contains($0) } }
    }

    /// The numbers of the names that a step mentions.
    func names(of step: PathStep) -> [UInt16] {
        switch step.operation {
        case .member, .descendantMembers: [step.name]
        case .memberUnion, .descendantUnion: entries(of: step).map { UInt16($0) }
        case .element, .elementUnion, .slice, .elements, .members, .descendants, .filterChildren, .filterDescendants: []
        }
    }

    /// The entries of the list of a step that has one.
    private func entries(of step: PathStep) -> ArraySlice<Int32> {
        let list = lists[Int(step.argument)]
        return entries[Int(list.start)..<Int(list.start + list.count)]
    }

    /// Adds a list and returns its number.
    package mutating func addList(_ values: [Int32]) -> Int32 {
        lists.append(PathList(start: Int32(entries.count), count: Int32(values.count)))
        entries += values
        return Int32(lists.count - 1)
    }

    /// Whether predicate `index` can hold for no token of a flat document but its payload: each of its conditions needs
    /// a member that the envelope does not have.
    func isAboutPayload(_ index: Int) -> Bool {
        let predicate = predicates[index]
        if predicate.operation == .and || predicate.operation == .or {
            return isAboutPayload(Int(predicate.left)) && isAboutPayload(Int(predicate.right))
        }
        let left = operands[Int(predicate.left)]
        guard isPayloadMember(left) else { return false }
        guard predicate.operation != .exists else { return true }
        let right = operands[Int(predicate.right)]
        return right.kind != .path || isPayloadMember(right)
    }

    private func isPayloadMember(_ operand: PathOperand) -> Bool {
        let path = operand.path
        guard operand.kind == .path, path.isMemberChain, !path.fromRoot, path.count > 0 else { return false }
        return steps[Int(path.start)].name > NameTable.systemProperties
    }

    /// The number of `name`, given on first use.
    package mutating func number(of name: String) -> UInt16 {
        if let known = numbers[name] { return known }
        let number = UInt16(names.count)
        numbers[name] = number
        names.append(name)
        return number
    }

    /// Forgets all names but the first `count`.
    mutating func forgetNames(behind count: Int) {
        for name in names[count...] { numbers[name] = nil }
        names.removeLast(names.count - count)
    }
}
