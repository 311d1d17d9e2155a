/// Going back to what there was before an expression that cannot be read.
extension PathProgram {
    /// How much of everything there is.
    package struct Extent {
        fileprivate var names: Int
        fileprivate var steps: Int
        fileprivate var predicates: Int
        fileprivate var operands: Int
        fileprivate var literals: Int
        fileprivate var lists: Int
        fileprivate var entries: Int
        fileprivate var slices: Int
        fileprivate var instructions: Int
        fileprivate var items: Int
        fileprivate var patterns: Int
    }

    package var extent: Extent {
        Extent(
            names: names.count, steps: steps.count, predicates: predicates.count, operands: operands.count,
            literals: literals.count, lists: lists.count, entries: entries.count, slices: slices.count,
            instructions: patterns.instructions.count, items: patterns.items.count, patterns: patterns.patterns.count)
    }

    /// Forgets what was added since there was as much as `extent` says.
    package mutating func cut(to extent: Extent) {
        forgetNames(behind: extent.names)
        steps.removeLast(steps.count - extent.steps)
        predicates.removeLast(predicates.count - extent.predicates)
        operands.removeLast(operands.count - extent.operands)
        literals.removeLast(literals.count - extent.literals)
        lists.removeLast(lists.count - extent.lists)
        entries.removeLast(entries.count - extent.entries)
        slices.removeLast(slices.count - extent.slices)
        patterns.instructions.removeLast(patterns.instructions.count - extent.instructions)
        patterns.items.removeLast(patterns.items.count - extent.items)
        patterns.patterns.removeLast(patterns.patterns.count - extent.patterns)
    }
}
