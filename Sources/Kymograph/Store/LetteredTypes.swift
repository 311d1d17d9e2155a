import GRDB
import KymographCore

/// The types that nothing but dead letters has readings of.
///
/// A reading that was rejected before its series was stored, since there was no room for its device, leaves a letter
/// and no series. The letter has the number of its type, and is taken again with it, so that this must go on to mean
/// what it meant.
enum LetteredTypes {
    /// Those of `types` that letters have readings of, which can be taken again as they are.
    static func find(among types: [(number: Int, name: String)], _ db: Database) throws -> Set<Int> {
        guard !types.isEmpty else { return [] }
        // The details of a letter name its type: nearly always, that spares a look at the letters themselves.
        let untyped = try StoreFacts.untypedLetters(db)
        let details = try String.fetchAll(
            db, sql: "SELECT DISTINCT detail FROM dead WHERE \(isReading)", arguments: [untyped])
        let texts = details.map { Array($0.utf8) }
        let named = types.filter { type in texts.contains { !$0.ranges(of: Array(type.name.utf8)).isEmpty } }
        return Set(try named.filter { try hasReading(of: $0.number, named: $0.name, untyped, db) }.map(\.number))
    }

    private static let isReading = "kind = 'measurement' AND number > ?"

    private static func hasReading(
        of number: Int, named name: String, _ untyped: Int64, _ db: Database
    ) throws -> Bool {
        let letters = try Row.fetchCursor(
            db, sql: "SELECT codec, key_id, checksum, body FROM dead WHERE \(isReading) AND instr(detail, ?)",
            arguments: [untyped, name])
        while let row = try letters.next() {
            let content = StoredBody.content(codec: row[0], key: row[1], checksum: row[2], bytes: row[3])
            if content.flatMap({ LetterRecord(letter: $0) })?.type == number { return true }
        }
        return false
    }
}
