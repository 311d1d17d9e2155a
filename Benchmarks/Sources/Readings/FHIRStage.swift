import KymographCore

/// Writes Observations of 21 heart rates each (the workload's mean) into bundles.
public struct FHIRStage: ~Copyable, Stage {
    private var bundles: BundleWriter
    private var readings: RawArray<Measurement>
    private let series: [SeriesIdentity]
    private var number: Int64 = 0
    private var bytes = 0

    /// Readings of an Observation.
    public static let readingsPerObservation = 21

    /// Writes Observations of `devices` devices in turn.
    public init(devices: Int = 32) {
        bundles = Workload.bundles(Workload.mappings())
        readings = RawArray(capacity: FHIRStage.readingsPerObservation)
        for index in 0..<FHIRStage.readingsPerObservation {
            let instant = Instant(seconds: Int64(Workload.start) / 1_000 + Int64(index) * 14)
            var reading = Measurement(instant: instant, received: Workload.received)
            reading.setInline(0, Decimal64(mantissa: Int64(60 + index * 7 % 40)))
            readings.append(reading)
        }
        series = (0..<devices).map { SeriesIdentity(type: 0, device: Array("dev-\(10_000 + $0)".utf8)) }
    }

    /// Bytes written so far.
    public var bytesWritten: Int { bytes }

    /// Writes `count` Observations.
    public mutating func run(_ count: Int) {
        let period: Int64 = 300_000_000_000
        for _ in 0..<count {
            let start = Instant(seconds: Int64(Workload.start) / 1_000).advanced(
                by: number / Int64(series.count) * period)
            let content = WindowContent(
                series: series[Int(number) % series.count], start: start, end: start.advanced(by: period),
                status: .final, readings: readings.list(0..<readings.count), payloads: ByteView(""))
            while true {
                switch bundles.add(content) {
                case .added: break
                case .skipped(let reason): fatalError("skipped: \(reason)")
                case .full, .repeated:
                    bytes += bundles.finish().count
                    bundles.reset()
                    continue
                }
                break
            }
            number += 1
        }
    }

    /// One Observation's bytes, to compare with copying them.
    public mutating func sample() -> [UInt8] {
        bundles.reset()
        run(1)
        let sample = bundles.finish().array
        bundles.reset()
        return sample
    }
}
