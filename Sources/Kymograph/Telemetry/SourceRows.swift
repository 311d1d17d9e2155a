/// Counters of what sources read.
enum SourceRows {
    static let rows: [Counter] = all + topics

    private static let all: [Counter] = [
        .ofSources(
            "kymo_source_messages_total", unit: "messages",
            "Datagrams, messages, lines and frames, those that are too long or broken included"
        ) { Int($0.counts.datagrams + $0.counts.lines) },
        .ofSources(
            "kymo_source_broken_messages_total", unit: "messages",
            "Datagrams, messages, lines and frames that were too long, broken or not complete"
        ) { Int($0.counts.rejected) },
        .ofSources(
            "kymo_source_received_bytes_total", unit: "bytes",
            "Bytes of datagrams, or of streams with everything between payloads"
        ) { Int($0.counts.bytes) },
        .ofSources(
            "kymo_source_kernel_dropped_total", unit: "datagrams",
            "Datagrams that the kernel dropped, mostly because the receive buffer was full",
            [
                .custom(.kernelDropped, kernelDrops), .custom(.live) { ", kernel-dropped \($0.value)" },
                .always(.source, ", kernel-dropped "),
            ]
        ) { Int($0.counts.kernelDrops) },
        .ofSources(
            "kymo_source_connections_total", unit: "connections",
            "Clients accepted; for a stream that goes and comes back, how often it came back"
        ) { Int($0.counts.connections) },
        .ofSources(
            "kymo_source_connections_refused_total", unit: "connections",
            "Clients refused because too many were connected",
            [.ifAny(.connections, "refused connections "), .ifAny(.source, ", refused connections ")]
        ) { Int($0.counts.refusedConnections) },
        .ofSources(
            "kymo_source_connections_idle_total", unit: "connections",
            "Clients disconnected because they were silent, or their request was not complete, for too long",
            [
                .custom(.connections) { context in
                    guard context.value > 0 else { return nil }
                    let before = context.total("kymo_source_connections_refused_total") > 0 ? ", " : ""
                    return "\(before)idle connections \(context.value)"
                }, .ifAny(.source, ", idle connections "),
            ]
        ) { Int($0.counts.idleConnections) },
        .ofSources(
            "kymo_source_tls_failures_total", unit: "connections",
            "Connections of clients and to brokers that ended because there was no TLS: the other side did not speak "
                + "it, or one side did not accept the other's certificate",
            [.ifAny(.source, ", TLS failures ")]
        ) { Int($0.counts.tlsFailures) },
        .ofSources(
            "kymo_source_proxy_failures_total", unit: "connections",
            "Connections to a source with `proxies` that come from none of them, or do not begin with a good PROXY "
                + "header",
            [.ifAny(.source, ", PROXY failures ")]
        ) { Int($0.counts.proxyFailures) },
        Counter(
            name: "kymo_source_certificate_expiry_timestamp_seconds", kind: .gauge, unit: "seconds", labels: ["source"],
            help:
                "When the first of the certificates ends that a client, or the broker, would be shown now, since 1970",
            phrases: []
        ) { input in
            (input.run?.sources ?? []).compactMap { source in source.certificateExpiry.map { ([source.name], $0) } }
        },
        Counter(
            name: "kymo_auth_failures_total", kind: .counter, unit: "senders", labels: ["source", "reason"],
            help:
                "Connections, requests and datagrams of senders that the source's list of peers does not know, by what "
                + "did not show it: token, signature, certificate, psk, sealedKey, user, address",
            phrases: [.ifAny(.source, ", auth failures ")]
        ) { input in
            (input.run?.sources ?? []).flatMap { source in
                AuthFailure.allCases.compactMap { reason in
                    let count = source.counts.authFailures[reason]
                    return count > 0 ? ([source.name, reason.rawValue], Double(count)) : nil
                }
            }
        },
        Counter(
            name: "kymo_source_requests_refused_total", kind: .counter, unit: "requests", labels: ["source", "code"],
            help: "Requests of an `http` source that were refused, or not complete, by the status of the answer",
            phrases: [.ifAny(.source, ", refused requests ")]
        ) { input in
            (input.run?.sources ?? []).flatMap { source in
                source.counts.refusedRequests.sorted { $0.key < $1.key }
                    .map { ([source.name, String($0.key)], Double($0.value)) }
            }
        },
        Counter(
            name: "kymo_dtls_refusals_total", kind: .counter, unit: "refusals", labels: ["source", "reason"],
            help:
                "Datagrams and clients of a `udp` source with DTLS that were not taken, and associations that were "
                + "ended, by the limit or failure ([DTLS](dtls.md#limits-and-counters))",
            phrases: [.ifAny(.source, ", DTLS refusals ")]
        ) { input in
            (input.run?.sources ?? []).flatMap { source in
                AssociationRefusal.allCases.compactMap { reason in
                    let count = source.counts.associations[reason]
                    return count > 0 ? ([source.name, reason.rawValue], Double(count)) : nil
                }
            }
        },
        .ofSources(
            "kymo_source_receive_buffer_bytes", .gauge, unit: "bytes", "Receive buffer that the kernel granted"
        ) { $0.receiveBufferBytes },
        .ofSources(
            "kymo_source_connections", .gauge, unit: "connections",
            "Clients that are connected now, by DTLS, too; a serial line or standard input that is open counts as one"
        ) { Int($0.counts.openStreams) },
    ]

    /// Of topics of Kafka.
    private static let topics: [Counter] = [
        .ofTopics(
            "kymo_source_records_missed_total", .counter, unit: "records",
            "Records of a topic that were not read, at most: it no longer had them, or the position was set forward",
            [.ifAny(.topics, "missed records "), .ifAny(.source, ", missed records ")]
        ) { counts, _ in Int(counts.missedRecords) },
        .ofTopics(
            "kymo_source_records_behind", .gauge, unit: "records",
            "Records of a topic that were not read yet, as its brokers last said how many there are"
        ) { _, topic in topic.behind },
        .ofTopics(
            "kymo_source_partitions_halted", .gauge, unit: "partitions",
            "Partitions of a topic that are read no more, because what comes may not be what was to come",
            [.ifAny(.source, ", halted partitions ")]
        ) { _, topic in topic.halted },
        .ofTopics(
            "kymo_source_topic_up", .gauge, unit: "sources",
            "Whether records of a topic can come, of all partitions, and its group takes positions, and those of no "
                + "other client"
        ) { _, topic in topic.isUp ? 1 : 0 },
    ]

    /// The total, and what each socket has lost.
    @Sendable private static func kernelDrops(_ context: CounterPhrase.Context) -> String? {
        let sockets = context.input.run?.kernelDropsBySource ?? []
        let drops = sockets.map { "\($0.source) \($0.count)" }.joined(separator: ", ")
        let total = context.input.run?.kernelDropped ?? context.value
        return "kernel-dropped \(total)\(drops.isEmpty ? "" : " (\(drops))")"
    }
}

extension Counter {
    /// A row for each source that is a topic.
    fileprivate static func ofTopics(
        _ name: String, _ kind: Kind, unit: String, _ help: String, _ phrases: [CounterPhrase] = [],
        _ value: @escaping @Sendable (SourceCounts, KafkaProgress) -> Int
    ) -> Counter {
        Counter(name: name, kind: kind, unit: unit, labels: ["source"], help: help, phrases: phrases) { input in
            (input.run?.sources ?? []).compactMap { source in
                source.counts.topic.map { ([source.name], Double(value(source.counts, $0))) }
            }
        }
    }
}
