/// What a program does to the files of one directory, recorded call by call, and what a power cut could have left of
/// it.
///
/// A library that the program loads writes each call into a journal: what is written before the call, what is made
/// durable after it, and what the program tells its clients before it does.
package struct RecordedDisk {
    /// One call.
    private enum Call {
        /// Bytes at an offset of a file, which its number names.
        case write(UInt64, offset: Int, [UInt8])
        case truncate(UInt64, size: Int)
        /// Made durable: a file, or the names in a directory.
        case sync(UInt64)
        case syncNames(String)
        case create(String, UInt64)
        case rename(String, String)
        case remove(String)
        /// What clients were told.
        case told([UInt8])
    }

    private let calls: [Call]

    /// The number of calls; power can be cut before each, and after the last.
    package var count: Int { calls.count }

    /// The first call after which clients were told something; all before it are of the start.
    package var firstTold: Int {
        calls.firstIndex { if case .told = $0 { true } else { false } }.map { $0 + 1 } ?? count
    }

    // MARK: Recording

    /// The library, which writes to the file `KYMO_JOURNAL` what happens below `KYMO_JOURNAL_ROOT`.
    package static func library() throws -> PreloadedLibrary { try PreloadedLibrary(source) }

    /// What has the library record the directory `root` in the file `journal`.
    package static func environment(journal: String, root: String) -> [String: String] {
        ["KYMO_JOURNAL": journal, "KYMO_JOURNAL_ROOT": root]
    }

    /// Reads the journal.
    package init(journal: String) {
        let bytes = Files.read(journal)
        var calls: [Call] = []
        var place = 0
        // Inodes are used again.
        var files: [UInt64: UInt64] = [:]
        var last: UInt64 = 0
        func file(_ inode: UInt64, isNew: Bool = false) -> UInt64 {
            if let known = files[inode], !isNew { return known }
            last += 1
            files[inode] = last
            return last
        }
        func number() -> Int {
            defer { place += 8 }
            return (0..<8).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
        }
        func take(_ count: Int) -> [UInt8] {
            defer { place += count }
            return Array(bytes[place..<place + count])
        }
        while place + 40 <= bytes.count {
            let (kind, inode, offset, first, second) = (number(), UInt64(number()), number(), number(), number())
            guard place + first + second <= bytes.count else { break }
            let (one, two) = (take(first), take(second))
            let text = String(decoding: one, as: UTF8.self)
            switch UInt8(kind) {
            case UInt8(ascii: "w"): calls.append(.write(file(inode), offset: offset, one))
            case UInt8(ascii: "t"): calls.append(.truncate(file(inode), size: offset))
            case UInt8(ascii: "s"): calls.append(.sync(file(inode)))
            case UInt8(ascii: "d"): calls.append(.syncNames(text))
            case UInt8(ascii: "c"): calls.append(.create(text, file(inode, isNew: true)))
            case UInt8(ascii: "r"): calls.append(.rename(text, String(decoding: two, as: UTF8.self)))
            case UInt8(ascii: "u"): calls.append(.remove(text))
            default: calls.append(.told(one))
            }
        }
        self.calls = calls
    }

    /// What clients were told before call `end`, in order.
    package func told(before end: Int) -> String {
        let bytes = calls[..<end].flatMap { call -> [UInt8] in if case .told(let bytes) = call { bytes } else { [] } }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// How often files that were made in `folder` were made durable once more, and how often of that while the folder
    /// still had not been, so that a power cut may take their names.
    package func furtherSyncs(in folder: String) -> (all: Int, nameless: Int) {
        // Whether they have been made durable.
        var made: [UInt64: Bool] = [:]
        // Of those without a durable name, whether they have been made durable.
        var nameless: [UInt64: Bool] = [:]
        var counts = (all: 0, nameless: 0)
        for call in calls {
            switch call {
            case .create(let path, let file) where path.hasPrefix("\(folder)/"):
                (made[file], nameless[file]) = (false, false)
            case .syncNames(folder): nameless = [:]
            case .sync(let file) where made[file] != nil:
                if made[file] == true { counts.all += 1 }
                made[file] = true
                if nameless[file] == true { counts.nameless += 1 }
                if nameless[file] != nil { nameless[file] = true }
            case .write, .truncate, .sync, .syncNames, .create, .rename, .remove, .told: break
            }
        }
        return counts
    }

    // MARK: Power cuts

    /// The files that may be there when power was cut before call `end`, by their paths below the root.
    ///
    /// What was made durable is there. Of the rest each write is there, or is not, or is there in some of its sectors,
    /// in any combination; of changed names the first ones are, as file systems keep their order.
    package func files<Generator: RandomNumberGenerator>(
        before end: Int, using random: inout Generator
    ) -> [(path: String, content: [UInt8])] {
        var contents: [UInt64: [UInt8]] = [:]
        // Mostly all or nothing of what was not durable, else each call by itself.
        let chance = 50 * Int.random(in: 0...2, using: &random)
        for (place, call) in calls[..<end].enumerated() {
            switch call {
            case .write(let file, let offset, let bytes):
                if isDurable(file, place, end) || Int.random(in: 0..<100, using: &random) < chance {
                    Self.write(bytes, at: offset, to: &contents[file, default: []])
                } else if chance == 50 {
                    tear(bytes, at: offset, to: &contents[file, default: []], using: &random)
                }
            case .truncate(let file, let size):
                guard isDurable(file, place, end) || Int.random(in: 0..<100, using: &random) < chance else { continue }
                let content = contents[file, default: []]
                contents[file] = Array(content.prefix(size)) + Array(repeating: 0, count: max(0, size - content.count))
            case .sync, .syncNames, .create, .rename, .remove, .told: break
            }
        }
        return names(before: end, using: &random).map { ($0, contents[$1] ?? []) }
    }

    /// Whether what call `place` did to `file` was made durable before `end`.
    private func isDurable(_ file: UInt64, _ place: Int, _ end: Int) -> Bool {
        calls[place..<end].contains { if case .sync(file) = $0 { true } else { false } }
    }

    private static let sector = 512

    private static func write(_ bytes: [UInt8], at offset: Int, to content: inout [UInt8]) {
        let missing = offset + bytes.count - content.count
        if missing > 0 { content += Array(repeating: 0, count: missing) }
        content.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }

    /// Writes some of the sectors.
    private func tear<Generator: RandomNumberGenerator>(
        _ bytes: [UInt8], at offset: Int, to content: inout [UInt8], using random: inout Generator
    ) {
        var place = 0
        while place < bytes.count {
            let next = min(bytes.count, place + Self.sector - (offset + place) % Self.sector)
            if Bool.random(using: &random) {
                Self.write(Array(bytes[place..<next]), at: offset + place, to: &content)
            }
            place = next
        }
    }

    /// Which names lead to which files.
    private func names<Generator: RandomNumberGenerator>(
        before end: Int, using random: inout Generator
    ) -> [(String, UInt64)] {
        let changes = calls[..<end].indices.filter { place in
            switch calls[place] {
            case .create, .rename, .remove: true
            case .write, .truncate, .sync, .syncNames, .told: false
            }
        }
        let durable = changes.lastIndex { isNameDurable($0, end) }.map { $0 + 1 } ?? 0
        let kept = Int.random(in: durable...changes.count, using: &random)
        var names: [(String, UInt64)] = []
        for place in changes[..<kept] {
            switch calls[place] {
            case .create(let path, let file):
                names.removeAll { $0.0 == path }
                names.append((path, file))
            case .rename(let path, let target):
                names.removeAll { $0.0 == target }
                for index in names.indices where names[index].0 == path { names[index].0 = target }
            case .remove(let path): names.removeAll { $0.0 == path }
            case .write, .truncate, .sync, .syncNames, .told: break
            }
        }
        return names
    }

    /// Whether the name that call `place` changed was made durable: with its directory, and a new one with its file.
    private func isNameDurable(_ place: Int, _ end: Int) -> Bool {
        func folder(_ path: String) -> String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }
        func isSynced(_ path: String) -> Bool {
            calls[place..<end].contains { if case .syncNames(folder(path)) = $0 { true } else { false } }
        }
        switch calls[place] {
        case .create(let path, let file): return isSynced(path) || isDurable(file, place, end)
        case .rename(_, let target): return isSynced(target)
        case .remove(let path): return isSynced(path)
        case .write, .truncate, .sync, .syncNames, .told: return false
        }
    }
}
