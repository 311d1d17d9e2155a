/// Which source a reading came from, as a number in its ``Measurement/mark``: windows keep it with each reading, so
/// that the ledger can say what each source contributed.
package enum ReadingSource {
    /// Stands for "unknown, or one of those beyond the numbers there are".
    package static let other = 15

    /// The mark of a reading of source `number`.
    @inline(__always)
    static func mark(_ number: Int) -> UInt8 { UInt8(truncatingIfNeeded: min(number, other)) << 4 }

    /// The source that `mark` names.
    @inline(__always)
    package static func number(_ mark: UInt8) -> Int { Int(mark >> 4) }
}
