/// An expression of a rule, compiled.
package struct RuleExpression: Sendable {
    /// As it is written.
    package let text: String
    let program: JMESPathProgram
    let reference: JMESPathReference

    /// The expression `text`, which is at `reference` of `program`.
    package init(text: String, program: JMESPathProgram, reference: JMESPathReference) {
        (self.text, self.program, self.reference) = (text, program, reference)
    }
}

/// What a rule makes of a value.
package enum RuleValue: Hashable, Sendable {
    case number(Decimal64)
    case text([UInt8])
}

/// A value that a rule sets.
package struct RuleChange: Sendable {
    /// What it becomes.
    package enum Content: Sendable {
        case constant(RuleValue)
        /// What an expression gives.
        case expression(RuleExpression)
    }

    /// The name of the value.
    package var name: String
    /// What it becomes.
    package var content: Content

    /// A change of the value `name`.
    package init(name: String, content: Content) { (self.name, self.content) = (name, content) }
}
