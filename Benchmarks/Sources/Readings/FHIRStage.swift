package import KymographCore

/// Encodes Observations of 21 heart rates each (the workload's mean), and puts them together in bundles.
package struct FHIRStage: ~Copyable, Stage {
    private var entries: EntryWriter
    private var assembler = BundleAssembler()
    /// Owns the readings of ``contents``.
    private let readings: ReadingSlab
    /// Windows of all devices in turn, made before: what copies a series costs is none of what is measured.
    private let contents: [WindowContent]
    private var number = 0
    private var bytes = 0
    /// Where finished bundles, and their blocks, are kept, when they are.
    private var kept: [UInt8]?
    private var keptBlocks: [[UInt8]]?

    /// Readings of an Observation.
    package static let readingsPerObservation = 21

    /// Length of a window in nanoseconds.
    static let period: Int64 = 300_000_000_000
    /// Windows of a device before they begin again.
    static let windows = 512
    /// The start of window `number`.
    static func start(of number: Int) -> Instant {
        Instant(seconds: Int64(Workload.start) / 1_000).advanced(by: Int64(number) * period)
    }
    /// The heart rate of reading `index`.
    static func rate(_ index: Int) -> Int64 { Int64(60 + index * 7 % 40) }

    /// Writes Observations of `devices` devices in turn, to bundles or lines.
    package init(devices: Int = 32, format: ObservationOptions.Format = .bundle) {
        entries = Workload.entries(Workload.mappings(), format)
        var readings: [(reading: Measurement, payload: [UInt8])] = []
        for window in 0..<FHIRStage.windows {
            for index in 0..<FHIRStage.readingsPerObservation {
                let instant = FHIRStage.start(of: window).advanced(by: Int64(index) * 14_000_000_000)
                var reading = Measurement(instant: instant, received: Workload.received)
                reading.setInline(0, Decimal64(mantissa: FHIRStage.rate(index)))
                readings.append((reading, []))
            }
        }
        let slab = ReadingSlab(readings)
        let series = (0..<devices).map { SeriesIdentity(type: 0, device: Array("dev-\(10_000 + $0)".utf8)) }
        var contents: [WindowContent] = []
        for window in 0..<FHIRStage.windows {
            let start = FHIRStage.start(of: window)
            let first = window * FHIRStage.readingsPerObservation
            for device in series {
                contents.append(
                    WindowContent(
                        series: device, start: start, end: start.advanced(by: FHIRStage.period), status: .final,
                        readings: slab.readings(from: first, count: FHIRStage.readingsPerObservation)))
            }
        }
        self.readings = slab
        self.contents = contents
    }

    /// Bytes written so far.
    package var bytesWritten: Int { bytes }

    /// Writes `count` Observations.
    package mutating func run(_ count: Int) {
        for _ in 0..<count {
            let next = number % contents.count
            switch entries.add(contents[next]) {
            case .skipped(let reason): fatalError("skipped: \(reason)")
            case .added(let addition):
                if addition.isOverfull {
                    assemble(entries.finish(isOverfull: true))
                    entries.begin(with: contents[next])
                }
            }
            number += 1
        }
    }

    private mutating func assemble(_ block: ByteView) {
        guard let bundle = assembler.text(of: block) else { fatalError("the block cannot be read") }
        bytes += bundle.count
        if kept != nil { kept?.append(contentsOf: bundle.array) }
        if keptBlocks != nil { keptBlocks?.append(block.array) }
    }

    /// The bundles that writing `count` Observations fills.
    mutating func finishedBundles(of count: Int) -> [UInt8] {
        kept = []
        run(count)
        return kept ?? []
    }

    /// The blocks that writing `count` Observations fills.
    mutating func finishedBlocks(of count: Int) -> [[UInt8]] {
        keptBlocks = []
        run(count)
        return keptBlocks ?? []
    }

    /// Bytes of a bundle for each of its Observations, on average.
    package static func bytesPerObservation() -> Int {
        var stage = FHIRStage()
        stage.run(8_192)
        return stage.bytesWritten / 8_192
    }

    /// One Observation's bytes, to compare with copying them.
    package mutating func sample() -> [UInt8] {
        entries.reset()
        run(1)
        let sample = assembler.text(of: entries.finish())?.array ?? []
        entries.reset()
        return sample
    }
}
