import KymographCore

/// Scans and validates lines, looking keys up as templates make it do.
package struct DecodeStage: ~Copyable, Stage {
    private let pool: LinePool
    private var validator: JSONValidator
    private var next = 0
    private var tokens = 0

    /// Scans the lines of `pool` over and over; `names` are the members that templates mention.
    package init(_ pool: LinePool, names: [String]) {
        self.pool = pool
        validator = JSONValidator(names: names)
    }

    /// Members that the workload's mapping mentions.
    package static let workloadNames = ["type", "device", "ts", "value", "sys", "dia"]
    /// Members that the health readings' mapping mentions.
    package static let healthNames = ["deviceId", "patientId", "endDate", "heartRate"]

    /// Scans `count` lines.
    package mutating func run(_ count: Int) {
        let lines = unsafe pool.lines
        for _ in 0..<count {
            do throws(ScanFailure) { tokens += try validator.validate(lines[next]) } catch { fatalError("\(error)") }
            next = next + 1 == lines.count ? 0 : next + 1
        }
    }
}
