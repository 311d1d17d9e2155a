import CSeal
import Glibc
import KymographCore

/// The file `kymo.keys` in a data directory: the data keys of the store, wrapped by the operator's key.
///
/// Without it the store cannot be read, whoever has the operator's key. It is text, and replaced as a whole:
///
///     kymo-keys 1 STORE
///     key NUMBER USED WRAPPED
///     code HMAC
///
/// `STORE` is a random number of the store, which each sealed page is bound to. Data are sealed with the last key.
/// `USED` is how many messages have been sealed with a key at most. The code is that of everything above it.
struct KeyList: Hashable, Sendable {
    /// A data key.
    struct Entry: Hashable, Sendable {
        var number: UInt32
        /// Messages that have been sealed with it, or may be before the file is written again.
        var used: Int64
        var wrapped: [UInt8]
    }

    /// The store's own number, of 16 bytes.
    var store: [UInt8]
    /// In the order in which they were made.
    var entries: [Entry] = []

    static let name = "kymo.keys"
    private static let head = "kymo-keys"
    private static let version = 1
    /// As long as the list is while it is written.
    private static let newName = "kymo.keys.new"

    /// A list of a new store.
    init() {
        store = [UInt8](repeating: 0, count: Int(KYMO_STORE_ID_BYTES))
        // Safe: the array is lent for the call.
        let isRandom = unsafe kymo_random(&store, store.count) == 1
        precondition(isRandom, "OpenSSL has no random bytes")
    }

    /// Where the list of the store in `directory` is.
    static func path(in directory: String) -> String { "\(directory)/\(name)" }

    /// Whether a directory has a list.
    enum Presence: Hashable, Sendable {
        case present
        case absent
        /// It cannot be known, because of an error of the system.
        case unknown(Int32)
    }

    /// Whether the store in `directory` has one.
    static func presence(in directory: String) -> Presence {
        guard FileSystem.target(path(in: directory)) == nil else { return .present }
        let code = errno
        return code == ENOENT || code == ENOTDIR ? .absent : .unknown(code)
    }

    /// Whether the store in `directory` has one, as far as can be known.
    static func exists(in directory: String) -> Bool { presence(in: directory) != .absent }

    // MARK: Content

    /// The list in `directory`.
    ///
    /// - Throws: ``SealError`` when it cannot be read, is damaged, or `key` is not the one that it was written with.
    init(in directory: String, _ key: SealKey) throws(SealError) {
        let path = KeyList.path(in: directory)
        guard let bytes = FileSystem.content(path) else {
            throw SealError(message: "cannot read \(path): \(ErrorText.of(errno))")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let list = KeyList(text) else {
            throw SealError(
                message: text.hasPrefix("\(KeyList.head) ") && !text.hasPrefix("\(KeyList.head) \(KeyList.version) ")
                    ? "\(path) was written by a newer kymo: use that version"
                    : "\(path) is damaged: restore it from a backup; without it the store cannot be read")
        }
        guard list.text(key) == bytes else {
            throw SealError(
                message: "\(key.path) is not the key that encrypts the store in \(directory) (or \(path) was changed): "
                    + "name the right one with encryption.keyFile, encryption.credential or --key-file")
        }
        self = list
    }

    private init?(_ text: String) {
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
        guard let first = lines.first, first.count == 3, first[0] == KeyList.head, first[1] == "\(KeyList.version)",
            let store = Hexadecimal.bytes(first[2]), store.count == Int(KYMO_STORE_ID_BYTES),
            lines.last?.first == "code", lines.count > 2
        else { return nil }
        self.store = store
        for line in lines.dropFirst().dropLast() {
            guard line.count == 4, line[0] == "key", let number = UInt32(line[1]), let used = Int64(line[2]),
                let wrapped = Hexadecimal.bytes(line[3]), wrapped.count == Int(KYMO_WRAPPED_BYTES)
            else { return nil }
            entries.append(Entry(number: number, used: used, wrapped: wrapped))
        }
    }

    private func text(_ key: SealKey) -> [UInt8] {
        var text = "\(KeyList.head) \(KeyList.version) \(Hexadecimal.text(store))\n"
        for entry in entries { text += "key \(entry.number) \(entry.used) \(Hexadecimal.text(entry.wrapped))\n" }
        return Array(text.utf8) + Array("code \(Hexadecimal.text(key.code(of: Array(text.utf8))))\n".utf8)
    }

    // MARK: Files

    /// Puts the list durably in the place of the one in `directory`; one that `isNew` in the place of none.
    ///
    /// - Throws: ``SealError`` when it cannot be written; the one before is then still there.
    func write(in directory: String, _ key: SealKey, isNew: Bool = false) throws(SealError) {
        let new = "\(directory)/\(KeyList.newName)"
        // One that a crash has left; whatever else has its name is not written through.
        FileSystem.remove(new)
        let raw = FileSystem.open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        guard raw >= 0 else { throw KeyList.failure(new, -raw) }
        let file = Descriptor(raw)
        let bytes = text(key)
        let count = bytes.withByteView { FileSystem.writeAll(file.raw, $0) }
        guard count == bytes.count else { throw KeyList.failure(new, count < 0 ? Int32(-count) : ENOSPC) }
        guard fsync(file.raw) == 0 else { throw KeyList.failure(new, errno) }
        CrashPoint.keysWritten.pass()
        let path = KeyList.path(in: directory)
        // A list that is lost takes the store with it.
        let code = isNew ? FileSystem.renameExclusively(new, to: path) : FileSystem.rename(new, to: path)
        guard code >= 0 else { throw KeyList.failure(path, -code) }
        try KeyList.synchronise(directory)
        CrashPoint.keysReplaced.pass()
    }

    /// Makes it durable which files there are in `directory`.
    static func synchronise(_ directory: String) throws(SealError) {
        let result = FileSystem.synchronise(folder: directory)
        guard result >= 0 else { throw failure(directory, -result) }
    }

    private static func failure(_ path: String, _ code: Int32) -> SealError {
        SealError(message: "cannot write \(path): \(ErrorText.of(code)); make room, or check the disk", isOfDisk: true)
    }
}

/// Bytes as hexadecimal digits.
enum Hexadecimal {
    static func text(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The bytes, or nil when `text` is something else.
    static func bytes(_ text: Substring) -> [UInt8]? {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
        let values = digits.compactMap { $0.map(UInt8.init) }
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
}
