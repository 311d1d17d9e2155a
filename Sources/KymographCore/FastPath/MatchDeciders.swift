/// What decides whether a match expression selects a flat payload, beside which members there are.
struct MatchDeciders {
    /// A comparison of a member's number with a constant.
    struct Test {
        var name: UInt16
        var operation: PathPredicate.Operation
        var number: Decimal64
    }

    /// Members whose texts decide.
    private(set) var texts: [UInt16] = []
    /// Comparisons that must all hold.
    private(set) var tests: [Test] = []

    /// What decides about `path`; nil when there is more.
    init?(_ path: PathReference, in program: PathProgram) {
        guard path.count == 1 else { return nil }
        let step = program.steps[Int(path.start)]
        guard step.operation == .filterDescendants, program.isAboutPayload(Int(step.argument)),
            add(Int(step.argument), in: program)
        else { return nil }
    }

    private mutating func add(_ index: Int, in program: PathProgram) -> Bool {
        let predicate = program.predicates[index]
        let (left, right) = (Int(predicate.left), Int(predicate.right))
        switch predicate.operation {
        case .and: return add(left, in: program) && add(right, in: program)
        case .or:
            // Which of several comparisons holds, differs from payload to payload.
            let count = tests.count
            return add(left, in: program) && add(right, in: program) && tests.count == count
        case .exists: return program.operands[left].path.count == 1
        case .matches: return false
        case .equal, .notEqual, .strictlyEqual, .strictlyNotEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            return addComparison(predicate, program.operands[left], program.operands[right], in: program)
        }
    }

    private mutating func addComparison(
        _ predicate: PathPredicate, _ left: PathOperand, _ right: PathOperand, in program: PathProgram
    ) -> Bool {
        let text = TextTest(predicate, in: program)
        if text.stepCount == 1 {
            texts.append(text.firstName)
            return true
        }
        guard right.kind == .number, left.path.count == 1 else { return false }
        let name = program.steps[Int(left.path.start)].name
        tests.append(Test(name: name, operation: predicate.operation, number: right.number))
        return true
    }
}
