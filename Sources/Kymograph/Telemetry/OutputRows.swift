/// Counters of what was put out.
enum OutputRows {
    static let rows: [Counter] = [
        .ofRun(
            "kymo_output_bundles_total", unit: "bundles", "Bundles, or blocks of NDJSON",
            [.custom(.output) { hasNoWriter($0) ? nil : ", bundles \($0.value)" }]
        ) { $0.bundles },
        .ofRun(
            "kymo_output_bytes_total", unit: "bytes", "Bytes of output before compression",
            [
                .custom(.output) { hasNoWriter($0) ? nil : ", bytes \($0.value)" },
                .custom(.output, bytesPerReading),
            ]
        ) { $0.bytes },
        .ofRun(
            "kymo_output_undelivered_total", unit: "bundles", "Bundles that could not be delivered before the end",
            [.ifAny(.undelivered, "undelivered bundles ")]
        ) { $0.undeliveredBundles },
    ]

    /// Whether all entries go to servers, each of which tells its numbers itself.
    @Sendable private static func hasNoWriter(_ context: CounterPhrase.Context) -> Bool {
        context.value == 0 && !(context.input.run?.deliveries.isEmpty ?? true)
    }

    @Sendable private static func bytesPerReading(_ context: CounterPhrase.Context) -> String? {
        guard context.value > 0 || !hasNoWriter(context) else { return nil }
        let accepted = context.samples.total("kymo_readings_total", "result", "accepted")
        guard accepted > 0 else { return nil }
        let tenths = (context.value * 10 + accepted / 2) / accepted
        return ", \(tenths / 10).\(tenths % 10) bytes per reading"
    }
}
