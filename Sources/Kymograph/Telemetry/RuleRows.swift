/// Counters of rules and tags.
enum RuleRows {
    static let rows: [Counter] = [
        Counter(
            name: "kymo_refused_lists", kind: .gauge, unit: "files", labels: ["kind"],
            help: "Files of rules (`rules`), and of peers (`peers`), that have errors: former ones stay in use",
            phrases: []
        ) { input in
            input.run.map { run in
                [(["rules"], Double(run.refusedLists.rules)), (["peers"], Double(run.refusedLists.peers))]
            } ?? []
        },
        of("kymo_rule_readings_total", "readings", "rule", "Readings that a rule has dropped or rejected") {
            $0.refused
        },
        of("kymo_rule_rewritten_total", "readings", "rule", "Readings that a rule has given other values or tags") {
            $0.rewritten
        },
        of(
            "kymo_rule_entries_total", "resources", "rule",
            "Versions of Observations and other resources that a rule has vetoed, patched or kept from deletion"
        ) { $0.entries },
        of(
            "kymo_tag_readings_total", "readings", "tag",
            "Readings that got a tag from a rule, their source, their peer or the patient map; `other` is all tags "
                + "beyond 32, and beyond 16 that messages bring"
        ) { $0.tagged },
    ]

    private static func of(
        _ name: String, _ unit: String, _ label: String, _ help: String,
        _ counts: @escaping @Sendable (RuleCounts.Facts) -> [(name: String, count: Int)]
    ) -> Counter {
        Counter(name: name, kind: .counter, unit: unit, labels: [label], help: help, phrases: []) { input in
            (input.run.map { counts($0.rules) } ?? []).map { ([$0.name], Double($0.count)) }
        }
    }
}
