/// What can be told of compiled parts without a document: the facts by which most templates are ruled out.
extension PathProgram {
    /// Names without which a step selects nothing, as bits of ``JSONScanner/nameMask``.
    package func requiredNames(of step: PathStep) -> UInt64 {
        switch step.operation {
        case .filterChildren, .filterDescendants: return predicates[Int(step.argument)].requiredNames
        case .member, .element, .elementUnion, .slice, .elements, .members, .memberUnion, .descendantMembers,
            .descendantUnion, .descendants:
            // One of a union's names is enough, so only what they have in common is needed.
            let bits = names(of: step).map { UInt64(1) << UInt64($0 & 63) }
            return bits.isEmpty ? 0 : bits.reduce(.max, &)
        }
    }

    /// Names without which a predicate cannot hold.
    package func requiredNames(of node: PathPredicate) -> UInt64 {
        let left = Int(node.left)
        let right = Int(node.right)
        switch node.operation {
        case .and: return predicates[left].requiredNames | predicates[right].requiredNames
        case .or: return predicates[left].requiredNames & predicates[right].requiredNames
        case .exists: return operands[left].path.requiredNames
        case .equal, .notEqual, .strictlyEqual, .strictlyNotEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
            .matches:
            return operands[left].path.requiredNames | operands[right].path.requiredNames
        }
    }

    /// Whether a predicate can hold for objects only.
    package func needsObject(_ node: PathPredicate) -> Bool {
        let left = Int(node.left)
        let right = Int(node.right)
        switch node.operation {
        case .and: return predicates[left].needsObject || predicates[right].needsObject
        case .or: return predicates[left].needsObject && predicates[right].needsObject
        case .exists: return startsAtMember(operands[left])
        case .equal, .notEqual, .strictlyEqual, .strictlyNotEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
            .matches:
            return startsAtMember(operands[left]) || startsAtMember(operands[right])
        }
    }

    private func startsAtMember(_ operand: PathOperand) -> Bool {
        guard operand.kind == .path, !operand.path.fromRoot, operand.path.count > 0 else { return false }
        switch steps[Int(operand.path.start)].operation {
        case .member, .memberUnion, .members: return true
        case .element, .elementUnion, .slice, .elements, .descendantMembers, .descendantUnion, .descendants,
            .filterChildren, .filterDescendants:
            return false
        }
    }

    /// The numbers of the names that `path` mentions, also in its filters, each once.
    package func mentionedNames(of path: PathReference) -> [UInt16] {
        var names: [UInt16] = []
        collect(path, &names)
        return names
    }

    private func collect(_ path: PathReference, _ names: inout [UInt16]) {
        guard !path.isAbsent else { return }
        for step in steps[Int(path.start)..<Int(path.start + path.count)] {
            for name in self.names(of: step) where !names.contains(name) { names.append(name) }
            if step.operation == .filterChildren || step.operation == .filterDescendants {
                collect(predicate: Int(step.argument), &names)
            }
        }
    }

    private func collect(predicate index: Int, _ names: inout [UInt16]) {
        let predicate = predicates[index]
        if predicate.operation == .and || predicate.operation == .or {
            collect(predicate: Int(predicate.left), &names)
            collect(predicate: Int(predicate.right), &names)
            return
        }
        collect(operands[Int(predicate.left)].path, &names)
        if predicate.operation != .exists { collect(operands[Int(predicate.right)].path, &names) }
    }
}
