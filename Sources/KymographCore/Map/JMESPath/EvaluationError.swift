/// Why an expression has no result for a document.
package struct EvaluationError: Error, BitwiseCopyable {
    /// What is wrong.
    enum Kind: UInt8, Sendable {
        /// An argument has a type that the function does not take.
        case invalidType
        /// An argument has the right type and a value that makes no sense.
        case invalidValue
        /// An integer was divided by zero.
        case divideByZero
        /// The result is no 64-bit integer.
        case overflow
        /// A position or time is outside of what there is.
        case outOfRange
        /// The cap on values, text or steps of one evaluation was reached.
        case tooManyValues
        /// Values are nested too deeply.
        case tooDeep
        /// Nobody can tell what a property of the event says (``UnclearProperty``): nothing is made of it.
        case unclear
    }

    var kind: Kind
    /// The function, when one found the error.
    var function: JMESPathFunction?
    /// Its argument, from 0.
    var argument: UInt8 = 0
    /// What that argument must be.
    var expected: JMESPathTypes = []
    /// Where in the expression, in bytes.
    package var offset: Int32 = 0

    /// What is wrong, in the words of the reference system where it has words for it.
    package var message: String {
        let name = function?.name ?? ""
        switch kind {
        case .invalidType:
            return "Error: invalid-type, function \(name) expects argument \(argument) to be one of the following: "
                + expected.text
        case .invalidValue:
            return "Error: invalid-value, function \(name) cannot use the value of argument \(argument)"
        case .divideByZero: return "Error: divide by zero, function \(name) divides integers by argument \(argument)"
        case .overflow: return "Error: overflow, the result of function \(name) does not fit 64 bits"
        case .outOfRange: return "Error: out of range, function \(name) cannot reach argument \(argument)"
        case .tooManyValues: return "Error: too many values, the expression makes more than one message may"
        case .tooDeep: return "Error: too deep, the values are nested too deeply"
        case .unclear: return "Error: unclear, nobody can tell what this property of the event says"
        }
    }

    /// The message with the place in `expression` that it is about.
    func description(in expression: String) -> String {
        "\(message) (byte \(offset) of: \(expression))"
    }
}
