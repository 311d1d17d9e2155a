/// Totals of the last minutes as a page that begins to listen gets them: of each total a list, of its first value and
/// then of what was added each second. Five minutes are a fifth of the bytes that the totals themselves would be.
struct LiveHistory {
    private static let totals: [(name: StaticString, value: @Sendable (LiveSample) -> Int)] = [
        ("id", { $0.id }), ("milliseconds", { Int(($0.time * 1_000).rounded()) }), ("received", { $0.received }),
        ("accepted", { $0.accepted }), ("rejected", { $0.rejected }), ("late", { $0.late }),
    ]

    /// The oldest first.
    var samples: ArraySlice<LiveSample>

    /// A JSON object.
    var json: [UInt8] {
        var object = JSONMembers()
        for (name, value) in Self.totals {
            var former = 0
            let added = samples.map { sample in
                let total = value(sample)
                defer { former = total }
                return total - former
            }
            object.add(name, numbers: added)
        }
        return object.finished()
    }
}
