/// pyarrow and DuckDB, which read what was exported: Tests/Validation/parquet_judge.py.
package enum ParquetJudge {
    /// Whether they are there.
    package static let canRun: Bool =
        (try? ChildProcess(SharedMaterial.python, ["-c", "import pyarrow.dataset, duckdb"]).wait()) == .exit(0)

    /// What they find wrong.
    package static func complaints(_ arguments: [String]) throws -> String {
        let script = "\(SharedMaterial.package)/Tests/Validation/parquet_judge.py"
        let done = try ChildProcess(SharedMaterial.python, [script] + arguments).finish(seconds: 240)
        return done.end == .exit(0) ? done.text : "\(done.text)\n\(done.error)"
    }
}
