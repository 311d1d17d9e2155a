/// Counters of sinks.
enum SinkRows {
    static let rows: [Counter] = [
        .ofSinks("kymo_outbox_entries", .gauge, unit: "rows", "Rows of the outbox that the sink has not taken") {
            Double($0.waiting)
        },
        .ofSinks(
            "kymo_outbox_oldest_age_seconds", .gauge, unit: "seconds", "Age of the oldest of them; 0 when none waits"
        ) { $0.oldestAge ?? 0 },
        .ofSinks(
            "kymo_sink_lacking", .gauge, unit: "resources",
            "Resources of which a FHIR server has kept an earlier version, and lacks the latest"
        ) { Double($0.lacking) },
        Counter(
            name: "kymo_sink_entries_total", kind: .counter, unit: "entries", labels: ["sink", "result"],
            help:
                "Entries that a FHIR server has stored (`delivered`), has deleted (`deleted`), or will not take "
                + "(`undeliverable`)",
            phrases: []
        ) { input in
            input.sinks.flatMap { sink in
                sink.delivery.map {
                    [
                        ([sink.name, "delivered"], Double($0.delivered)),
                        ([sink.name, "deleted"], Double($0.deleted ?? 0)),
                        ([sink.name, "undeliverable"], Double($0.undeliverable)),
                    ]
                } ?? []
            }
        },
        Counter(
            name: "kymo_sink_up", kind: .gauge, unit: "1", labels: ["sink"],
            help:
                "1 while the sink is given what there is; 0 while a server is not asked, refuses, or is left alone, or "
                + "files cannot be written",
            phrases: []
        ) { input in
            let servers = input.sinks.compactMap { sink in (sink.delivery?.isUp).map { (sink.name, $0) } }
            let outputs = (input.run?.outputs ?? []).map { ($0.name, $0.isUp) }
            return (servers + outputs).map { ([$0.0], $0.1 ? 1 : 0) }
        },
        Counter(
            name: "kymo_sink_requests_total", kind: .counter, unit: "requests", labels: ["sink", "code"],
            help: "Requests to a FHIR server by the status of the answer, `failed` when there was none", phrases: []
        ) { input in
            input.sinks.flatMap { sink in
                (sink.delivery?.traffic?.endings ?? []).map { ([sink.name, $0.code], Double($0.count)) }
            }
        },
        Counter(
            name: "kymo_sink_request_seconds", kind: .histogram, unit: "seconds", labels: ["sink"],
            help: "Time from sending a request to its answer, or to the failure", phrases: [], read: { _ in [] },
            durations: { input in
                input.sinks.compactMap { sink in (sink.delivery?.traffic?.durations).map { ([sink.name], $0) } }
            }),
        .ofTraffic("kymo_sink_sent_bytes_total", .counter, "bytes", "Bytes of bodies that were sent") {
            Double($0.sentBytes)
        },
        .ofTraffic(
            "kymo_sink_last_success_timestamp_seconds", .gauge, "seconds",
            "When the server last answered with a status from 200 to 299, since 1970"
        ) { $0.lastSuccess },
        Counter(
            name: "kymo_sink_concurrency", kind: .gauge, unit: "requests", labels: ["sink"],
            help: "Requests that may be under way now", phrases: []
        ) { input in
            input.sinks.compactMap { sink in (sink.delivery?.concurrency).map { ([sink.name], Double($0)) } }
        },
        Counter(
            name: "kymo_tls_certificate_expiry_timestamp_seconds", kind: .gauge, unit: "seconds",
            labels: ["sink", "certificate"],
            help:
                "When the first client certificate of the sink ends (`client`), or the first of its servers' own "
                + "certificates on their latest connections (`server`), since 1970",
            phrases: []
        ) { input in
            input.sinks.flatMap { sink in
                [("client", sink.delivery?.certificateExpiry), ("server", sink.delivery?.serverCertificateExpiry)]
                    .compactMap { certificate, expiry in expiry.map { ([sink.name, certificate], $0) } }
            }
        },
        .ofDeliveries(
            "kymo_sink_retries_total", .counter, unit: "requests", "Attempts after the first of their request"
        ) {
            Double($0.retries)
        },
        .ofDeliveries("kymo_sink_requests_in_flight", .gauge, unit: "requests", "Requests under way") {
            Double($0.inFlight)
        },
        .ofDeliveries(
            "kymo_sink_lookups", .gauge, unit: "answers",
            "Answers about Devices, Patients and Encounters that are used at present"
        ) { Double($0.lookups) },
        .ofDeliveries(
            "kymo_sink_oldest_lookup_age_seconds", .gauge, unit: "seconds", "Age of the oldest of them; 0 without any"
        ) { $0.oldestLookupAge ?? 0 },
        Counter(
            name: "kymo_close_to_sink_seconds", kind: .histogram, unit: "seconds", labels: ["sink"],
            help: "Time from the end of a window to when its Observation was in the sink for good; of each block of "
                + "entries the oldest, where no entry was refused",
            phrases: [], read: { _ in [] },
            durations: { input in
                let servers = input.sinks.compactMap { sink in (sink.delivery?.deliveryTimes).map { ([sink.name], $0) }
                }
                return servers + (input.run?.outputs ?? []).map { ([$0.name], $0.deliveryTimes) }
            }),
    ]
}
