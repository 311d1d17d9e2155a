/// Numbers that every row has, most of which follow from the one before: times.
struct NumberColumn {
    let column: ParquetColumn
    private var values: [Int64] = []

    init(_ name: String, _ form: ParquetColumn.Form) {
        column = ParquetColumn(name: name, form: form, isOptional: false)
    }

    @inline(__always)
    mutating func append(_ value: Int64) { values.append(value) }

    /// The pages of what was appended, which is forgotten.
    mutating func takePages() -> ColumnPages {
        var pages = ColumnPages()
        pages.encoding = .delta
        pages.count = values.count
        DeltaNumbers.append(values, to: &pages.data)
        if let least = values.min(), let greatest = values.max() {
            (pages.least, pages.greatest) = (NumberColumn.bytes(least), NumberColumn.bytes(greatest))
        }
        values.removeAll(keepingCapacity: true)
        return pages
    }

    /// A number as Parquet has it.
    static func bytes(_ value: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> Int64(8 * $0)) }
    }
}
