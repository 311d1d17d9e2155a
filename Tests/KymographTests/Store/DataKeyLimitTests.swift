import CommandSupport
import Glibc
@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing

/// How much one data key encrypts, and what happens when it may encrypt no more. With AES-GCM, a nonce that is used
/// twice with one key gives both messages away; nonces are random, so the count of messages is what keeps them apart.
@Suite struct DataKeyLimitTests {
    private typealias Files = CommandSupport.Files

    private static let most: Int64 = 1 << 31
    private let folder = TemporaryFolder()

    private func directory(_ name: String) -> String {
        unsafe mkdir(folder.file(name), 0o700)
        return folder.file(name)
    }

    /// A folder whose list of keys says that data keys have encrypted so many messages each.
    private func seal(_ name: String, used: [Int64]) throws -> StoreSeal {
        let data = directory(name)
        let key = try key()
        var list = KeyList()
        for (index, used) in used.enumerated() {
            let wrapped = try #require(key.wrappedDataKey())
            list.entries.append(KeyList.Entry(number: UInt32(index + 1), used: used, wrapped: wrapped))
        }
        try list.write(in: data, key, isNew: true)
        return try unlock(data)
    }

    private func key() throws -> SealKey {
        if !Files.exists(folder.file("key")) { try SealKey.make(at: folder.file("key")) }
        return try SealKey(path: folder.file("key"))
    }

    private func unlock(_ data: String) throws -> StoreSeal {
        var settings = EncryptionSettings()
        settings.keyFile = folder.file("key")
        let seal = try StoreSeal.unlock(
            data, settings, isSealed: { () throws(SealError) in true }, hasDatabase: { true })
        return try #require(seal)
    }

    private func entries(_ seal: StoreSeal) throws -> [KeyList.Entry] {
        try KeyList(in: seal.directory, key()).entries
    }

    /// The next chunk; nil when no more may be sealed.
    private func chunk(_ sealer: inout ChunkSealer, _ text: String) -> [UInt8]? {
        Array(text.utf8).withByteView { sealer.chunk($0) }
    }

    private func sealed(_ sealer: inout ChunkSealer, _ text: String) throws -> [UInt8] {
        guard let chunk = chunk(&sealer, text) else { throw SealError(message: "nothing more is sealed") }
        return chunk
    }

    /// What stands beside a chunk that is not the first of its file.
    private func trailer(_ chunk: [UInt8]) -> (nonce: [UInt8], key: Int) {
        let number = chunk[36..<40].reversed().reduce(0) { $0 << 8 | Int($1) }
        return (Array(chunk[8..<20]), number)
    }

    /// The next data key is there, and in the list on the disk, before anything is encrypted with it; and no key
    /// encrypts more than the list says, whatever was left of the one before.
    @Test func theNextDataKeyTakesOver() throws {
        let seal = try seal("data", used: [Self.most - StoreSeal.firstStep])
        var sealer = try ChunkSealer(seal, .grows)
        var file = [UInt8]()
        let early = chunk(&sealer, "before")
        #expect(early == nil, "nothing before it is in the list")
        try seal.reserve(10)
        #expect(try entries(seal).map(\.used) == [Self.most])
        file += try sealed(&sealer, "first")
        try seal.reserve(StoreSeal.firstStep + 1)
        var counts: [Int: Int64] = [:]
        var nonces: Set<[UInt8]> = []
        var messages: Int64 = 0
        while let chunk = chunk(&sealer, "again") {
            let (nonce, key) = trailer(chunk)
            counts[key, default: 0] += 1
            nonces.insert(nonce)
            messages += 1
            if messages <= 100 { file += chunk }
        }
        let listed = try entries(seal)
        #expect(listed.map(\.number) == [1, 2] && listed[0].used == Self.most, "\(listed.map(\.used))")
        #expect(counts.keys.sorted() == [2] && counts[2] ?? 0 <= listed[1].used, "\(counts), \(listed.map(\.used))")
        #expect(messages > StoreSeal.firstStep && Int64(nonces.count) == messages)
        // Both keys open what they have sealed, in this process and in another one, which has the list alone.
        Files.write(file, to: folder.file("file"))
        var opened: [UInt8] = []
        try SealedFile.decrypt(folder.file("file"), seal) { opened += $0 }
        #expect(String(decoding: opened, as: UTF8.self) == "first" + String(repeating: "again", count: 100))
    }

    /// After the last data key nothing is encrypted, and nothing written down; what is there can be read.
    @Test func theLastDataKeyIsUsedUp() throws {
        let seal = try seal("data", used: Array(repeating: Self.most, count: 111) + [Self.most - StoreSeal.firstStep])
        try seal.reserve(1)
        var sealer = try ChunkSealer(seal, .grows)
        Files.write(try sealed(&sealer, "the last"), to: folder.file("file"))
        let list = Files.read(KeyList.path(in: seal.directory))
        let error = #expect(throws: SealError.self) { try seal.reserve(StoreSeal.firstStep + 1) }
        #expect(error?.message.contains("there can be no more") ?? false)
        for _ in 1..<StoreSeal.firstStep { _ = chunk(&sealer, "") }
        let more = chunk(&sealer, "more")
        #expect(more == nil)
        #expect(Files.read(KeyList.path(in: seal.directory)) == list)
        var opened: [UInt8] = []
        try SealedFile.decrypt(folder.file("file"), seal) { opened += $0 }
        #expect(opened == Array("the last".utf8))
    }

    /// A transaction of more messages than a data key may encrypt is none that can be made safe.
    @Test func moreThanAKeyMaySeal() throws {
        let seal = try seal("data", used: [0])
        let error = #expect(throws: SealError.self) { try seal.reserve(Self.most / 2 + 1) }
        #expect(error?.message.contains("at once") ?? false, "\(error?.message ?? "")")
        #expect(try entries(seal).map(\.used) == [0])
        try seal.reserve(1)
    }

    /// Two stores with one key of the operator share no data key, and none reads what the other has encrypted.
    @Test func twoStoresWithOneKey() throws {
        let (one, other) = (try seal("one", used: [0]), try seal("other", used: [0]))
        let wrapped = try (entries(one) + entries(other)).map(\.wrapped)
        // RFC 3394 has no nonce: equal data keys would be equal here.
        #expect(wrapped[0] != wrapped[1] && one.store != other.store)
        try one.reserve(1)
        var sealer = try ChunkSealer(one, .grows)
        Files.write(try sealed(&sealer, "of one"), to: folder.file("file"))
        let error = #expect(throws: SealError.self) { try SealedFile.decrypt(folder.file("file"), other) { _ in } }
        #expect(error?.message.contains("another store") ?? false, "\(error?.message ?? "")")
    }

    /// A copy of a directory has the same data keys. Both go on with other nonces.
    @Test func aCopyThatGoesOn() throws {
        let one = try seal("one", used: [0])
        let place = directory("copy")
        Files.write(Files.read(KeyList.path(in: one.directory)), to: KeyList.path(in: place))
        let copy = try unlock(place)
        var nonces: Set<[UInt8]> = []
        for seal in [one, copy] {
            try seal.reserve(2_001)
            var sealer = try ChunkSealer(seal, .grows)
            _ = chunk(&sealer, "head")
            for _ in 0..<2_000 { nonces.insert(trailer(try sealed(&sealer, "the same")).nonce) }
        }
        #expect(try entries(one).map(\.wrapped) == entries(copy).map(\.wrapped) && nonces.count == 4_000)
    }
}
