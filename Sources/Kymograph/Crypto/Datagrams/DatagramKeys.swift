import CSealedDatagrams
import Synchronization

/// The keys of sealed datagrams by their ids, from a file: in memory that is neither swapped nor dumped.
///
/// What decrypts keeps its key from one datagram to the next, under a lock: two sources may have one file.
@safe
package final class DatagramKeys: Sendable {
    /// What a key is known by.
    package struct Key: Sendable {
        /// Its id.
        package let id: UInt32
        /// Its name; the digits of the id without one.
        package let name: String
        /// What tells it from all others, and nothing of it.
        package let print: KeyPrint
    }

    /// All of them, in the order of their places.
    package let all: [Key]
    // Safe: owned by this object alone; the keys never change after init, and what decrypts is used under the lock.
    nonisolated(unsafe) private let secret: OpaquePointer
    private let lock = Mutex(())

    /// Reads the file at `path`: lines `key id:key` or `key id:key:name`, which `mayBeNone` when all are withdrawn.
    ///
    /// - Throws: ``SecretFault`` when others can read it, or it has something else; with the place, and nothing of what
    ///   is in it.
    package convenience init(_ path: String, mayBeNone: Bool = false) throws(SecretFault) {
        try self.init(SecretFile(path).opened().0, path, mayBeNone: mayBeNone)
    }

    /// Reads an open file, which messages call `path`.
    init(_ file: Descriptor, _ path: String, mayBeNone: Bool = false) throws(SecretFault) {
        var fault = unsafe kymo_sealed_fault()
        // Safe: it reads from the descriptor, which is open; the fault's text is a constant.
        guard let secret = unsafe kymo_datagram_keys_read(file.raw, &fault) else {
            let text = unsafe fault.text.map { unsafe String(cString: $0) } ?? "cannot be read"
            let (line, column) = unsafe (fault.line, fault.column)
            let place = line > 0 ? "\(path):\(line):\(column): the line" : path
            throw SecretFault(isRetriable: false, message: "\(place) \(text); \(Self.advice)")
        }
        var all: [Key] = []
        let count = unsafe kymo_datagram_keys_count(secret)
        guard count > 0 || mayBeNone else {
            unsafe kymo_datagram_keys_free(secret)
            throw SecretFault(isRetriable: false, message: "\(path) holds no key; \(Self.advice)")
        }
        for place in 0..<count {
            guard let key = unsafe Self.key(secret, place) else {
                let line = unsafe kymo_datagram_keys_line(secret, place)
                unsafe kymo_datagram_keys_free(secret)
                throw SecretFault(
                    isRetriable: false,
                    message: "\(path):\(line):43: the line has a name that is not UTF-8; \(Self.advice)")
            }
            all.append(key)
        }
        self.all = all
        unsafe self.secret = secret
    }

    deinit {
        // Safe: nobody else has them.
        unsafe kymo_datagram_keys_free(secret)
    }

    private static let advice =
        "write lines 'key id:key' or 'key id:key:name', with ids of 'openssl rand -hex 4' and keys of "
        + "'openssl rand -hex 16'"

    /// The key at `place`; nil when its name is not UTF-8.
    private static func key(_ secret: OpaquePointer, _ place: Int32) -> Key? {
        // Safe: the place is one of them; the name lies in the keys, and is copied here.
        let id = unsafe kymo_datagram_keys_id(secret, place)
        var count = 0
        var name: String? = digits(id)
        if let bytes = unsafe kymo_datagram_keys_name(secret, place, &count) {
            name = unsafe String(validating: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
        }
        var print = [UInt8](repeating: 0, count: KeyPrint.size)
        unsafe kymo_datagram_keys_print(secret, place, &print)
        return name.map { Key(id: id, name: $0, print: KeyPrint(print)) }
    }

    /// The 8 digits of a key id.
    package static func digits(_ id: UInt32) -> String {
        let text = String(id, radix: 16)
        return String(repeating: "0", count: 8 - text.count) + text
    }

    /// The place of the key `id`; nil when there is none.
    package func place(of id: UInt32) -> Int? {
        // Safe: the keys live as long as this object, and never change.
        let place = unsafe kymo_datagram_keys_find(secret, id)
        return place < 0 ? nil : Int(place)
    }

    /// Decrypts the payload of a datagram where it is, by the key at `place`. False when it is not as it was sealed:
    /// its bytes are then as they came.
    @unsafe
    package func open(_ datagram: UnsafeMutablePointer<UInt8>, count: Int, by place: Int) -> Bool {
        precondition(all.indices.contains(place))
        return lock.withLock { _ in unsafe kymo_datagram_open(secret, Int32(place), datagram, count) == 1 }
    }
}

/// What tells a key of sealed datagrams from all others, its id included, and nothing of the key: a part of a digest.
package struct KeyPrint: Hashable, Sendable {
    /// How many bytes it has.
    package static let size = Int(KYMO_SEALED_PRINT_BYTES)

    /// Its 16 bytes.
    package let bytes: [UInt8]

    /// Takes the bytes.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }
}
