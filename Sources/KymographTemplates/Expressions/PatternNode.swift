import KymographCore

/// A parsed regular expression.
indirect enum PatternNode {
    case empty
    /// One character of a set; `isNegated`: one that is not in it.
    case set([PatternItem], isNegated: Bool)
    case assertion(PatternAssertion)
    case sequence([PatternNode])
    case alternatives([PatternNode])
    /// At least `minimum` and at most `maximum` times; nil is without bound.
    case repeated(PatternNode, minimum: Int, maximum: Int?)
    case look(PatternNode, PatternInstruction.Operation)
}

/// Why a regular expression cannot be used, and where in it.
struct PatternError: Error {
    var message: String
    /// Bytes before the place in the pattern.
    var offset: Int
}

/// Writes a parsed regular expression as instructions.
struct PatternCompiler {
    /// Most instructions of one pattern: counted repetition multiplies them.
    static let mostInstructions = 4_096

    private var program: PatternProgram
    private let start: Int
    private var looksAround = false

    /// Compiles `pattern` with the letters `flags`, adding it to `program`, and returns its number.
    static func compile(
        _ pattern: [UInt8], flags: [UInt8], into program: inout PatternProgram
    ) throws(PatternError) -> Int {
        var parser = PatternParser(pattern, flags: flags)
        let node = try parser.whole()
        var compiler = PatternCompiler(program)
        try compiler.write(node)
        try compiler.append(PatternInstruction(operation: .match))
        program = compiler.finished()
        return program.patterns.count - 1
    }

    private init(_ program: PatternProgram) {
        self.program = program
        start = program.instructions.count
    }

    private func finished() -> PatternProgram {
        var program = program
        program.patterns.append(
            PatternReference(
                start: Int32(start), count: Int32(program.instructions.count - start), looksAround: looksAround))
        return program
    }

    private var next: Int32 { Int32(program.instructions.count) }

    private mutating func append(_ instruction: PatternInstruction) throws(PatternError) {
        guard program.instructions.count - start < PatternCompiler.mostInstructions else {
            throw PatternError(message: "the pattern is too large; repeat less often", offset: 0)
        }
        program.instructions.append(instruction)
    }

    private mutating func write(_ node: PatternNode) throws(PatternError) {
        switch node {
        case .empty: break
        case .set(let items, let isNegated):
            let first = Int32(program.items.count)
            program.items += items
            try append(
                PatternInstruction(
                    operation: isNegated ? .otherThanSet : .set, first: first, second: Int32(items.count)))
        case .assertion(let assertion):
            try append(PatternInstruction(operation: .assertion, first: assertion.rawValue))
        case .sequence(let nodes):
            for node in nodes { try write(node) }
        case .alternatives(let nodes): try writeAlternatives(nodes)
        case .repeated(let node, let minimum, let maximum): try writeRepeated(node, minimum, maximum)
        case .look(let node, let operation): try writeLook(node, operation)
        }
    }

    private mutating func writeAlternatives(_ nodes: [PatternNode]) throws(PatternError) {
        var jumps: [Int] = []
        for node in nodes.dropLast() {
            let split = Int(next)
            try append(PatternInstruction(operation: .split, first: next + 1))
            try write(node)
            jumps.append(Int(next))
            try append(PatternInstruction(operation: .jump))
            program.instructions[split].second = next
        }
        if let last = nodes.last { try write(last) }
        for jump in jumps { program.instructions[jump].first = next }
    }

    private mutating func writeRepeated(
        _ node: PatternNode, _ minimum: Int, _ maximum: Int?
    ) throws(PatternError) {
        for _ in 0..<minimum {
            let before = next
            try write(node)
            // Nothing is nothing however often; nested counts would keep the load busy.
            if next == before { return }
        }
        guard let maximum else {
            let split = Int(next)
            try append(PatternInstruction(operation: .split, first: next + 1))
            try write(node)
            try append(PatternInstruction(operation: .jump, first: Int32(split)))
            program.instructions[split].second = next
            return
        }
        var splits: [Int] = []
        for _ in minimum..<max(minimum, maximum) {
            splits.append(Int(next))
            try append(PatternInstruction(operation: .split, first: next + 1))
            try write(node)
        }
        for split in splits { program.instructions[split].second = next }
    }

    private mutating func writeLook(
        _ node: PatternNode, _ operation: PatternInstruction.Operation
    ) throws(PatternError) {
        looksAround = true
        let look = Int(next)
        try append(PatternInstruction(operation: operation, first: next + 1))
        try write(node)
        try append(PatternInstruction(operation: .match))
        program.instructions[look].second = next
    }
}
