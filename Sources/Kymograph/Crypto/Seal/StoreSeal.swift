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
    /// Messages that may be sealed before the list of keys is written again: 16 GiB of pages.
    static let chunk: Int64 = 1 << 20
    /// Messages that are sealed with one data key at most. Nonces are random: two of 2^31 are equal with a probability
    /// of 2^-35 (NIST SP 800-38D, 8.3, allows 2^32 messages).
    private static let mostMessages: Int64 = 1 << 31

    /// The data directory.
    let directory: String
    // Safe: it lives as long as the process, keys are only ever added, and its numbers are atomic.
    nonisolated(unsafe) let ring: OpaquePointer
    private let state: Mutex<State>

    private init(_ directory: String, _ key: SealKey, _ list: KeyList) throws(SealError) {
        self.directory = directory
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
        _ directory: String, _ settings: EncryptionSettings, isSealed: () -> Bool, hasDatabase: () -> Bool
    ) throws(SealError) -> StoreSeal? {
        guard let place = Place(directory) else { return nil }
        guard KeyList.exists(in: directory) else {
            known.withLock { $0[place] = nil }
            kymo_ring_place(nil, place.device, place.node)
            if isSealed() { throw lacksList(directory) }
            if settings.isOn, hasDatabase() { throw isPlain(directory) }
            return nil
        }
        let present = known.withLock { $0[place] }
        guard settings.isOn else {
            if let present { return present }
            throw needsKey(directory)
        }
        let key = try SealKey(settings)
        let list = try KeyList(in: directory, key)
        if let present, present.isOf(list) {
            try present.take(key, list)
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
        try list.write(in: directory, key)
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
        list.entries.append(KeyList.Entry(number: (list.entries.last?.number ?? 0) + 1, used: 0, wrapped: wrapped))
        try list.write(in: folder, key)
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

    private func take(_ key: SealKey, _ list: KeyList) throws(SealError) {
        try add(list, key)
        state.withLock { $0 = State(key: key, list: list) }
    }

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
    }

    /// Lets at least `messages` pages and chunks be sealed from here on, and writes that down first. A data key seals
    /// at most 2^31: then there is a new one.
    ///
    /// - Throws: ``SealError`` when the list cannot be written.
    func reserve(_ messages: Int64 = StoreSeal.chunk) throws(SealError) {
        try state.withLock { (state) throws(SealError) in
            let left = unsafe kymo_ring_left(ring)
            guard left < messages else { return }
            let more = max(messages - left, StoreSeal.chunk)
            var list = state.list
            let last = list.entries.count - 1
            if list.entries[last].used + more > StoreSeal.mostMessages {
                guard let wrapped = state.key.wrappedDataKey() else { throw StoreSeal.noMemory }
                let number = list.entries[last].number + 1
                list.entries.append(KeyList.Entry(number: number, used: more, wrapped: wrapped))
            } else {
                list.entries[last].used += more
            }
            try list.write(in: directory, state.key)
            try add(list, state.key)
            state.list = list
            unsafe kymo_ring_allow(ring, more)
        }
    }

    /// ``reserve(_:)``, when little is left.
    func renew() throws(SealError) {
        if unsafe kymo_ring_left(ring) < StoreSeal.chunk / 2 { try reserve() }
    }

    /// Wraps all data keys by `new` in place of the present key.
    ///
    /// - Throws: ``SealError`` when the list cannot be written; the present key is then still the right one.
    package func rewrap(_ new: SealKey) throws(SealError) {
        let list = try rewrapped(state.withLock { $0.list }, new)
        try list.write(in: directory, new)
        state.withLock { $0 = State(key: new, list: list) }
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

    private static func lacksList(_ directory: String) -> SealError {
        SealError(
            message: "the store in \(directory) is encrypted, and \(KeyList.path(in: directory)) is missing: restore "
                + "it from a backup; without it the store cannot be read")
    }

    private static func isPlain(_ directory: String) -> SealError {
        SealError(
            message: "the store in \(directory) is not encrypted, and a key is named: run 'kymo keys encrypt' with it "
                + "once, or remove encryption.keyFile or --key-file")
    }
}
