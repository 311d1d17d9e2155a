import Testing

@testable import KymographCore
@testable import KymographTemplates
import TrialSupport

/// 100,000 pairs of a random path and a random document: the compiled evaluation, the short cuts before it and a plain
/// reading of the specification select the same.
@Suite struct JSONPathPropertyTests {
    private static let paths = 10
    private static let documents = 10

    @Test(arguments: Trials.seeds(10)) func agreesWithTheSpecification(_ seed: UInt64) throws {
        var generator = PathGenerator(random: WindowRandom(seed: seed))
        var found = 0
        for round in 0..<100 {
            let paths = (0..<JSONPathPropertyTests.paths).map { _ in generator.path() }
            var writer = PathWriter(random: WindowRandom(seed: seed &* 1_000 &+ UInt64(round)))
            let texts = paths.map { writer.path($0, sign: "$") }
            var program = PathProgram()
            var references: [PathReference] = []
            for text in texts {
                do throws(ExpressionError) {
                    references.append(try JSONPathParser.compile(text, into: &program))
                } catch {
                    Issue.record("seed \(seed): \(text): \(error)")
                    return
                }
            }
            let payloadIsRoot = round % 5 == 4
            var evaluator = PathEvaluator(program: program, limits: ScanLimits(), payloadIsRoot: payloadIsRoot)
            for _ in 0..<JSONPathPropertyTests.documents {
                let trial = try PathTrial(
                    generator.document(), seed: generator.random.next(), payloadIsRoot: payloadIsRoot, &evaluator)
                for (number, path) in paths.enumerated() {
                    let differences = trial.differences(path, references[number], in: program, &evaluator, &found)
                    if differences.isEmpty { continue }
                    Issue.record("seed \(seed): \(texts[number]) of \(trial.text): \(differences)")
                }
            }
        }
        #expect(found > 1_000, "seed \(seed)")
    }
}

/// One document in both forms.
private struct PathTrial: ~Copyable {
    let text: String
    private let storage: PaddedBytes
    private let root: DocumentNode

    init(
        _ payload: DocumentNode, seed: UInt64, payloadIsRoot: Bool, _ evaluator: inout PathEvaluator
    ) throws {
        var writer = DocumentWriter(random: WindowRandom(seed: seed))
        writer.write(payload)
        text = writer.text
        storage = PaddedBytes(copying: text.utf8)
        _ = try evaluator.scanner.scan(storage.view, from: 0)
        let names = payload.kind == .object ? Set(payload.children.map(\.name)) : []
        let isEnvelope = names.contains("Body") && names.isSubset(of: ["Body", "Properties", "SystemProperties"])
        root = payloadIsRoot || isEnvelope ? payload : PathTrial.envelope(payload)
    }

    private static func envelope(_ payload: DocumentNode) -> DocumentNode {
        let envelope = DocumentNode(.object)
        envelope.place = "envelope"
        envelope.children = [("Body", payload)]
        for name in ["Properties", "SystemProperties"] {
            let empty = DocumentNode(.object)
            empty.place = name
            envelope.children.append((name, empty))
        }
        return envelope
    }

    /// How what the evaluator says differs from what the specification says.
    func differences(
        _ path: ModelPath, _ reference: PathReference, in program: PathProgram, _ evaluator: inout PathEvaluator,
        _ found: inout Int
    ) -> [String] {
        let expected = ModelEvaluator(root: root).select(path, from: root).map(\.place)
        let start = evaluator.scanner.root
        let mark = evaluator.mark
        let range = evaluator.select(reference, root: start, current: start, bytes: storage.view)
        let nodes = range.map { evaluator.node($0) }
        evaluator.release(to: mark)
        let selected = nodes.map { place($0, evaluator) }
        found += selected.isEmpty ? 0 : 1
        var differences = selected == expected ? [] : ["selects \(selected), not \(expected)"]
        let single = evaluator.single(reference, root: start, bytes: storage.view)
        let wanted = nodes.isEmpty ? PathEvaluator.none : nodes.count == 1 ? nodes[0] : PathEvaluator.several
        if single != wanted { differences.append("\(single) as the only one, not \(wanted)") }
        differences += shortCuts(reference, nodes, in: program, &evaluator)
        return differences
    }

    private func place(_ token: Int, _ evaluator: borrowing PathEvaluator) -> String {
        let tape = evaluator.scanner.tape[token]
        if token == 0 { return "envelope" }
        if evaluator.scanner.root == 0, token >= Int(evaluator.scanner.tape[JSONScanner.payload].next) {
            return tape.name == NameTable.properties ? "Properties" : "SystemProperties"
        }
        return "@\(tape.outerRange.lowerBound)"
    }

    /// The mapper's decisions without a selection, in its order, against the selection.
    private func shortCuts(
        _ reference: PathReference, _ nodes: [Int], in program: PathProgram, _ evaluator: inout PathEvaluator
    ) -> [String] {
        let gate = TemplateGate(
            ExpressionCode(path: reference, fromMatch: false), requiredNames: reference.requiredNames,
            isCompatible: false, in: program)
        if gate.requiredNames & evaluator.scanner.nameMask != gate.requiredNames {
            return nodes.isEmpty ? [] : ["ruled out by names"]
        }
        guard evaluator.scanner.isFlatObject, evaluator.scanner.root != JSONScanner.payload else { return [] }
        if gate.name != NameTable.unknown {
            guard let token = evaluator.scanner.slot(of: gate.name) else {
                return nodes.isEmpty ? [] : ["ruled out by a missing member"]
            }
            let found = evaluator.scanner.tape[token]
            if gate.excludes(found, storage.view) { return nodes.isEmpty ? [] : ["ruled out by a text"] }
            if gate.isDecisive, found.flags & Token.escaped == 0 {
                return nodes == [JSONScanner.payload] ? [] : ["let in by a text"]
            }
        }
        switch evaluator.flatVerdict(reference, bytes: storage.view) {
        case .unknown: return []
        case .nothing: return nodes.isEmpty ? [] : ["ruled out as a flat payload"]
        case .payload: return nodes == [JSONScanner.payload] ? [] : ["let in as a flat payload"]
        }
    }
}
