/// The summary of one type of measurements.
package struct GlucoseSummaryProgram: BitwiseCopyable {
    /// Value slot of the glucose, or -1.
    package var slot: Int32 = -1
    package var isMolar = false
    /// Whether Patient, Device and Observations have the reference's identifier systems.
    package var isReference = false
    /// Nanoseconds.
    package var samplePeriod: Int64 = 1
    /// For each part, among the constants: its name in identities, and what stands between its status and its subject.
    package var names = InlineArray<7, TableRange>(repeating: TableRange())
    package var heads = InlineArray<7, TableRange>(repeating: TableRange())
    /// What follows the number of a part, and of a range.
    package var units = InlineArray<7, TableRange>(repeating: TableRange())
    /// Components up to their numbers.
    package var ranges = InlineArray<5, TableRange>(repeating: TableRange())
    /// What stands in the place of a value that there is none of.
    package var absence = TableRange()

    package init() {
    }
}
