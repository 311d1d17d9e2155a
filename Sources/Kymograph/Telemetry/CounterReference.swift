/// The table of `docs/metrics.md`, made from ``CounterTable``.
package enum CounterReference {
    /// Every counter with kind, unit, labels and meaning, as a Markdown table.
    package static var table: String {
        let head = "| Name | Kind | Unit | Labels | Meaning |\n| --- | --- | --- | --- | --- |\n"
        return head
            + CounterTable.rows.map { row in
                let labels = row.labels.map { "`\($0)`" }.joined(separator: ", ")
                return "| `\(row.name)` | \(row.kind.rawValue) | \(row.unit) | \(labels) | \(row.help) |\n"
            }.joined()
    }
}
