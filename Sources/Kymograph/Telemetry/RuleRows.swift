/// Counters of rules.
enum RuleRows {
    static let rows: [Counter] = [
        Counter(
            name: "kymo_rule_readings_total", kind: .counter, unit: "readings", labels: ["rule"],
            help: "Readings that a rule has dropped or rejected", phrases: []
        ) { input in
            (input.run?.rules ?? []).map { ([$0.rule], Double($0.count)) }
        }
    ]
}
