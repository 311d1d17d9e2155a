/// Bytes that are always the same for a key, kept to be copied instead of made again: nearly all Patients and Devices
/// of a bundle were in one before. Keys are compared in full.
struct KeptTexts: ~Copyable, Sendable {
    private var keys = KeyTable()
    private var places = RawArray<KeptPlace>()
    private var bytes = ByteWriter()

    /// Bytes of texts and of keys, after which all are forgotten: some thousands of Patients and Devices.
    private static let mostBytes = 1 << 20

    /// The text of `key`, which was added under `hash`; nil when it is not kept. Valid until the next
    /// change.
    @inline(__always)
    func text(of key: ByteView, hash: UInt64) -> ByteView? {
        guard let number = keys.find(key, hash: hash) else { return nil }
        let place = places[Int(number)]
        return bytes.view(place.start..<place.end)
    }

    /// Keeps `text` for `key`, which is not there.
    mutating func add(_ key: ByteView, hash: UInt64, _ text: ByteView) {
        if bytes.count + text.count + keys.byteCount + key.count > KeptTexts.mostBytes { removeAll() }
        let start = bytes.count
        bytes.append(text)
        _ = keys.add(key, hash: hash, number: UInt32(places.count))
        places.append(KeptPlace(start: start, end: bytes.count))
    }

    /// Forgets all.
    mutating func removeAll() {
        keys.removeAll()
        places.removeAll()
        bytes.removeAll()
    }
}

/// Where a text of ``KeptTexts`` is.
struct KeptPlace: BitwiseCopyable {
    var start: Int
    var end: Int
}
