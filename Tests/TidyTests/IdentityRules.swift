import Foundation

/// Identifiers of devices, patients and encounters are bytes. A `String` is equal to another that is canonically
/// equivalent, so that two of them would be one: what holds or compares identifiers is an `IdentifierText`, or bytes.
enum IdentityRules {
    /// Folders where the rule holds. The CLI hands texts of its arguments on at once.
    private static let folders = ["Sources/Kymograph/", "Sources/KymographCore/", "Sources/KymographTemplates/"]

    /// The name of a client at an authorization server, which is nobody's identifier.
    private static let clientIdentifier = "Sources/Kymograph/Sinks/Server/Authorization/OAuthClient.swift"

    /// Paths with collections of texts that are no identifiers, and what their texts are.
    static let otherTexts = [
        "Sources/Kymograph/Configuration/": "keys, variables, names of files and patterns that a user wrote",
        "Sources/Kymograph/Archive/ArchiveEncoder.swift": "names of types",
        "Sources/Kymograph/Comparison/ObservationComparison.swift":
            "parts that differ, to be shown, and names of parts",
        "Sources/Kymograph/Console/": "parameters of requests, codes and secrets of sessions",
        "Sources/Kymograph/Archive/ArchiveFilter.swift": "names of types",
        "Sources/Kymograph/Archive/ReadingTable.swift": "names of values",
        "Sources/Kymograph/Ledger/LackingResources.swift": "names of sinks",
        "Sources/Kymograph/Ledger/LedgerReader.swift": "names of sinks, sources and reasons",
        "Sources/Kymograph/Ledger/LedgerReport.swift": "names of sinks, sources and reasons",
        "Sources/Kymograph/Preview/EventCheck.swift": "texts of findings",
        "Sources/Kymograph/Sinks/Server/Responses/": "codes of OperationOutcomes, types of resources",
        "Sources/Kymograph/Sinks/Server/Delivery/ServerContent.swift": "names of members",
        "Sources/Kymograph/Sinks/Kinds/": "keys of settings",
        "Sources/Kymograph/Store/LedgerBalance.swift": "names of reasons",
        "Sources/Kymograph/Store/SettledLetters.swift": "names of reasons",
        "Sources/Kymograph/Store/LedgerOutcome.swift": "names of outcomes",
        "Sources/Kymograph/Sinks/Outbox/ReasonCounts.swift": "names of reasons",
        "Sources/Kymograph/Store/Store+Ledger.swift": "names of sources",
        "Sources/Kymograph/Store/StoreDirectory.swift": "variables of the environment",
        "Sources/Kymograph/Store/SalvagedTable.swift": "names of tables and columns",
        "Sources/Kymograph/Store/StoreSalvage.swift": "names of tables",
        "Sources/Kymograph/Store/StoreSchema.swift": "names of tables",
        "Sources/Kymograph/Store/Migration/FormerReferences.swift": "names of members",
        "Sources/Kymograph/Store/StoredTypes.swift": "names of values",
        "Sources/Kymograph/Telemetry/": "names of counters and labels",
        "Sources/Kymograph/Control/FlushRequest.swift": "names of sinks",
        "Sources/Kymograph/Ledger/SourceReportReader.swift": "names of sources",
        "Sources/Kymograph/Pipeline/LaneConsumer.swift": "names of types and sources",
        "Sources/Kymograph/Support/LedgerSummary.swift": "names of reasons",
        "Sources/Kymograph/Pipeline/LetterTrial.swift": "names of types",
        "Sources/Kymograph/Pipeline/Output/DirectDelivery.swift": "names of types",
        "Sources/Kymograph/Pipeline/Output/WrittenBlocks.swift": "names of types",
        "Sources/Kymograph/Sinks/Outbox/OutboxQueue.swift": "names of types",
        "Sources/Kymograph/Sinks/Outbox/ReadingTypes.swift": "names of types",
        "Sources/Kymograph/Store/FlushProgress.swift": "names of sinks",
        "Sources/Kymograph/Store/StoreBatch.swift": "names of sinks and types",
        "Sources/Kymograph/Store/StoredOutbox.swift": "names of types",
        "Sources/Kymograph/Store/TypeSuccesses.swift": "names of sinks and types",
        "Sources/Kymograph/Archive/ArchiveTags.swift": "names of types",
        "Sources/Kymograph/Embedding/ReadingHook.swift": "names of values",
        "Sources/KymographCore/Rules/IntakeLimits.swift": "names of types",
        "Sources/Kymograph/Store/WindowDeparture.swift": "names of sinks",
        "Sources/KymographCore/FHIR/": "names of elements, codes, units",
        "Sources/KymographCore/Map/": "names of members, values, files and units",
        "Sources/KymographTemplates/": "names of elements, members, values, files and units",
    ]

    /// What is wrong with one file, as `path:line: what`.
    static func complaints(_ file: SourceFile, _ code: [Substring]) -> [String] {
        guard folders.contains(where: { file.path.hasPrefix($0) }) else { return [] }
        let mayCollect = otherTexts.keys.contains { file.path.hasPrefix($0) }
        let isWritten = file.path.hasPrefix("Sources/Kymograph/Configuration/")
        var found: [String] = []
        // Made once: to parse a pattern takes longer than to look for it in a line.
        let (names, collection) = (TextualName(), /Set<String>|\[String: |Dictionary<String|Set\(String\b/)
        for (number, line) in code.enumerated() {
            let place = "\(file.path):\(number + 1)"
            let mayName = isWritten || file.path == clientIdentifier
            if !mayName, let name = names.find(line) { found.append("\(place): \(name) is a String") }
            if !mayCollect, line.contains(collection) {
                found.append("\(place): a collection by String")
            }
        }
        return found
    }
}

/// A variable or parameter that is meant for an identifier and typed as text.
private struct TextualName {
    private let name = /\b(device|patient|encounter|correlation|gateway|wearer|subject|identifier|readingId)s?/
    private let label = /(?:\s+\w+)?: (?:inout )?/
    private let type = /\[?(?:String|Substring)\b/

    /// The name of one in `line`; nil when there is none.
    func find(_ line: Substring) -> String? {
        guard line.contains(": ") else { return nil }
        for match in line.matches(of: name) {
            guard let end = line[match.range.upperBound...].prefixMatch(of: label)?.range.upperBound else { continue }
            if line[end...].prefixMatch(of: type) != nil { return String(match.1) }
        }
        return nil
    }
}
