/// Counters of mappings.
enum MappingRows {
    static let rows: [Counter] = [
        Counter(
            name: "kymo_mapping_matches_total", kind: .counter, unit: "readings", labels: ["mapping", "type"],
            help: "Readings that a mapping gave, by type; `other` is all types beyond 500", phrases: []
        ) { input in
            (input.run?.engine.readings ?? []).map { ([$0.mapping, $0.type], Double($0.count)) }
        },
        .ofRun(
            "kymo_mapping_left_out_total", unit: "values",
            "Optional values left out because their expression selected several tokens",
            [.ifAny(.leftOut, "left out ", ": optional values whose expression selected several tokens")]
        ) { $0.notes.leftOut },
        .ofRun(
            "kymo_mapping_wrapped_total", unit: "values", "Integer results beyond 64 bits, which were wrapped around",
            [.ifAny(.wrapped, "wrapped ", ": integer results beyond 64 bits")]
        ) { $0.notes.wrapped },
        Counter(
            name: "kymo_mapping_reloads_total", kind: .counter, unit: "reloads", labels: ["result"],
            help: "How often the mappings were loaded again, and took effect (`succeeded`) or had errors (`failed`)",
            phrases: [
                .custom(.reloads) { context in
                    guard context.value > 0 else { return nil }
                    let succeeded = context.samples.total(context.name, "result", "succeeded")
                    return "reloads \(succeeded), failed \(context.value - succeeded)"
                }
            ]
        ) { input in
            input.run.map { run in
                [(["succeeded"], Double(run.reloads.succeeded)), (["failed"], Double(run.reloads.failed))]
            } ?? []
        },
    ]
}
