import KymographCore

/// Counters of the patient map.
enum PatientRows {
    private static let loaded = "kymo_patient_map_loaded_timestamp_seconds"

    static let rows: [Counter] = [
        of(
            "kymo_patient_map_rows", .gauge, unit: "periods", "Periods of the patient map in use",
            [
                .custom(.patients) { context in
                    context.total(loaded) > 0 ? "patient map: periods \(context.value)" : nil
                }
            ]
        ) { Double($0.rows) },
        of(
            loaded, .gauge, unit: "seconds", "When the patient map in use was read, in seconds since 1970",
            [
                .custom(.patients) { context in
                    context.value > 0 ? ", read at \(Instant(seconds: Int64(context.value)).text)" : nil
                }
            ]
        ) { Double($0.loaded.nanoseconds) / 1e9 },
        of(
            "kymo_patient_map_refused", .gauge, unit: "maps",
            "1 when the file of the patient map has errors and a former map stays in use, else 0",
            [
                .custom(.patients) { context in
                    context.value > 0 ? "; its file has errors since, see the log: this map stays in use" : nil
                }
            ]
        ) { $0.isRefused ? 1 : 0 },
        of(
            "kymo_patient_map_changed_periods_total", .counter, unit: "periods",
            "Periods of the past that came to be of another patient or encounter when the patient map was read again",
            [.ifAny(.patients, "; of the past, changed ", ": what was filed stays")]
        ) { Double($0.changedPeriods) },
        Counter(
            name: "kymo_patient_map_reloads_total", kind: .counter, unit: "reloads", labels: ["result"],
            help: "How often the patient map was read again, and took effect (`succeeded`) or had errors (`failed`)",
            phrases: []
        ) { input in
            input.run?.patients.map { facts in
                [(["succeeded"], Double(facts.reloads.succeeded)), (["failed"], Double(facts.reloads.failed))]
            } ?? []
        },
    ]

    private static func of(
        _ name: String, _ kind: Counter.Kind, unit: String, _ help: String, _ phrases: [CounterPhrase],
        _ value: @escaping @Sendable (PatientMapFacts) -> Double
    ) -> Counter {
        Counter(name: name, kind: kind, unit: unit, labels: [], help: help, phrases: phrases) { input in
            input.run?.patients.map { [([], value($0))] } ?? []
        }
    }
}
