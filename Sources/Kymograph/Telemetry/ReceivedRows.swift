import KymographCore

/// Counters of readings: where they enter, and where they end.
enum ReceivedRows {
    static let rows: [Counter] = [
        .ofSources(
            "kymo_readings_received_total", unit: "readings",
            "Readings received: mapped ones, and payloads that gave none",
            [.always(.balance, "received "), .always(.live, "received "), .always(.source, ": received ")]
        ) { $0.received },
        Counter(
            name: "kymo_source_rejected_total", kind: .counter, unit: "readings", labels: ["source", "reason"],
            help: "Readings, and payloads that gave none, rejected before they came to a window",
            phrases: [.always(.source, ", rejected ")]
        ) { input in
            (input.run?.sources ?? []).flatMap { source in
                Rejection.allCases.compactMap { reason in
                    let count = source.rejected[Int(reason.rawValue)]
                    return count > 0 ? ([source.name, reason.name], Double(count)) : nil
                }
            }
        },
        Counter(
            name: "kymo_readings_total", kind: .counter, unit: "readings", labels: ["result"],
            help: "Readings in windows (`accepted`), there already (`duplicate`), or replaced or replacing "
                + "(`conflict`)",
            phrases: [
                .custom(.balance) { context in
                    let counts = ["accepted", "duplicate", "conflict"].map {
                        "\($0) \(context.samples.total(context.name, "result", $0))"
                    }
                    return " = \(counts.joined(separator: " + "))"
                }
            ]
        ) { input in
            input.run.map { run in
                [
                    (["accepted"], Double(run.accepted)), (["duplicate"], Double(run.duplicate)),
                    (["conflict"], Double(run.conflict)),
                ]
            } ?? []
        },
        Counter(
            name: "kymo_rejected_total", kind: .counter, unit: "readings", labels: ["reason"],
            help: "Readings, and payloads that gave none, rejected by reason",
            phrases: [
                .always(.balance, " + rejected "), .always(.live, ", rejected "),
                .custom(.rejected) { context in
                    let reasons = context.samples.of(context.name).map {
                        "\($0.labels?["reason"] ?? "") \(Int($0.value))"
                    }
                    return reasons.isEmpty ? nil : "rejected: \(reasons.joined(separator: ", "))"
                },
            ]
        ) { input in
            guard let run = input.run else { return [] }
            return Rejection.allCases.compactMap { reason in
                let count = run.rejected[Int(reason.rawValue)]
                return count > 0 ? ([reason.name], Double(count)) : nil
            }
        },
        .ofRun(
            "kymo_retractions_total", unit: "retractions",
            "Retractions whose reading is out; others are rejected", [.ifAny(.balance, " + retractions ")]
        ) { $0.retractions },
        .ofRun(
            "kymo_readings_in_flight", .gauge, unit: "readings",
            "Readings that entered and have not ended anywhere: on their way; lost, when the instance has ended",
            [.ifAny(.balance, " + in flight ")]
        ) { $0.inFlight },
        .ofRun(
            "kymo_readings_withdrawn_total", unit: "readings",
            "Readings of an earlier run's journal that this run has rejected",
            [
                .custom(.withdrawn) { context in
                    let readings = CountText.of(context.value, "reading")
                    return context.value == 0 ? nil : "rejected \(readings) of an earlier run: see the dead letters"
                }
            ]
        ) { $0.withdrawn },
        .ofRun(
            "kymo_sequence_missing_total", unit: "frames",
            "Frames of bridges that had not come when a later one came, by their numbers",
            [.custom(.missing, missingFrames)]
        ) { $0.missingFrames },
        .ofRun("kymo_sequence_late_total", unit: "frames", "Those of them that came after all") { $0.lateFrames },
        .ofRun(
            "kymo_raw_payloads_total", unit: "payloads", "Payloads with readings that are kept as they came",
            [.ifAny(.payloads, "kept ", " payloads as they came")]
        ) { $0.keptPayloads },
        .ofRun(
            "kymo_raw_lost_total", unit: "payloads",
            "Payloads with readings that were not kept: of sources that may not wait for room, or above 64 MiB",
            [.ifAny(.payloads, ", could not keep ", " others")]
        ) { $0.lostPayloads },
    ]

    /// Those that never came.
    @Sendable private static func missingFrames(_ context: CounterPhrase.Context) -> String? {
        let count = context.value - context.total("kymo_sequence_late_total")
        return count > 0 ? "missing frames \(count), by the numbers of bridges" : nil
    }
}
