/// The functions that look at nothing but their arguments; ``JMESPathEvaluator`` has those that evaluate an expression.
struct JMESPathFunctions: ~Copyable {
    var collections = JMESPathCollections()
    private var numbers = JMESPathNumbers()
    /// What arguments must be, ``parametersPerFunction`` for each function.
    private let types = RawArray(
        JMESPathFunction.allCases.flatMap { function in
            (0..<JMESPathFunctions.parametersPerFunction).map {
                function.parameters[min($0, function.parameters.count - 1)]
            }
        })

    private static let parametersPerFunction = 3

    /// Integer results that were wrapped around, since the start.
    var wraps: Int { numbers.wraps }

    /// Makes sure that the argument `handle` of the function that is called is of the right type. Expressions are on
    /// the stack as -1 minus the number of their node.
    func check(_ handle: Int, argument: Int, _ values: inout JMESPathValues) throws(EvaluationError) {
        let parameter = min(argument, JMESPathFunctions.parametersPerFunction - 1)
        let expected = types[Int(values.work.calling.rawValue) * JMESPathFunctions.parametersPerFunction + parameter]
        if handle < 0 ? expected.contains(.expression) : try values.has(handle, oneOf: expected) { return }
        var error = values.failure(.invalidType, argument: argument)
        error.expected = expected
        throw error
    }

    /// Calls `function`, whose arguments are on the stack from `first` on and have the right types; nil when it
    /// evaluates an expression for each element.
    mutating func result(
        of function: JMESPathFunction, _ first: Int, _ values: inout JMESPathValues
    ) throws(EvaluationError) -> Int? {
        let argument = values.stack[first]
        switch function {
        case .abs: return try numbers.absolute(argument, &values)
        case .avg: return try numbers.average(argument, &values)
        case .ceil: return try numbers.rounded(argument, .up, &values)
        case .floor: return try numbers.rounded(argument, .down, &values)
        case .sum: return try numbers.sum(argument, &values)
        case .toNumber: return try numbers.number(from: argument, &values)
        case .add: return try numbers.arithmetic(.add, argument, values.stack[first + 1], &values)
        case .subtract: return try numbers.arithmetic(.subtract, argument, values.stack[first + 1], &values)
        case .multiply: return try numbers.arithmetic(.multiply, argument, values.stack[first + 1], &values)
        case .divide: return try numbers.arithmetic(.divide, argument, values.stack[first + 1], &values)
        case .pow: return try numbers.arithmetic(.pow, argument, values.stack[first + 1], &values)
        case .fromUnixTimestamp: return try numbers.time(from: argument, perSecond: 1, &values)
        case .fromUnixTimestampMs: return try numbers.time(from: argument, perSecond: 1000, &values)
        case .endsWith: return try JMESPathStrings.ends(argument, with: values.stack[first + 1], &values)
        case .startsWith: return try JMESPathStrings.starts(argument, with: values.stack[first + 1], &values)
        case .insertString: return try JMESPathStrings.inserted(first, &values)
        case .join: return try JMESPathStrings.joined(argument, values.stack[first + 1], &values)
        case .toString: return try JMESPathStrings.string(from: argument, &values)
        case .max, .min: return try collections.extreme(first, keys: nil, &values)
        case .sort: return try collections.sorted(argument, &values)
        case .length: return try collections.length(argument, &values)
        case .type: return collections.typeName(argument, values)
        case .contains: return try collections.contains(argument, values.stack[first + 1], &values)
        case .reverse: return try collections.reversed(argument, &values)
        case .keys: return try collections.keys(argument, &values)
        case .values: return try collections.memberValues(argument, &values)
        case .items: return try collections.items(argument, &values)
        case .merge: return try collections.merged(first, &values)
        case .notNull: return collections.notNull(first, values)
        case .toArray: return try collections.array(from: argument, &values)
        case .map, .maxBy, .minBy, .sortBy: return nil
        }
    }
}
