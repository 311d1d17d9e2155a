import CSeal
import Glibc
import KymographCore
import Synchronization

/// The data keys of the store in one directory, while this process has them.
///
/// A process has the keys of a directory once, whoever opens files there: SQLite's VFS looks up the directory of each
/// database that it opens (`kymo_ring_place`), so that none can be opened there in plain.
@safe
package final class StoreSeal: Sendable, Hashable {
    private struct State {
        var key: SealKey
        var list: KeyList
        /// How many messages are written down the next time, at least.
        var step = StoreSeal.firstStep
    }

    /// A directory, as the system knows it.
    private struct Place: Hashable {
        var device: UInt64
        var node: UInt64

        init?(_ directory: String) {
            guard let status = FileSystem.target(directory) else { return nil }
            (device, node) = (UInt64(status.st_dev), UInt64(status.st_ino))
        }
    }

    private static let known = Mutex<[Place: StoreSeal]>([:])
    /// Messages that may be sealed before the list of keys is written again, at first: 128 MiB of pages. A start that
    /// fails uses no more of the data key, however often it is tried again.
    static let firstStep: Int64 = 1 << 13
    /// The same, of a process that seals much: 16 GiB of pages.
    static let chunk: Int64 = 1 << 20
    /// Messages that are sealed with one data key at most. Nonces are random: two of 2^31 are equal with a probability
    /// of 2^-35 (NIST SP 800-38D, 8.3, allows 2^32 messages).
    private static let mostMessages: Int64 = 1 << 31

    /// The data directory.
    let directory: String
    // Safe: it lives as long as the process, keys are only ever added, and its numbers are atomic.
    nonisolated(unsafe) let ring: OpaquePointer
    private let state: Mutex<State>
    /// The directory, open: no other one gets its number while this process has keys for it.
    private let folder: Descriptor

    private init(_ directory: String, _ key: SealKey, _ list: KeyList) throws(SealError) {
        self.directory = directory
        let raw = FileSystem.open(directory, O_RDONLY | O_DIRECTORY)
        guard raw >= 0 else { throw SealError(message: "cannot open \(directory): \(ErrorText.of(-raw))") }
        folder = Descriptor(raw)
        // Safe: the number has its 16 bytes.
        guard let ring = unsafe kymo_ring_new(list.store) else { throw StoreSeal.noMemory }
        unsafe self.ring = ring
        state = Mutex(State(key: key, list: list))
        try add(list, key)
    }

    /// Whether both are the same object.
    package static func == (left: StoreSeal, right: StoreSeal) -> Bool { left === right }

    /// Hashes the object's identity.
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// The store's own number.
    var store: [UInt8] { state.withLock { $0.list.store } }

    // MARK: Directories

    /// Whether the store in `directory` is encrypted.
    static func isSealed(_ directory: String) -> Bool { KeyList.exists(in: directory) }

    /// An open file in memory with `content`; a negative errno when there is no memory.
    static func memoryFile(_ content: [UInt8]) -> Int32 {
        // Safe: the array is lent for the call.
        unsafe kymo_memory_file(content, content.count)
    }

    /// The keys of the store in `directory`; nil when it is plain, or there is none. `isSealed` and `hasDatabase` look
    /// at the database, and are asked only when it matters.
    ///
    /// - Throws: ``SealError`` when the store is encrypted and `settings` name no key or another one, or when it is
    ///   plain and they name one.
    package static func unlock(
        _ directory: String, _ settings: EncryptionSettings, isSealed: () throws(SealError) -> Bool,
        hasDatabase: () -> Bool
    ) throws(SealError) -> StoreSeal? {
        guard let place = Place(directory) else { return nil }
        switch KeyList.presence(in: directory) {
        case .present: return try unlock(directory, place, settings)
        case .absent: break
        // Whoever may not look into the directory can open nothing there, and says so.
        case .unknown(EACCES): return nil
        case .unknown(let code):
            throw SealError(message: "cannot read \(KeyList.path(in: directory)): \(ErrorText.of(code))")
        }
        // The keys of a store that is open stay, whoever has removed their list.
        if try isSealed() { throw lacksList(directory) }
        known.withLock { $0[place] = nil }
        kymo_ring_place(nil, place.device, place.node)
        if settings.isOn, hasDatabase() { throw isPlain(directory) }
        return nil
    }

    private static func unlock(
        _ directory: String, _ place: Place, _ settings: EncryptionSettings
    ) throws(SealError) -> StoreSeal {
        let present = known.withLock { $0[place] }
        guard settings.isOn else {
            if let present { return present }
            throw needsKey(directory)
        }
        let key = try SealKey(settings)
        let list = try KeyList(in: directory, key)
        if let present, present.isOf(list) {
            try present.take(key)
            return present
        }
        return try StoreSeal(directory, key, list).placed(place)
    }

    /// Makes the list of keys of a new store in `directory`, which is encrypted from here on.
    ///
    /// - Throws: ``SealError`` when the key cannot be had, or the list cannot be written.
    package static func make(_ directory: String, _ settings: EncryptionSettings) throws(SealError) -> StoreSeal {
        guard let place = Place(directory) else { throw SealError(message: "there is no directory \(directory)") }
        let key = try SealKey(settings)
        var list = KeyList()
        guard let wrapped = key.wrappedDataKey() else { throw noMemory }
        list.entries = [KeyList.Entry(number: 1, used: 0, wrapped: wrapped)]
        try list.write(in: directory, key, isNew: true)
        return try StoreSeal(directory, key, list).placed(place)
    }

    /// A copy of the list, with one more data key, in `folder`, whose files are sealed with that one.
    ///
    /// - Throws: As ``make(_:_:)``.
    func continued(in folder: String, _ new: SealKey?) throws(SealError) -> StoreSeal {
        guard let place = Place(folder) else { throw SealError(message: "there is no directory \(folder)") }
        var (key, list) = state.withLock { ($0.key, $0.list) }
        if let new { (key, list) = (new, try rewrapped(list, new)) }
        guard let wrapped = key.wrappedDataKey() else { throw StoreSeal.noMemory }
        try checkRoom(in: list)
        list.entries.append(KeyList.Entry(number: (list.entries.last?.number ?? 0) + 1, used: 0, wrapped: wrapped))
        try list.write(in: folder, key, isNew: true)
        return try StoreSeal(folder, key, list).placed(place)
    }

    private func placed(_ place: Place) throws(SealError) -> StoreSeal {
        // Safe: the ring is never freed from here on.
        guard unsafe kymo_ring_place(ring, place.device, place.node) == 1 else { throw StoreSeal.noMemory }
        StoreSeal.known.withLock { $0[place] = self }
        return self
    }

    private func isOf(_ list: KeyList) -> Bool { state.withLock { $0.list.store == list.store } }

    // MARK: Keys

    private func take(_ key: SealKey) throws(SealError) {
        try state.withLock { (state) throws(SealError) in
            // Not before: it may be written at any time.
            let list = try KeyList(in: directory, key)
            guard list.store == state.list.store, list.entries.count >= state.list.entries.count else {
                throw SealError(
                    message: "\(KeyList.path(in: directory)) lacks data keys that are in use: put back the newest copy")
            }
            try add(list, key)
            state = State(key: key, list: list, step: state.step)
        }
    }

    /// Takes data keys that another process has added to the list since.
    ///
    /// - Throws: ``SealError`` when the list cannot be read.
    func reread() throws(SealError) { try take(state.withLock { $0.key }) }

    /// Adds all data keys; the last is the one to seal with.
    private func add(_ list: KeyList, _ key: SealKey) throws(SealError) {
        for entry in list.entries {
            // Safe: a wrapped key has its 40 bytes, and is lent for the call.
            guard unsafe kymo_ring_add(ring, key.secret, entry.number, entry.wrapped) == 1 else {
                throw SealError(
                    message: list.entries.count > Int(KYMO_RING_KEYS)
                        ? "\(KeyList.path(in: directory)) has more than \(KYMO_RING_KEYS) data keys: this version "
                            + "knows no more; make a new store"
                        : "a data key in \(KeyList.path(in: directory)) is damaged: restore it from a backup")
            }
        }
        // Safe: the ring lives as long as the process.
        if let last = list.entries.last { _ = unsafe kymo_ring_use(ring, last.number) }
    }

    /// Refuses one more data key than can be read again.
    private func checkRoom(in list: KeyList) throws(SealError) {
        guard list.entries.count >= Int(KYMO_RING_KEYS) else { return }
        throw SealError(
            message: "\(KeyList.path(in: directory)) has \(KYMO_RING_KEYS) data keys, and there can be no more: what "
                + "is there can be read, and nothing more can be encrypted; make a new store")
    }

    /// Refuses a transaction that one data key may not seal: together with what is left, it must stay below the limit.
    private func tooMany(_ messages: Int64) -> SealError {
        SealError(
            message: "the store in \(directory) would encrypt \(messages) pages at once, and may at most "
                + "\(StoreSeal.mostMessages / 2) (16 TiB): make a new store")
    }

    /// Lets at least `messages` pages and chunks be sealed from here on, and writes that down first. A data key seals
    /// at most 2^31: then there is a new one.
    ///
    /// - Throws: ``SealError`` when the list cannot be written, there can be no more data keys, or one may not seal so
    ///   much.
    func reserve(_ messages: Int64) throws(SealError) {
        try state.withLock { (state) throws(SealError) in
            let left = unsafe kymo_ring_left(ring)
            guard left < messages else { return }
            guard messages <= StoreSeal.mostMessages / 2 else { throw tooMany(messages) }
            let more = max(messages - left, state.step)
            var list = state.list
            let last = list.entries.count - 1
            if list.entries[last].used + more > StoreSeal.mostMessages {
                try checkRoom(in: list)
                guard let wrapped = state.key.wrappedDataKey() else { throw StoreSeal.noMemory }
                let number = list.entries[last].number + 1
                // What is left of the former key's share is sealed with this one.
                list.entries.append(KeyList.Entry(number: number, used: more + max(left, 0), wrapped: wrapped))
            } else {
                list.entries[last].used += more
            }
            try list.write(in: directory, state.key)
            try add(list, state.key)
            state.list = list
            state.step = min(state.step * 4, StoreSeal.chunk)
            unsafe kymo_ring_allow(ring, more)
        }
    }

    /// ``reserve(_:)``, when little is left.
    func renew() throws(SealError) {
        // Of the step that comes next, which is four times the last.
        let step = state.withLock { $0.step }
        if unsafe kymo_ring_left(ring) < step / 8 { try reserve(step) }
    }

    /// Wraps all data keys by `new` in place of the present key.
    ///
    /// - Throws: ``SealError`` when the list cannot be written; the present key is then still the right one.
    package func rewrap(_ new: SealKey) throws(SealError) {
        try state.withLock { (state) throws(SealError) in
            let list = try rewrapped(state.list, new)
            try list.write(in: directory, new)
            state = State(key: new, list: list, step: state.step)
        }
    }

    private func rewrapped(_ list: KeyList, _ new: SealKey) throws(SealError) -> KeyList {
        var list = list
        for index in list.entries.indices {
            // Safe: a wrapped key has its 40 bytes, and is lent for the call.
            let isDone = unsafe kymo_ring_wrap(
                ring, new.secret, list.entries[index].number, &list.entries[index].wrapped)
            guard isDone == 1 else { throw StoreSeal.noMemory }
        }
        return list
    }

    // MARK: Errors

    static let noMemory = SealError(message: "OpenSSL cannot encrypt: there is no memory, or no AES-256")

    private static func needsKey(_ directory: String) -> SealError {
        SealError(
            message: "the store in \(directory) is encrypted: name its key with encryption.keyFile, "
                + "encryption.credential or --key-file")
    }

    static func lacksList(_ directory: String) -> SealError {
        SealError(
            message: "the store in \(directory) is encrypted, and \(KeyList.path(in: directory)) is missing: restore "
                + "it from a backup; without it the store cannot be read")
    }

    private static func isPlain(_ directory: String) -> SealError {
        SealError(
            message: "the store in \(directory) is not encrypted, and a key is named: run 'kymo keys encrypt' with it "
                + "once, or remove encryption.keyFile or --key-file; one that waits for a repair is started without a "
                + "key first")
    }

    /// The error of a database that does not go with the list of keys.
    static func mismatch(_ database: String, _ reason: String, _ directory: String) -> SealError {
        SealError(
            message: "\(database) does not go with \(KeyList.path(in: directory)) (\(reason)): put back the newest "
                + "copy of that list, or a backup of both; nothing was changed")
    }
}
