import FoundationEssentials
import GRDB
package import KymographCore

/// A dead letter of a store.
package struct StoredLetter: Sendable {
    /// Its number.
    package var number: Int64
    /// When it was received, or refused by a server.
    package var at: Instant
    /// `payload`: bytes of a source; `measurement`: a normalised reading, as JSON; `entry`: an entry that a server did
    /// not take.
    package var kind: String
    /// Name of the ``Rejection``.
    package var reason: String
    /// The source or, of an entry, the sink.
    package var source: String
    /// Which field of which template, or what the server said.
    package var detail: String
    /// When it was sent again, if it was.
    package var replayed: Instant?
    /// The bytes, of an entry as a FHIR bundle with what it refers to; nil when they are damaged.
    package var bytes: [UInt8]?

    init(_ row: Row) {
        number = row["number"]
        at = Instant(nanoseconds: row["at"])
        kind = row["kind"]
        reason = row["reason"]
        source = row["source"]
        detail = row["detail"]
        replayed = (row["replayed"] as Int64?).map { Instant(nanoseconds: $0) }
        let content = StoredBody.content(
            codec: row["codec"], key: row["key_id"], checksum: row["checksum"], bytes: row["body"])
        bytes = kind == "entry" ? content.map(StoredLetter.bundle) : content
    }

    /// The bundle of a block; what is none, as earlier versions wrote it, stays as it is.
    private static func bundle(of block: [UInt8]) -> [UInt8] {
        var assembler = BundleAssembler()
        return block.withByteView { assembler.text(of: $0)?.array } ?? block
    }

    /// Whether the bytes may be only a part of what came, or more than a payload: mapped again, they could give a
    /// reading that nobody took.
    package var isPart: Bool {
        guard kind == "payload", let reason = StoredLetter.reasons[reason] else {
            return false
        }
        return switch reason.letterContent {
        case .payload: false
        case .part: true
        // A reading that found no room names the template that had mapped it.
        case .either: !detail.hasPrefix("mapping ")
        }
    }

    private static let reasons = Dictionary(uniqueKeysWithValues: Rejection.allCases.map { ($0.name, $0) })

    /// The letter in the form of the dead-letter file, with its number and kind.
    package var json: [UInt8] {
        var writer = ByteWriter()
        writer.append(Array("{\"number\":\(number),\"kind\":\"\(kind)\",".utf8))
        if let replayed { writer.append(Array("\"replayed\":\"\(replayed.text)\",".utf8)) }
        var rest = ByteWriter()
        (bytes ?? []).withByteView { bytes in
            rest.append(deadLetter: reason, source: source, receivedAt: at, bytes: bytes, detail: detail)
        }
        writer.append(rest.view(1..<rest.count))
        return writer.view.array
    }
}

extension StoreReader {
    /// Dead letters in the order in which they came: those numbered `numbers`, or all of them that were not sent again,
    /// or with `withReplayed` really all.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func letters(
        _ numbers: [Int64] = [], withReplayed: Bool = false
    ) throws(PipelineError) -> [StoredLetter] {
        try read { db in
            if numbers.isEmpty {
                let condition = withReplayed ? "true" : "replayed IS NULL"
                return try Row.fetchAll(db, sql: "SELECT * FROM dead WHERE \(condition) ORDER BY number").map(
                    StoredLetter.init)
            }
            return try StoredLetter.fetch(numbers, db)
        }
    }
}

extension StoredLetter {
    /// Has its bytes expected again from its source.
    func expect(_ returning: ReturningLetters) {
        if let bytes { returning.expect(bytes, from: source, firstAt: at) }
    }

    /// The letters numbered `numbers` that are there.
    static func fetch(_ numbers: [Int64], _ db: Database) throws -> [StoredLetter] {
        try numbers.compactMap { number in
            try Row.fetchOne(db, sql: "SELECT * FROM dead WHERE number = ?", arguments: [number]).map(StoredLetter.init)
        }
    }
}
