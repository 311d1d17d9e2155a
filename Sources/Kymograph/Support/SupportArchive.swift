import KymographCore

/// Files in one compressed archive: tar (POSIX.1-2017, `pax`, the form ustar) in gzip.
package struct SupportArchive: Sendable {
    private static let blockBytes = 512

    /// Folder in the archive, and time of its files in seconds since 1970.
    private let folder: String
    private let time: Int64
    private var tar: [UInt8] = []

    /// An archive of nothing yet. `folder` and names of files have fewer than 100 bytes together.
    package init(folder: String, at time: Instant) {
        self.folder = folder
        self.time = time.nanoseconds / 1_000_000_000
    }

    /// Adds a file without user and password of URLs in it.
    package mutating func add(_ name: String, _ text: String) {
        let bytes = Array(MaskedText.masking(text).utf8)
        tar += header("\(folder)/\(name)", size: bytes.count)
        tar += bytes
        tar += zeros((Self.blockBytes - bytes.count % Self.blockBytes) % Self.blockBytes)
    }

    /// The archive; nil when it is too large, or there is no memory for it.
    package var bytes: [UInt8]? { GzipBody.compress(tar + zeros(2 * Self.blockBytes)) }

    private func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }

    /// The block before a file: fields of fixed length, numbers in octal digits.
    private func header(_ name: String, size: Int) -> [UInt8] {
        precondition(name.utf8.count < 100, "a name for an archive is too long")
        let before = field(name, 100) + field("0000600", 8) + field("0000000", 8) + field("0000000", 8)
        let numbers = field(octal(Int64(size), 11), 12) + field(octal(time, 11), 12)
        // Type, name of a linked file, magic, version, user, group, device, prefix.
        let after = field("0", 1) + field("", 100) + field("ustar", 6) + Array("00".utf8) + field("", 247)
        // The sum counts its own field as blanks.
        let sum = (before + numbers + field("        ", 8) + after).reduce(0) { $0 + Int64($1) }
        return before + numbers + field(octal(sum, 6), 7) + field(" ", 1) + after
    }

    private func field(_ text: String, _ length: Int) -> [UInt8] {
        let bytes = Array(text.utf8.prefix(length))
        return bytes + zeros(length - bytes.count)
    }

    private func octal(_ number: Int64, _ digits: Int) -> String {
        let text = String(number, radix: 8)
        return String(repeating: "0", count: max(digits - text.count, 0)) + text
    }
}
