import KymographCore

/// The newest readings of all series that send.
enum WallRoutes {
    /// Most series whose names are asked for at a time.
    private static let mostNames = 1_000

    static let all: [ConsoleRoute] = [
        .get("wall") { (console, request) throws(ConsoleRefusal) in
            let former = try request.number("after").map { Int(clamping: $0) }
            do throws(PipelineError) {
                return .json(bytes: json(try console.wall.slices(after: former, at: WallClock.now())))
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

    private static func json(_ slices: [WallFeed.Slice]) -> [UInt8] {
        var object = JSONMembers()
        object.add("slices", list: slices.map(json))
        return object.finished()
    }

    private static func json(_ slice: WallFeed.Slice) -> [UInt8] {
        var object = JSONMembers()
        object.add("id", slice.id)
        object.add("time", Int(slice.time.nanoseconds / 1_000_000_000))
        object.add("readings", list: slice.readings.map(json))
        object.add("isBeginning", if: slice.isBeginning)
        object.add("isPartial", if: slice.isPartial)
        return object.finished()
    }

    /// The number of the series, how many readings came, the time of the latest in milliseconds since 1970, and its
    /// number or null.
    private static func json(_ one: NewestReadings.Series) -> [UInt8] {
        let value = one.value.map { "\($0.mantissa)e\($0.exponent)" } ?? "null"
        return Array("[\(one.number),\(one.count),\(one.last.nanoseconds / 1_000_000),\(value)]".utf8)
    }

    private static func json(_ all: [(series: StoredSeries, type: String)]) -> [UInt8] {
        var object = JSONMembers()
        object.add(
            "series",
            list: all.map { one in
                var object = JSONMembers()
                object.add("number", one.series.number)
                object.add("type", one.type)
                object.add("device", SeriesRoutes.mask.name(one.series.device).text)
                return object.finished()
            })
        return object.finished()
    }
}
