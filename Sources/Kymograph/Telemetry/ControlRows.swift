/// Counters of what is paused, and of what sinks have taken by type.
enum ControlRows {
    /// Most pairs of a sink and a type that are shown; those that were taken last.
    private static let mostTypes = 500

    static let rows: [Counter] = [
        Counter(
            name: "kymo_paused_seconds", kind: .gauge, unit: "seconds", labels: ["kind", "name"],
            help: "For how long a type or source has been paused", phrases: []
        ) { input in
            (input.stored?.paused ?? []).map { ([$0.kind, $0.name], $0.seconds) }
        },
        Counter(
            name: "kymo_sink_type_last_success_timestamp_seconds", kind: .gauge, unit: "seconds",
            labels: ["sink", "type"],
            help: "When the sink last took readings of the type, since 1970; of more than 500 pairs, the latest",
            phrases: []
        ) { input in
            let all = input.stored?.successes ?? []
            let latest = all.count <= mostTypes ? all[...] : all.sorted { $0.seconds > $1.seconds }.prefix(mostTypes)
            return latest.map { ([$0.sink, $0.type], Double($0.seconds)) }
        },
    ]
}
