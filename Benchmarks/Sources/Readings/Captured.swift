import KymographCore

/// A mapped reading, ready to be sent again.
struct Captured {
    var measurement: Measurement
    /// Index into the keys.
    var series: Int
}

/// Keeps what a mapper makes of lines, for the stages behind it.
struct CapturingOutput: ~Copyable, MeasurementOutput {
    var readings: [Captured] = []
    var keys: [[UInt8]] = []
    private var numbers: [[UInt8]: Int] = [:]

    mutating func accept(
        _ measurement: Measurement, payload: ByteView, key: ByteView, template: Int32
    ) -> Rejection? {
        let bytes = key.array
        let number = numbers[bytes] ?? keys.count
        if number == keys.count {
            keys.append(bytes)
            numbers[bytes] = number
        }
        readings.append(Captured(measurement: measurement, series: number))
        return nil
    }

    mutating func reject(_ reason: Rejection, bytes: ByteView, detail: RejectionDetail) {
        fatalError("the workload gives only good readings: \(reason)")
    }

    /// Maps all of `pool`.
    static func capture(_ pool: LinePool, _ set: MappingSet) -> CapturingOutput {
        var output = CapturingOutput()
        var mapper = Mapper(set, templates: set.templates(of: ["workload"]))
        let context = SourceContext()
        for line in unsafe pool.lines {
            mapper.mapLine(line, context: context, received: Workload.received, output: &output)
        }
        return output
    }
}
