import Glibc
import KymographTestKit

/// The files of a store, as they are or damaged.
struct DamagedFiles {
    /// Content by file name.
    var files: [String: [UInt8]]

    /// What was done, for messages.
    private(set) var story: [String] = []

    init(_ directory: String) {
        files = [:]
        for name in ["kymo.sqlite", "kymo.sqlite-wal"] where Files.exists("\(directory)/\(name)") {
            files[name] = Files.read("\(directory)/\(name)")
        }
    }

    /// The files, with the mark that tells how far the store has come.
    init(withMarkOf directory: String) {
        self.init(directory)
        files["kymo.mark"] = Files.read("\(directory)/kymo.mark")
    }

    /// Does one of the things that a disk, or its owner, may do: `older` are the files of an earlier time.
    mutating func lose(_ older: DamagedFiles, _ generator: inout SeededGenerator) {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0:
            files["kymo.sqlite-wal"] = nil
            story.append("the log deleted")
        case 1:
            let mark = files["kymo.mark"]
            files = older.files
            files["kymo.mark"] = mark
            story.append("everything but the mark from an earlier time")
        case 2, 3: swapPages(&generator)
        case 4:
            guard let log = files["kymo.sqlite-wal"], !log.isEmpty else { return damageDatabase(&generator) }
            files["kymo.sqlite-wal"] = Array(log.prefix(Int.random(in: 0..<log.count, using: &generator)))
            story.append("the log cut")
        default: damageDatabase(&generator)
        }
    }

    private mutating func damageDatabase(_ generator: inout SeededGenerator) {
        let mark = files.removeValue(forKey: "kymo.mark")
        damage(&generator)
        files["kymo.mark"] = mark
    }

    private mutating func swapPages(_ generator: inout SeededGenerator) {
        guard var bytes = files["kymo.sqlite"], bytes.count >= 2 * 16_384 else { return damageDatabase(&generator) }
        let pages = (0..<2).map { _ in Int.random(in: 0..<bytes.count / 16_384, using: &generator) * 16_384 }
        for place in 0..<16_384 { bytes.swapAt(pages[0] + place, pages[1] + place) }
        files["kymo.sqlite"] = bytes
        story.append("pages swapped at \(pages)")
    }

    /// Whether nothing was done to anything but the log.
    private(set) var isOnlyLog = true

    /// Flips bits, cuts a file, or zeroes a block of 4 KiB.
    mutating func damage(_ generator: inout SeededGenerator) {
        let names = files.keys.sorted().filter { files[$0]?.isEmpty == false }
        guard let name = names.randomElement(using: &generator), var bytes = files[name] else { return }
        if name == "kymo.sqlite" { isOnlyLog = false }
        switch Int.random(in: 0..<8, using: &generator) {
        case 0:
            let size = Int.random(in: 0..<bytes.count, using: &generator)
            bytes.removeLast(bytes.count - size)
            story.append("\(name) cut to \(size)")
        case 1, 2:
            let block = Int.random(in: 0..<max(bytes.count / 4_096, 1), using: &generator)
            for place in (block * 4_096)..<min(block * 4_096 + 4_096, bytes.count) { bytes[place] = 0 }
            story.append("\(name) block \(block) zeroed")
        default:
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                story.append("\(name) flipped at \(place)")
            }
        }
        files[name] = bytes
    }

    /// Writes the files into `directory`, where nothing else may be left.
    func write(to directory: String) {
        for name in Files.names(directory) { unsafe unlink("\(directory)/\(name)") }
        for (name, bytes) in files { Files.write("\(directory)/\(name)", bytes) }
    }
}
