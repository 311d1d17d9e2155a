import KymographCore
import KymographTemplates

/// A SampledData of one dimension and one grid, read for merging.
struct SeriesNode {
    private let node: JSONNode
    let data: String
    /// Nanoseconds between samples.
    let period: Int64

    /// Reads `node`; without a period it has `fallback`, where there is one.
    init(_ node: JSONNode, otherwise fallback: Int64? = nil) throws(ObservationMerge.Failure) {
        if let dimensions = node.member("dimensions")?.numberText, dimensions != "1" {
            throw ObservationMerge.Failure(message: "a series of \(dimensions) dimensions cannot be merged")
        }
        guard node.member("offsets") == nil, node.member("extension") == nil else {
            throw ObservationMerge.Failure(message: "a series with a time for each sample cannot be merged")
        }
        guard let data = node.member("data")?.string else {
            throw ObservationMerge.Failure(message: "a series without data cannot be merged")
        }
        self.node = node
        self.data = data
        period = try SeriesNode.period(node, otherwise: fallback)
    }

    private static func period(_ node: JSONNode, otherwise fallback: Int64?) throws(ObservationMerge.Failure) -> Int64 {
        // R5 calls it interval and states its unit.
        let text = node.member("period")?.numberText ?? node.member("interval")?.numberText
        guard let text else {
            if let fallback { return fallback }
            throw ObservationMerge.Failure(message: "a series without period cannot be merged")
        }
        let unit = node.member("intervalUnit")?.string ?? "ms"
        guard unit == "ms", let period = MillisecondText.parse(text), period > 0 else {
            throw ObservationMerge.Failure(message: "'\(text)' \(unit) is not a number of milliseconds above zero")
        }
        return period
    }

    /// The samples, of which the first is at `start`.
    func samples(from start: Instant) -> [SeriesSample] { SeriesText.parse(data, start: start, period: period) }

    /// Refuses a series whose numbers mean something else: another origin, factor or unit.
    func requireScale(of other: SeriesNode) throws(ObservationMerge.Failure) {
        for name in ["origin", "factor"] {
            guard let mine = node.member(name), mine.sortedText != other.node.member(name)?.sortedText else { continue }
            throw ObservationMerge.Failure(message: "the two series differ in their \(name)")
        }
        if node.member("factor") == nil, other.node.member("factor") != nil {
            throw ObservationMerge.Failure(message: "the two series differ in their factor")
        }
    }

    /// This series with other samples, over `effective`, on slots of `grid` nanoseconds.
    func replacing(
        _ samples: [SeriesSample], over effective: EffectiveTexts, grid: Int64, _ compatibility: Compatibility,
        keepsPeriod: Bool = false
    ) throws(ObservationMerge.Failure) -> JSONNode {
        let text = SeriesText.build(
            samples, start: effective.start, end: effective.end, period: grid, compatibility: compatibility)
        guard let text else {
            throw ObservationMerge.Failure(message: "the merged series would have more than 1048576 samples")
        }
        let replaced = node.setting("data", to: JSONNode(.string(text)))
        if keepsPeriod || grid == period { return replaced }
        var writer = ByteWriter()
        writer.append(milliseconds: grid)
        let name = node.member("interval") == nil ? "period" : "interval"
        return replaced.setting(name, to: JSONNode(.number(writer.view.string)))
    }

    /// The coarsest grid on which every sample of series with these periods and starts has its exact place.
    static func grid(_ periods: [Int64], _ starts: [Instant]) -> Int64 {
        var grid: Int64 = 0
        for period in periods { grid = divisor(grid, period) }
        for start in starts.dropFirst() {
            let (offset, overflow) = start.nanoseconds.subtractingReportingOverflow(starts[0].nanoseconds)
            grid = divisor(grid, overflow || offset == .min ? 1 : abs(offset))
        }
        return grid
    }

    private static func divisor(_ left: Int64, _ right: Int64) -> Int64 {
        var (left, right) = (left, right)
        while right != 0 { (left, right) = (right, left % right) }
        return left
    }
}
