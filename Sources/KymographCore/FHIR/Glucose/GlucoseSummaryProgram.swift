/// The summary of one type of measurements.
struct GlucoseSummaryProgram: BitwiseCopyable {
    /// Value slot of the glucose, or -1.
    var slot: Int32 = -1
    var isMolar = false
    /// Whether Patient, Device and Observations have the reference's identifier systems.
    var isReference = false
    /// Nanoseconds.
    var samplePeriod: Int64 = 1
    /// For each part, among the constants: its name in identities, and what stands between its status and its subject.
    var names = InlineArray<7, TableRange>(repeating: TableRange())
    var heads = InlineArray<7, TableRange>(repeating: TableRange())
    /// What follows the number of a part, and of a range.
    var units = InlineArray<7, TableRange>(repeating: TableRange())
    /// Components up to their numbers.
    var ranges = InlineArray<5, TableRange>(repeating: TableRange())
    /// What stands in the place of a value that there is none of.
    var absence = TableRange()
}
