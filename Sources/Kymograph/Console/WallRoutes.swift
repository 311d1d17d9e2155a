import KymographCore

/// The newest readings of all series that send.
enum WallRoutes {
    /// Most series whose names are asked for at a time.
    private static let mostNames = 1_000

    static let all: [ConsoleRoute] = [
        .get("wall") { (console, request) throws(ConsoleRefusal) in
            let former = try request.number("after").map { Int(clamping: $0) }
            do throws(PipelineError) {
                let answer = try console.wall.answer(after: former, at: WallClock.now())
                var object = JSONMembers()
                object.add("slices", list: answer.slices)
                object.add("isMore", if: answer.isMore)
                return .json(bytes: object.finished())
            } catch {
                throw ConsoleRefusal(error)
            }
        },
        .get("wall/names") { (console, request) throws(ConsoleRefusal) in
            let numbers = (request.query["of"] ?? "").split(separator: ",").prefix(mostNames).compactMap { Int($0) }
            let reader = try console.subject.reader()
            do throws(PipelineError) { return .json(bytes: json(try reader.series(numbers: numbers))) } catch {
                throw ConsoleRefusal(error)
            }
        },
    ]

    private static func json(_ all: [(series: StoredSeries, type: String, unit: String?)]) -> [UInt8] {
        var names = WallNames()
        for one in all {
            let mask = SeriesRoutes.mask.name(one.series.device).text
            names.append(one.series.number, type: one.type, unit: one.unit, mask: mask)
        }
        return names.json
    }
}
