import CZstd
import FoundationEssentials
import Glibc
import KymographCore

/// A zstd dictionary (RFC 8878, section 5): what small documents have in common, so that each is compressed to what is
/// its own. Whoever decompresses needs the same file; each frame names it by ``identifier``.
package struct ZstdDictionary: Hashable, Sendable {
    /// The file's content.
    package let bytes: [UInt8]

    /// The number that frames carry; 0 is none.
    package var identifier: UInt32 {
        (4..<8).reversed().reduce(0) { $0 << 8 | UInt32(bytes[$1]) }
    }

    /// The name of its file, such as `kymograph-0.1.0-40123.zdict`: another version or content has another name.
    package var fileName: String { "kymograph-\(KymographVersion.number)-\(identifier).zdict" }

    /// Takes the content of a dictionary file; nil when it is none.
    package init?(bytes: [UInt8]) {
        guard bytes.count > 8, bytes.starts(with: [0x37, 0xA4, 0x30, 0xEC]) else { return nil }
        // Safe: the library reads `bytes.count` bytes and copies them; the dictionary is freed at once.
        guard let trial = unsafe ZSTD_createCDict(bytes, bytes.count, 1) else { return nil }
        unsafe ZSTD_freeCDict(trial)
        self.bytes = bytes
    }

    /// Reads the file at `path`.
    ///
    /// - Throws: ``SinkError`` when it cannot be read or is no dictionary.
    package init(path: String) throws(SinkError) {
        guard let content = FileManager.default.contents(atPath: path) else {
            throw SinkError(
                kind: .system(ENOENT),
                message: "the dictionary \(path) cannot be read; name one that 'kymo dictionary' has "
                    + "made, and that this user may read")
        }
        guard let read = ZstdDictionary(bytes: [UInt8](content)) else {
            throw SinkError(
                kind: .system(EINVAL), message: "\(path) is no zstd dictionary; make one with 'kymo dictionary'")
        }
        self = read
    }

    /// Bytes of `document` as one zstd frame with checksum, with `dictionary` or without.
    package static func compressedSize(_ document: [UInt8], with dictionary: ZstdDictionary?) -> Int {
        var stream = ZstdStream(level: ZstdStream.usualLevel, dictionary: dictionary)
        var writer = ByteWriter(capacity: document.count)
        document.withByteView { stream.compress($0, .end, to: &writer) }
        return writer.count
    }
}

// MARK: Training

extension ZstdDictionary {
    /// Makes a dictionary of at most `maxBytes` from `documents` that are like those to be compressed.
    ///
    /// It holds whole documents, some of each shape: where two of one shape differ, the parts between keep their
    /// distance, which zstd writes with the fewest bits. The library's trainer cuts documents into segments and loses
    /// that. Nil when the documents are too few or too alike for the library's statistics (10 are enough).
    package static func train(_ documents: [[UInt8]], maxBytes: Int) -> ZstdDictionary? {
        let reserved = 1_024
        guard documents.count >= 10, maxBytes > 2 * reserved else { return nil }
        let content = DocumentShapes(documents).content(maxBytes: maxBytes - reserved)
        guard !content.isEmpty else { return nil }
        var output = [UInt8](repeating: 0, count: maxBytes)
        let samples = Array(documents.prefix(20_000))
        let joined = Array(samples.joined())
        var parameters = ZDICT_params_t()
        // Of the levels, this one parses most like ``ZstdStream`` does with a dictionary.
        parameters.compressionLevel = 1
        parameters.dictID = privateIdentifier(of: content)
        // Safe: every pointer is to an array that outlives the call, with its true count; sizes add up to `joined`.
        let size = unsafe ZDICT_finalizeDictionary(
            &output, output.count, content, content.count, joined, samples.map(\.count), UInt32(samples.count),
            parameters)
        guard ZDICT_isError(size) == 0 else { return nil }
        return ZstdDictionary(bytes: Array(output[..<size]))
    }

    /// A number of the content (FNV-1a) that takes two bytes in a frame, from the range that is free for private use
    /// (RFC 8878, section 5).
    private static func privateIdentifier(of content: [UInt8]) -> UInt32 {
        var hash: UInt32 = 2_166_136_261
        for byte in content { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return 32_768 + (hash ^ hash >> 15) % 32_768
    }
}
