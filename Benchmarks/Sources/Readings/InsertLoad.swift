import KymographCore

/// Readings for many series: each round brings one of each, in an order without order.
struct InsertLoad {
    /// Length of a window.
    static let period: Int64 = 300_000_000_000
    /// Kinds of readings that each device sends.
    static let types = 4

    /// Rounds of a window after which the one before has closed everywhere: lateness is a tenth of a window, and there
    /// are at most 40 readings in it.
    static let warmRounds = 5

    /// Readings that a shard finds at once: after so many a lane that is in the middle of others publishes.
    static let batch = 128

    private let order: [UInt32]
    private let step: Int64
    private var place = 0
    private(set) var round = 0

    /// `perWindow` readings of each series fall into a window.
    init(devices: Int, perWindow: Int) {
        var random = SplitMix64(seed: 4)
        var order = (0..<UInt32(devices * InsertLoad.types)).map { $0 }
        for index in stride(from: order.count - 1, to: 0, by: -1) {
            order.swapAt(index, Int(random.below(UInt64(index + 1))))
        }
        self.order = order
        step = InsertLoad.period / Int64(perWindow)
    }

    /// Number of series.
    var count: Int { order.count }

    /// Series and time of the next reading.
    @inline(__always)
    mutating func next() -> (series: UInt32, instant: Int64) {
        let series = order[place]
        let instant = Int64(Workload.start) * 1_000_000 + Int64(round) * step
        place += 1
        if place == order.count {
            place = 0
            round += 1
        }
        return (series, instant)
    }

    /// The series that a number stands for.
    func identity(_ series: Int) -> SeriesIdentity {
        SeriesIdentity(
            type: series % InsertLoad.types, device: Array("dev-\(1_000_000 + series / InsertLoad.types)".utf8))
    }
}
