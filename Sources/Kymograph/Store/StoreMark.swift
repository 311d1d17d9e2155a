import Glibc
import KymographCore

/// The file `kymo.mark` beside the database, which says how far the store has come.
///
/// SQLite takes a log that is cut, changed or missing for one that ended there, and a database from an older copy for
/// the present one. The mark is written after each commit, and so never ahead of what is durable; it is not made
/// durable itself before the end, which would double what a commit costs. So a killed process leaves the right mark,
/// and a power cut perhaps an older one, which says less.
final class StoreMark: Sendable {
    private let file: Descriptor

    /// Opens the mark in `directory`, or makes one.
    init(_ directory: StoreDirectory) throws(StoreError) {
        let raw = FileSystem.open(StoreMark.path(in: directory.path), O_RDWR | O_CREAT, mode: 0o600)
        guard raw >= 0 else {
            throw StoreError(
                .unusable, "cannot write \(StoreMark.path(in: directory.path)): \(ErrorText.of(-raw))")
        }
        file = Descriptor(raw)
    }

    /// Notes `counts`. A mark that cannot be written stays behind, and finds less.
    func write(_ counts: StoreCounts) {
        _ = StoreMark.text(of: counts).withByteView { FileSystem.write(file.raw, $0, at: 0) }
    }

    /// Makes the mark durable.
    func synchronise() { fsync(file.raw) }

    // MARK: Content

    private static func path(in directory: String) -> String { "\(directory)/kymo.mark" }

    /// The mark in `directory`; nil when there is none, or when it is damaged.
    static func read(in directory: String) -> StoreCounts? {
        FileSystem.content(path(in: directory)).flatMap(counts)
    }

    /// Numbers of 20 digits, so that each mark covers the one before, and their checksum.
    private static func text(of counts: StoreCounts) -> [UInt8] {
        let text = Array("kymo 1 received \(digits(counts.received)) kept \(digits(counts.kept)) ".utf8)
        return text + Array("\(digits(Int(text.withByteView { BodyCompressor.checksum($0) })))\n".utf8)
    }

    private static func digits(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 20 - digits.utf8.count)) + digits
    }

    private static func counts(_ bytes: [UInt8]) -> StoreCounts? {
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard words.count == 7, let received = Int(words[3]), let kept = Int(words[5]) else { return nil }
        let counts = StoreCounts(received: received, kept: kept)
        return text(of: counts) == bytes ? counts : nil
    }
}
