package import KymographCore

extension RuleExpression {
    /// Compiles `text`, in JMESPath with the functions of the mapping dialect.
    ///
    /// - Throws: ``ExpressionError`` with the byte where it goes wrong.
    package init(_ text: String) throws(ExpressionError) {
        var program = JMESPathProgram()
        let reference = try JMESPathParser.compile(text, into: &program)
        self.init(text: text, program: program, reference: reference)
    }
}
