import FoundationEssentials
import Glibc

/// Reads files of receipts.
package enum ReceiptReader {
    /// A file that cannot be read.
    package struct Fault: Error {
        /// Which one, and why.
        package var message: String
    }

    /// Calls `body` with each line of the files in `directory`, file by file, and its content; each receipt once,
    /// though it may be there twice after a crash. Gives how many lines are no receipts.
    ///
    /// - Throws: ``Fault``, or what `body` throws.
    package static func forEach(
        in directory: String, _ body: (ReceiptLine, [UInt8]) throws -> Void
    ) throws -> Int {
        let decoder = JSONDecoder()
        var seen = SeenReceipts()
        var unread = 0
        let names = FileSystem.names(in: directory).sorted()
        if let sealed = names.first(where: { $0.hasPrefix("kymo-") && $0.contains(".ndjson.sealed") }) {
            throw Fault(message: "\(directory)/\(sealed) is encrypted: 'kymo decrypt' writes such files as NDJSON")
        }
        for name in names where isReceipts(name) {
            var lines = try ReceiptLines(directory, name)
            while let line = try lines.next() {
                guard let receipt = try? decoder.decode(ReceiptLine.self, from: Data(line)),
                    let isNew = receipt.id.flatMap({ seen.insert($0) })
                else {
                    unread += 1
                    continue
                }
                if isNew { try body(receipt, line) }
            }
        }
        return unread
    }

    /// Whether `path` is a directory.
    package static func isDirectory(_ path: String) -> Bool {
        FileSystem.target(path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
    }

    private static func isReceipts(_ name: String) -> Bool {
        name.hasPrefix("kymo-") && (name.hasSuffix(".ndjson") || name.hasSuffix(".ndjson.open"))
    }
}

/// The lines of one file, a piece of it at a time.
private struct ReceiptLines {
    private let file: Descriptor
    private let path: String
    /// Whether it grows: its last line may be the half of one.
    private let isGrowing: Bool
    private var rest: [UInt8] = []
    private var lines: ArraySlice<[UInt8]> = []
    private var isAtEnd = false

    private static let piece = 1 << 18

    init(_ directory: String, _ name: String) throws(ReceiptReader.Fault) {
        let growing = name.hasSuffix(".open")
        var path = "\(directory)/\(name)"
        var raw = FileSystem.open(path, O_RDONLY)
        // It has ended meanwhile.
        if raw == -ENOENT, growing {
            path = String(path.dropLast(".open".count))
            raw = FileSystem.open(path, O_RDONLY)
        }
        guard raw >= 0 else { throw ReceiptReader.Fault(message: "\(path) cannot be read: \(ErrorText.of(-raw))") }
        (file, self.path, isGrowing) = (Descriptor(raw), path, growing)
    }

    /// The next line, without its line feed.
    mutating func next() throws(ReceiptReader.Fault) -> [UInt8]? {
        while lines.isEmpty {
            guard !isAtEnd else { return nil }
            try read()
        }
        return lines.removeFirst()
    }

    private mutating func read() throws(ReceiptReader.Fault) {
        guard let count = FileSystem.read(file.raw, ReceiptLines.piece, into: &rest) else {
            throw ReceiptReader.Fault(message: "\(path) cannot be read: \(ErrorText.of(errno))")
        }
        var parts = rest.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
        rest = parts.removeLast()
        if count == 0 {
            isAtEnd = true
            if !isGrowing { parts.append(rest) }
        }
        lines = parts.filter { !$0.isEmpty }[...]
    }
}

/// Which receipts were seen, by run and number: ranges, since they come one after the other.
private struct SeenReceipts {
    private var ranges: [Substring: [ClosedRange<Int64>]] = [:]

    /// Whether `id` is new; nil when it is none.
    mutating func insert(_ id: String) -> Bool? {
        guard let dash = id.lastIndex(of: "-"), let number = Int64(id[id.index(after: dash)...]) else { return nil }
        var known = ranges[id[..<dash]] ?? []
        if known.contains(where: { $0.contains(number) }) { return false }
        if let place = known.lastIndex(where: { $0.upperBound == number - 1 }) {
            known[place] = known[place].lowerBound...number
        } else {
            known.append(number...number)
        }
        ranges[id[..<dash]] = known
        return true
    }
}
