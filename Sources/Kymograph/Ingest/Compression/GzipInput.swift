import KymographCore

/// gzip files (RFC 1952), one or several behind each other, as `cat` makes of them.
final class GzipInput: CompressedInput {
    private let inflater = Inflater(.gzip)
    /// Whether no file has begun, or the last one has ended.
    private(set) var isComplete = true

    /// Expects the first file.
    init() {}

    func decompress(
        _ input: ByteView, from position: inout Int, to output: inout ByteWriter, room: Int
    ) throws(CompressionDamage) {
        if isComplete {
            guard position < input.count else { return }
            inflater.reset()
        }
        isComplete = try inflater.inflate(input, from: &position, to: &output, room: room)
    }
}
