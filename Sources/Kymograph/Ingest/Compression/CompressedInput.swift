import KymographCore

/// Decompresses a stream that comes in pieces.
protocol CompressedInput: AnyObject {
    /// Whether the input may end here: nothing has begun that is not complete.
    var isComplete: Bool { get }

    /// Decompresses `input` from `position` on, and appends at most `room` bytes to `output`; moves `position` behind
    /// what was taken. Where fewer bytes were appended, all of the input was taken, or a file or frame has ended.
    ///
    /// - Throws: ``CompressionDamage`` when the data is damaged, or none of this kind.
    func decompress(
        _ input: ByteView, from position: inout Int, to output: inout ByteWriter, room: Int
    ) throws(CompressionDamage)

    /// Whether a file of an archive has ended, behind what was appended last, since this was last asked.
    func takeFileEnd() -> Bool
}

extension CompressedInput {
    /// There is one file.
    func takeFileEnd() -> Bool { false }
}

/// Compressed data is damaged, or none of its kind.
struct CompressionDamage: Error {}

/// How input is compressed, told by its first bytes.
enum CompressionFormat {
    /// RFC 1952, section 2.3.1.
    case gzip
    /// RFC 8878, section 3.1.1.
    case zstd
    /// The files of an archive, one behind the other (APPNOTE.TXT of PKWARE, section 4.3.7).
    case zip

    /// Those of single files.
    static let ofFiles = [CompressionFormat.gzip, .zstd]

    /// Opens the first file or frame.
    func open() -> any CompressedInput {
        switch self {
        case .gzip: GzipInput()
        case .zstd: ZstdInput()
        case .zip: ZipInput()
        }
    }

    /// Whether `bytes` are the beginning of one.
    func begins(_ bytes: ByteView) -> Bool {
        bytes.count >= mark.count && bytes[0..<mark.count].equals(mark)
    }

    /// Whether further bytes may make `bytes` the beginning of one.
    func mayBegin(_ bytes: ByteView) -> Bool {
        bytes.count < mark.count && bytes.equals(Array(mark.prefix(bytes.count)))
    }

    private var mark: [UInt8] {
        switch self {
        case .gzip: [0x1F, 0x8B, 0x08]
        case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
        case .zip: ZipInput.mark
        }
    }
}
