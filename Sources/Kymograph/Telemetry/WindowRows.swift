import KymographCore

/// Counters of windows, and of what was written of them.
enum WindowRows {
    static let rows: [Counter] = [
        Counter(
            name: "kymo_windows_closed_total", kind: .counter, unit: "windows", labels: ["cause"],
            help: "Windows that were closed: their time had passed (`time`), their series brought nothing (`idle`), no "
                + "more late readings came (`late`), their type is not in use (`unused`), `kymo flush` asked for "
                + "it (`flush`), or everything ended (`end`)",
            phrases: []
        ) { input in
            input.run.map { run in WindowCause.allCases.map { ([$0.rawValue], Double(run.closings[$0])) } } ?? []
        },
        .ofRun(
            "kymo_late_readings_total", unit: "readings",
            "Readings that came when the time of their window had passed, and were not there already"
        ) { $0.lateReadings },
        .ofRun(
            "kymo_windows_written_total", unit: "windows",
            "Windows, or in instance grouping readings, that were written, preliminary ones included",
            [.always(.output, "windows "), .always(.live, ", windows ")]
        ) { $0.windows },
        .ofRun(
            "kymo_observations_written_total", unit: "Observations", "Observations written, replacements included",
            [.always(.output, ", observations "), .always(.live, ", observations ")]
        ) { $0.observations },
        .ofRun(
            "kymo_resources_written_total", unit: "resources", "Other resources written, replacements included",
            [.ifAny(.output, ", other resources ")]
        ) { $0.resources },
        .ofRun(
            "kymo_windows_amended_total", unit: "windows", "Windows written again because they changed",
            [.ifAny(.output, " (", " amended)")]
        ) { $0.amended },
        .ofRun(
            "kymo_readings_condensed_total", unit: "readings",
            "Values that SampledData series have less than readings, because readings share a slot as their template "
                + "asks",
            [.ifAny(.output, ", condensed readings ")]
        ) { $0.condensed },
        .ofRun(
            "kymo_windows_withheld_total", unit: "windows",
            "Windows that changed after they were written and could not be written again",
            [.ifAny(.withheld, "withheld ", ": changed windows whose numbers no longer fit 18 digits")]
        ) { $0.withheld },
        .ofRun(
            "kymo_windows_filtered_total", unit: "windows", "Windows that no sink is to get",
            [.ifAny(.filtered, "filtered ", ": windows that no sink is to get")]
        ) { $0.filtered },
        .ofRun(
            "kymo_windows_vetoed_total", unit: "windows", "Windows that rules keep from all sinks that are to get them",
            [.ifAny(.vetoed, "vetoed ", ": windows that rules keep from all sinks")]
        ) { $0.vetoed },
        .ofRun(
            "kymo_readings_passed_over_total", unit: "readings",
            "Readings without a number among others of their Observation",
            [.ifAny(.passedOver, "passed over ", ": readings without a number among others of their Observation")]
        ) { $0.losses.passedOver },
        Counter(
            name: UnwrittenText.counter, kind: .counter, unit: "values", labels: ["reason"],
            help: "Values that could not be written, beside others that were: readings of one correlation and time "
                + "contradict each other in it (`contradiction`), no reading has a value of its type (`invalidValue`), "
                + "a statistic does not fit 18 digits (`inexactNumber`), or a series has too many samples "
                + "(`valueTooLong`)",
            phrases: [
                .custom(.unwritten) { context in
                    UnwrittenText.of(context.samples).map {
                        "unwritten \(context.value): values that could not be written, beside others that were (\($0))"
                    }
                },
                .custom(.values) { context in
                    UnwrittenText.of(context.samples).map { "values not written \(context.value) (\($0))" }
                },
            ]
        ) { input in
            input.run.map { run in
                UnwrittenReason.allCases.map { ([$0.rawValue], Double(run.losses.unwrittenValues[$0])) }
            } ?? []
        },
        .ofRun(
            "kymo_observations_cut_tags_total", unit: "observations",
            "Observations without some tags of their readings, which have more than 64",
            [.ifAny(.cutTags, "cut tags ", ": Observations without some tags of their readings, which have too many")]
        ) { $0.losses.cutTags },
    ]
}

/// What ``CounterTable`` says of values that were not written.
enum UnwrittenText {
    static let counter = "kymo_values_unwritten_total"

    /// How many there are for each reason; none where there are no such values.
    static func counts(_ samples: CounterSamples) -> [(reason: String, count: Int)] {
        samples.of(counter).filter { $0.value > 0 }.map { ($0.labels?["reason"] ?? "unknown", Int($0.value)) }
    }

    /// `contradiction 2, valueTooLong 1`; nil for none.
    static func of(_ samples: CounterSamples) -> String? {
        let counts = counts(samples)
        return counts.isEmpty ? nil : counts.map { "\($0.reason) \($0.count)" }.joined(separator: ", ")
    }
}
