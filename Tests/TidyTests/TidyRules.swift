import Foundation

/// The style of the project as far as a machine can check it.
enum TidyRules {
    static let longestLine = 120
    static let longestFile = 600
    static let longestFunction = 70
    static let largestMedian = 8

    /// Folders where memory is handled without the compiler's checks; each use there says why it is safe.
    static let unsafeFolders = [
        "Sources/KymographCore/Memory/", "Sources/Kymograph/System/", "Sources/Kymograph/Ingest/",
        "Sources/Kymograph/Sinks/", "Sources/Kymograph/Crypto/",
    ]
    /// Files elsewhere that may, and why.
    static let unsafeFiles = [
        "Sources/EmbedMappings/ZstdFrame.swift": "calls zstd at build time",
        "Sources/Kymograph/Store/StoredBody.swift": "calls zstd and the checksum of the C shim",
        "Sources/Kymograph/Store/WindowStatement.swift": "calls SQLite's own interface",
        "Sources/Kymograph/Control/ControlSocket.swift": "calls the socket interface",
        "Sources/Kymograph/HTTP/HTTPSocket.swift": "calls the socket interface",
        "Sources/Kymograph/Kafka/KafkaLibrary.swift": "calls the C shim of librdkafka",
        "Sources/Kymograph/Support/ProgramVersions.swift": "asks the system's libraries for their versions",
        "Sources/Kymograph/Store/StorePages.swift": "calls the C shim of SQLite's pages",
        "Sources/KymographTestKit/Sending/SendingSocket.swift": "calls the socket interface to send test traffic",
        "Sources/kymo/StandardDescriptors.swift": "reads and writes the standard descriptors",
    ]

    /// Files that need all of Foundation, and what for; others have FoundationEssentials, which knows no locales.
    static let foundationFiles = [
        "Sources/EmbedMappingsPlugin/EmbedMappingsPlugin.swift": "what the package manager's plugins use",
        "Sources/Kymograph/Ledger/LackingResources.swift": "percent-decoding of names",
        "Sources/Kymograph/System/WorkerThread.swift": "threads with a stack of their own size",
        "Sources/Kymograph/Sinks/Server/Identity/IdentifierChecks.swift": "folding of letters without a locale",
        "Sources/Kymograph/Store/EntryLetter.swift": "search in data",
        "Sources/KymographTestKit/Latency/LatencyRun.swift": "threads and a file handle",
        "Sources/kymo/Journal.swift": "another program that it runs",
    ]
    /// Interfaces that read ICU's data, which the release binary does not have (Sources/CNoICUData).
    private static let localeTypes: Set<Substring> = [
        "Locale", "Calendar", "TimeZone", "DateFormatter", "ISO8601DateFormatter", "NumberFormatter",
        "NSRegularExpression",
    ]

    /// Whether a line names an interface that reads ICU's data.
    private static func needsLocales(_ line: Substring) -> Bool {
        line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.contains { localeTypes.contains($0) }
    }

    /// Where tables of the store, and of databases, are made and changed, so that each change is a step of a migration.
    private static let schemas = [
        "Sources/Kymograph/Store/StoreSchema", "Sources/Kymograph/Sinks/Postgres/PostgresSchema",
    ]
    private static let schemaWords = ["CREATE TABLE", "ALTER TABLE", "DROP TABLE"]

    private static let unfinished = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
    private static let emptyNames = ["Utils", "Helpers", "Common", "Manager"]

    /// Everything that is wrong with one file, as `path:line: what`.
    static func complaints(_ file: SourceFile) -> [String] {
        let code = CodeText.of(file.text).split(separator: "\n", omittingEmptySubsequences: false)
        return lineComplaints(file) + codeComplaints(file, code) + functionComplaints(file)
            + nameComplaints(file, code) + IdentityRules.complaints(file, code) + ThrowRules.complaints(file, code)
            + SwitchRules.complaints(file, code)
    }

    private static func lineComplaints(_ file: SourceFile) -> [String] {
        let lines = file.lines
        var found: [String] = []
        if lines.count > longestFile + 1 { found.append("\(file.path): \(lines.count - 1) lines") }
        for (number, line) in lines.enumerated() {
            let place = "\(file.path):\(number + 1)"
            if line.count > longestLine { found.append("\(place): \(line.count) characters") }
            for word in unfinished where line.contains(word) { found.append("\(place): \(word)") }
            guard !schemas.contains(where: file.path.hasPrefix) else { continue }
            for word in schemaWords where line.contains(word) { found.append("\(place): \(word)") }
        }
        return found
    }

    private static func codeComplaints(_ file: SourceFile, _ code: [Substring]) -> [String] {
        let mayBeUnsafe = unsafeFiles[file.path] != nil || unsafeFolders.contains { file.path.hasPrefix($0) }
        let isCore = file.path.hasPrefix("Sources/KymographCore/")
        var found: [String] = []
        let memory = /\bunsafe\b|\bUnsafe|@unsafe/
        for (number, line) in code.enumerated() {
            let place = "\(file.path):\(number + 1)"
            if !isCore, line.hasSuffix("Foundation"), imported(line) == "Foundation", foundationFiles[file.path] == nil
            {
                found.append("\(place): import Foundation")
            }
            if !isCore, needsLocales(line) { found.append("\(place): needs ICU's data") }
            if !mayBeUnsafe, line.contains(memory) { found.append("\(place): unsafe") }
            // Of C single instructions that Swift has no names for, where memory is.
            let mayUseProcessor = file.path.hasPrefix("Sources/KymographCore/Memory/")
            if isCore, let module = imported(line), module != "Synchronization",
                !(["CSIMD", "CPrefetch"].contains(module) && mayUseProcessor)
            {
                found.append("\(place): import \(module)")
            }
        }
        return found
    }

    private static func imported(_ line: Substring) -> String? {
        guard line.contains("import ") else { return nil }
        return line.firstMatch(of: /^\s*(?:\w+\s+|@\w+(?:\([^)]*\))?\s+)*import\s+(?:\w+\s+)?([\w.]+)\s*$/).map {
            String($0.1)
        }
    }

    private static func functionComplaints(_ file: SourceFile) -> [String] {
        FunctionLengths.of(file.text).filter { $0.length > longestFunction }.map {
            "\(file.path):\($0.line): a function of \($0.length) lines"
        }
    }

    private static func nameComplaints(_ file: SourceFile, _ code: [Substring]) -> [String] {
        let name = file.path.split(separator: "/").last ?? ""
        var found = emptyNames.filter { name.contains($0) }.map { "\(file.path): a file called \($0)" }
        let declaration = /\b(?:struct|class|enum|actor|protocol|typealias)\s+(\w+)/
        for (number, line) in code.enumerated() where emptyNames.contains(where: { line.contains($0) }) {
            guard let type = line.firstMatch(of: declaration)?.1 else { continue }
            for empty in emptyNames where type.contains(empty) {
                found.append("\(file.path):\(number + 1): a type called \(type)")
            }
        }
        return found
    }
}
