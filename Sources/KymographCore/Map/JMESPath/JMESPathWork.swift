/// What an evaluation has cost so far, its caps, and where it is.
struct JMESPathWork {
    /// Of these, `values` caps the steps of one evaluation at four times as many, and `depth` the nesting of values, at
    /// as many levels more as an expression can add.
    let limits: ScanLimits
    /// Where the evaluation is, for errors.
    var place: Int32 = 0
    var calling = JMESPathFunction.abs
    /// Most bytes of text.
    private(set) var textEnd = 0
    private var steps = 0

    init(limits: ScanLimits) { self.limits = limits }

    /// Counts anew; text may be made up to `textEnd`.
    mutating func begin(textEnd: Int) {
        steps = 0
        self.textEnd = textEnd
    }

    func failure(_ kind: EvaluationError.Kind, argument: Int = 0) -> EvaluationError {
        EvaluationError(kind: kind, function: calling, argument: UInt8(clamping: argument), offset: place)
    }

    /// Counts `count` steps.
    @inline(__always)
    mutating func count(_ count: Int) throws(EvaluationError) {
        steps += count
        if steps > 4 * limits.values { throw failure(.tooManyValues) }
    }

    /// Counts steps without looking at the cap, which the next node does.
    @inline(__always)
    mutating func charge(_ count: Int) { steps += count }

    func allowDepth(_ depth: Int) throws(EvaluationError) {
        if depth > limits.depth + 2 * JMESPathProgram.deepestTree { throw failure(.tooDeep) }
    }
}
