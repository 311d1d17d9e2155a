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
    /// Of a payload, what its source said of it when it came; nil where that is not known.
    var context: LetterContext?

    /// That of a row of ``LetterContext/letters(_:)``.
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
        context = LetterContext(row)
    }

    /// The bundle of a block; what is none, as earlier versions wrote it, stays as it is.
    private static func bundle(of block: [UInt8]) -> [UInt8] {
        var assembler = BundleAssembler()
        return block.withByteView { assembler.text(of: $0)?.array } ?? block
    }

    /// The peer that brought it, by the list of peers of its source; nil when there was no list, or none of it.
    package var peerName: IdentifierText? { sender.peer }

    /// Whose the readings of that peer were when it came, where that was fixed.
    var fixedPatient: FixedPatient { sender.patient }

    /// The device that the certificate of that peer's client named, where that said what it may bring.
    var certifiedDevice: CertifiedDevice? { sender.device }

    /// The mapping that its request had chosen of those of its source; nil when all were tried.
    package var mappingName: IdentifierText? { sender.mapping }

    /// Who sent it, by the end of its details, which are looked at as bytes.
    private var sender:
        (mapping: IdentifierText?, peer: IdentifierText?, patient: FixedPatient, device: CertifiedDevice?)
    {
        typealias Parts = (before: ArraySlice<UInt8>, behind: ArraySlice<UInt8>)
        func ranges(of mark: String, _ text: ArraySlice<UInt8>) -> [Range<Int>] { text.ranges(of: Array(mark.utf8)) }
        func parts(_ text: ArraySlice<UInt8>, _ place: Range<Int>?) -> Parts? {
            place.map { (text[..<$0.lowerBound], text[$0.upperBound...]) }
        }
        let text = Array(detail.utf8)[...]
        // No list has a name with the mark in it. One of an earlier version's must stay none of a list, and not become
        // that of the peer whose name is its end.
        let listed = parts(text, ranges(of: Peer.listedText, text).first)
        let rest = listed?.before ?? text
        let mapping = parts(rest, ranges(of: Peer.mappingText, rest).last).map {
            IdentifierText(utf8: Array($0.behind))
        }
        guard let listed else { return (mapping, nil, .unknown, nil) }
        let (described, device) = CertifiedDevice.divided(listed.behind)
        let (name, patient) = FixedPatient.divided(described)
        return (mapping, IdentifierText(utf8: Array(name)), patient, device)
    }

    /// Whether a list of peers has to say whose readings it may bring.
    package var needsPeers: Bool {
        let reasons: [Rejection] = [.deviceNotAllowed, .patientNotAllowed, .unknownPeer]
        return peerName != nil || reasons.contains { $0.name == reason }
    }

    /// Whether a patient map has to say whose it is.
    package var needsPatients: Bool {
        let reasons: [Rejection] = [.patientUnknown, .patientDeviceMismatch, .patientChanged]
        return kind != "entry" && reasons.contains { $0.name == reason }
    }

    /// Whether rules have to say that it is taken.
    package var needsRules: Bool { [Rejection.rejectedByRule, .ruleFailed].map(\.name).contains(reason) }

    /// What has to decide on it again, of those that were ever `used` in its store, and is not `present`; nil for none.
    package func lacks(used: Set<StoreDecider>, present: Set<StoreDecider>) -> StoreDecider? {
        guard kind != "entry" else { return nil }
        var needed = used
        if needsPatients { needed.insert(.patientMap) }
        // A hook rejects for the same reasons.
        if needsRules, !used.contains(.hook) { needed.insert(.rules) }
        return StoreDecider.allCases.first { needed.contains($0) && !present.contains($0) }
    }

    /// Whether the bytes may be only a part of what came, or more than a payload: mapped again, they could give a
    /// reading that nobody took.
    package var isPart: Bool {
        guard kind == "payload", let reason = StoredLetter.reasons[reason] else {
            return false
        }
        if detail.hasSuffix(Peer.topicText) { return true }
        return switch reason.letterContent {
        case .payload: false
        case .part: true
        // A reading that found no room names the template that had mapped it.
        case .either: !detail.hasPrefix("mapping ")
        }
    }

    /// Whether nothing shows that it is of whom it names: it is not for being mapped.
    package var isUnproven: Bool { StoredLetter.reasons[reason]?.isUnproven ?? false }

    /// Why one that ``isUnproven`` is left.
    package static let unprovenText = "nothing shows who sent it: have its sender seal it as a new datagram"

    private static let reasons = Dictionary(uniqueKeysWithValues: Rejection.allCases.map { ($0.name, $0) })

    /// The letter in the form of the dead-letter file, with its number and kind.
    package var json: [UInt8] {
        var writer = ByteWriter()
        writer.append(Array("{\"number\":\(number),\"kind\":\"\(kind)\",".utf8))
        if let replayed { writer.append(Array("\"replayed\":\"\(replayed.text)\",".utf8)) }
        for (name, value) in context?.members ?? [] where !value.isEmpty {
            writer.append(Array("\"\(name)\":\"".utf8))
            value.withByteView { writer.appendJSON($0) }
            writer.append("\",")
        }
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
                let sql = "\(try LetterContext.letters(db)) WHERE \(condition) ORDER BY number"
                return try Row.fetchAll(db, sql: sql).map(StoredLetter.init)
            }
            return try StoredLetter.fetch(numbers, db)
        }
    }

    /// Those of `numbers` that there are, in the same order.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func present(_ numbers: [Int64]) throws(PipelineError) -> [Int64] {
        try read { db in
            try numbers.filter { number in
                try Int.fetchOne(db, sql: "SELECT 1 FROM dead WHERE number = ?", arguments: [number]) != nil
            }
        }
    }

    /// Gives the letters numbered `numbers` that are there to `body`, in batches of about `bytes`: as few are in memory
    /// at once. How long one is shows only when it is read.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func letters(
        _ numbers: [Int64], inBatchesOf bytes: Int, _ body: ([StoredLetter]) -> Void
    ) throws(PipelineError) {
        var (batch, size): ([StoredLetter], Int) = ([], 0)
        for number in numbers {
            for letter in try letters([number]) {
                batch.append(letter)
                size += letter.bytes?.count ?? 0
            }
            guard size >= bytes else { continue }
            body(batch)
            (batch, size) = ([], 0)
        }
        if !batch.isEmpty { body(batch) }
    }
}

extension StoredLetter {
    /// Has its bytes expected again from its source, `isAccounted` where the ledger may count on what comes of them;
    /// for so long after the last letter, or for ever.
    func expect(_ returning: ReturningLetters, isAccounted: Bool, for patience: Duration? = nil) {
        let letter = ReturningLetters.Letter(
            time: at, lead: context?.lead ?? 0, number: isAccounted ? number : nil)
        if let bytes { returning.expect(bytes, of: letter, from: source, for: patience) }
    }

    /// The letters numbered `numbers` that are there.
    static func fetch(_ numbers: [Int64], _ db: Database) throws -> [StoredLetter] {
        let sql = "\(try LetterContext.letters(db)) WHERE number = ?"
        return try numbers.compactMap { try Row.fetchOne(db, sql: sql, arguments: [$0]).map(StoredLetter.init) }
    }
}

extension LetterContext {
    /// As the source has them in a configuration; empty where it stated none.
    fileprivate var members: [(name: String, value: [UInt8])] {
        [("defaultDevice", device), ("defaultPatient", patient), ("timezone", Array((timezone ?? "").utf8))]
    }
}
