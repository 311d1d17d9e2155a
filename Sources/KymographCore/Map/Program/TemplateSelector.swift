/// Chooses, for a flat payload, the templates that can match it, as far as that can be told without a selection.
struct TemplateSelector: ~Copyable {
    /// For each template.
    private let gates: RawArray<TemplateGate>
    private let dispatch: TemplateDispatch

    init(_ templates: [TemplateCode], in program: PathProgram) {
        gates = RawArray(
            templates.map {
                TemplateGate(
                    $0.match, requiredNames: $0.requiredNames, isCompatible: $0.isCompatible, in: program)
            })
        dispatch = TemplateDispatch(gates, givesReadings: templates.map { !$0.retracts })
    }

    /// The members whose texts are looked at.
    var names: [UInt16] {
        ([dispatch.name] + (0..<gates.count).map { gates[$0].name }).filter { $0 != NameTable.unknown }
    }

    /// Whether only a selection tells whether `template` matches.
    func needsSelection(_ template: Int) -> Bool { gates[template].needsSelection }

    /// The templates that the flat payload in `scanner` can match, as places in ``subscript(_:)``; nil when all must be
    /// tried.
    @inline(__always)
    func candidates(_ scanner: borrowing JSONScanner, _ bytes: ByteView) -> Range<Int>? {
        guard dispatch.name != NameTable.unknown else { return nil }
        guard let token = scanner.slot(of: dispatch.name) else { return dispatch.withoutText }
        return dispatch.candidates(scanner.tape[token], bytes)
    }

    /// The number of a template.
    @inline(__always)
    subscript(place: Int) -> Int { dispatch[place] }

    /// What the match expression of `template`, which is `match`, selects of the payload in `paths`.
    @inline(__always)
    func verdict(
        _ template: Int, _ match: PathReference, _ paths: inout PathEvaluator, _ bytes: ByteView, isFlat: Bool
    ) -> PathEvaluator.FlatVerdict {
        let gate = gates[template]
        guard gate.requiredNames & paths.scanner.nameMask == gate.requiredNames else { return .nothing }
        guard isFlat, !gate.needsSelection else { return .unknown }
        if gate.name != NameTable.unknown {
            guard let token = paths.scanner.slot(of: gate.name) else { return .nothing }
            if gate.excludes(paths.scanner.tape[token], bytes) { return .nothing }
            if gate.isDecisive, paths.scanner.tape[token].flags & Token.escaped == 0 { return .payload }
        }
        return paths.flatVerdict(match, bytes: bytes)
    }

    /// Whether `template` matches no document that has the members of the one in `scanner` and the same texts where
    /// ``names`` are.
    func rulesOut(_ template: Int, _ scanner: borrowing JSONScanner, _ bytes: ByteView) -> Bool {
        let gate = gates[template]
        guard gate.requiredNames & scanner.nameMask == gate.requiredNames else { return true }
        guard gate.name != NameTable.unknown, !gate.needsSelection else { return false }
        guard let token = scanner.slot(of: gate.name) else { return true }
        return gate.excludes(scanner.tape[token], bytes)
    }
}
