import KymographCore

/// The files of a ZIP archive, one behind the other, as they come: the directory at the end of the archive is not
/// needed (APPNOTE.TXT of PKWARE 6.3.10). Files that are encrypted, or compressed by other means than deflate, are
/// damage.
final class ZipInput: CompressedInput {
    /// Bytes before each file (section 4.3.7).
    static let mark: [UInt8] = [0x50, 0x4B, 0x03, 0x04]
    /// The records of the directory: the bytes before each, how many it has in any case, and where it says how many
    /// more there are, as places of numbers and their widths (sections 4.3.11 to 4.3.16). The last one ends the
    /// archive.
    private static let directory: [(mark: [UInt8], fixed: Int, lengths: [(place: Int, width: Int)])] = [
        ([0x50, 0x4B, 0x06, 0x08], 8, [(4, 4)]), ([0x50, 0x4B, 0x01, 0x02], 46, [(28, 2), (30, 2), (32, 2)]),
        ([0x50, 0x4B, 0x05, 0x05], 6, [(4, 2)]), ([0x50, 0x4B, 0x06, 0x06], 12, [(4, 8)]),
        ([0x50, 0x4B, 0x06, 0x07], 20, []), ([0x50, 0x4B, 0x05, 0x06], 22, [(20, 2)]),
    ]
    /// Bytes before the sizes behind a file, which may be left out (section 4.3.9.3).
    private static let sizesMark: [UInt8] = [0x50, 0x4B, 0x07, 0x08]

    private enum State {
        /// A header is next, or the directory.
        case header
        /// So many bytes are next that say nothing of use here, then a file or the directory.
        case names(Int)
        case deflated
        /// So many bytes are next that are not compressed.
        case stored(Int)
        /// Sizes are next that the header did not have.
        case sizes
        /// A record of the directory is next or, behind the last one, another archive.
        case directory
    }

    /// What a header says of the file behind it (section 4.3.7).
    private struct Header {
        static let bytes = 30
        var (flags, method): (Int, Int)
        var checksum: UInt32
        var storedBytes: Int
        /// Of the name, and of what is added to it.
        var (nameBytes, extraBytes): (Int, Int)

        var namesBytes: Int { nameBytes + extraBytes }
        var hasSizesBehind: Bool { flags & 8 != 0 }

        init(_ bytes: ByteView) {
            (flags, method) = (ZipInput.number(bytes, 6, 2), ZipInput.number(bytes, 8, 2))
            checksum = UInt32(truncatingIfNeeded: ZipInput.number(bytes, 14, 4))
            storedBytes = ZipInput.number(bytes, 18, 4)
            (nameBytes, extraBytes) = (ZipInput.number(bytes, 26, 2), ZipInput.number(bytes, 28, 2))
        }
    }

    private let inflater = Inflater(.raw)
    private var state = State.header
    private var header: Header?
    /// Whether its name is a folder's, which ends in a slash (section 4.4.17).
    private var isFolder = false
    /// Bytes of a header or of sizes that have not come as a whole.
    private var partial = ByteWriter(capacity: 64)
    private var checksum = CyclicRedundancyCheck()
    private var (packed, unpacked) = (0, 0)

    /// Expects the first file.
    init() {}

    /// Whether all files have come; the directory tells nothing of them that was not looked at.
    private(set) var isComplete = false

    func decompress(
        _ input: ByteView, from position: inout Int, to output: inout ByteWriter, room: Int
    ) throws(CompressionDamage) {
        let limit = output.count + room
        while position < input.count || canGoOn, output.count < limit {
            let before = (position, output.count)
            try step(input, &position, &output, limit - output.count)
            // What is behind it is another file's.
            guard !fileHasEnded else { return }
            guard position != before.0 || output.count != before.1 || canGoOn else { return }
        }
    }

    /// Whether a file has ended and ``takeFileEnd()`` has not told it.
    private var fileHasEnded = false

    func takeFileEnd() -> Bool {
        defer { fileHasEnded = false }
        return fileHasEnded
    }

    /// Whether the next step may need no input: a deflated file whose end has not been asked for.
    private var canGoOn: Bool { if case .deflated = state { unpackedIsFull } else { false } }
    /// Whether the last block was filled, so that more may be in the decompressor.
    private var unpackedIsFull = false

    private func step(
        _ input: ByteView, _ position: inout Int, _ output: inout ByteWriter, _ room: Int
    ) throws(CompressionDamage) {
        switch state {
        case .header:
            guard gather(Header.bytes, input, &position, orMark: true) else { return }
            try begin()
        case .names(let left):
            let taken = min(left, input.count - position)
            noteName(input[position..<(position + taken)], left)
            position += taken
            state = left > taken ? .names(left - taken) : contentState()
        case .deflated: try inflate(input, &position, &output, room)
        case .stored(let left):
            let taken = min(left, input.count - position, room)
            note(packed: taken, input[position..<(position + taken)])
            output.append(input[position..<(position + taken)])
            position += taken
            state = .stored(left - taken)
            if left == taken { try end() }
        case .sizes: try readSizes(input, &position)
        case .directory: try readDirectory(input, &position)
        }
    }

    /// Looks at the last byte of the name in `bytes`, the next of `left` bytes behind a header.
    private func noteName(_ bytes: ByteView, _ left: Int) {
        guard let header else { return }
        let last = left - header.extraBytes - 1
        if 0..<bytes.count ~= last { isFolder = bytes[last] == UInt8(ascii: "/") }
    }

    private func inflate(
        _ input: ByteView, _ position: inout Int, _ output: inout ByteWriter, _ room: Int
    ) throws(CompressionDamage) {
        let (start, before) = (position, output.count)
        let hasEnded = try inflater.inflate(input, from: &position, to: &output, room: room)
        note(packed: position - start, output.view(before..<output.count))
        unpackedIsFull = output.count - before == room && !hasEnded
        if hasEnded { try end() }
    }

    private func note(packed count: Int, _ content: ByteView) {
        packed += count
        unpacked += content.count
        checksum.add(content)
    }

    // MARK: Headers

    /// Takes what is missing of `count` bytes; whether they are there. With `orMark`, the mark of the directory is
    /// enough, which may be shorter than a header.
    private func gather(_ count: Int, _ input: ByteView, _ position: inout Int, orMark: Bool = false) -> Bool {
        let taken = min(max(count - partial.count, 0), input.count - position)
        partial.append(input[position..<(position + taken)])
        position += taken
        return partial.count >= count || orMark && isDirectory
    }

    private var isDirectory: Bool { partial.count >= 4 && Self.directory.contains { begins($0.mark) } }

    private func begins(_ mark: [UInt8]) -> Bool { partial.view(0..<4).equals(mark) }

    private func begin() throws(CompressionDamage) {
        guard !isDirectory else {
            (state, isComplete) = (.directory, true)
            return
        }
        guard begins(Self.mark) else { throw CompressionDamage() }
        isComplete = false
        let read = Header(partial.view)
        // Of stored files only empty ones may have their sizes behind: folders.
        let isStored = read.storedBytes == 0 || !read.hasSizesBehind && read.storedBytes != 0xFFFF_FFFF
        let isReadable = read.method == 8 || read.method == 0 && isStored
        guard read.flags & 1 == 0, isReadable else { throw CompressionDamage() }
        partial.removeAll()
        (header, isFolder, checksum, packed, unpacked) = (read, false, CyclicRedundancyCheck(), 0, 0)
        inflater.reset()
        state = read.namesBytes > 0 ? .names(read.namesBytes) : contentState()
    }

    private func contentState() -> State {
        guard let header else { return .directory }
        guard header.method == 0 else { return .deflated }
        if header.storedBytes > 0 { return .stored(header.storedBytes) }
        if header.hasSizesBehind { return .sizes }
        fileHasEnded = !isFolder
        return .header
    }

    private func end() throws(CompressionDamage) {
        guard header?.hasSizesBehind == false else { return state = .sizes }
        guard header?.checksum == checksum.value else { throw CompressionDamage() }
        (state, fileHasEnded) = (.header, true)
    }

    /// Reads the checksum and the sizes behind a file. Writers differ in whether sizes have 4 or 8 bytes, and in
    /// whether a mark is before them: those that are right are taken.
    private func readSizes(_ input: ByteView, _ position: inout Int) throws(CompressionDamage) {
        // No archive ends before so many bytes.
        guard gather(24, input, &position) else { return }
        let start = partial.view(0..<4).equals(Self.sizesMark) ? 4 : 0
        let bytes = partial.view
        guard UInt32(truncatingIfNeeded: Self.number(bytes, start, 4)) == checksum.value else {
            throw CompressionDamage()
        }
        let length = [8, 4].first { width in
            let mask = width == 4 ? 0xFFFF_FFFF : Int.max
            return Self.number(bytes, start + 4, width) == packed & mask
                && Self.number(bytes, start + 4 + width, width) == unpacked & mask
        }
        guard let length else { throw CompressionDamage() }
        giveBack(from: start + 4 + 2 * length)
        (state, fileHasEnded) = (.header, !isFolder)
    }

    /// Passes over a record of the directory, or begins the next archive.
    private func readDirectory(_ input: ByteView, _ position: inout Int) throws(CompressionDamage) {
        guard gather(4, input, &position) else { return }
        if begins(Self.mark) {
            (state, isComplete) = (.header, false)
            return
        }
        guard let record = Self.directory.first(where: { begins($0.mark) }) else { throw CompressionDamage() }
        guard gather(record.fixed, input, &position) else { return }
        let more = record.lengths.reduce(0) { $0 &+ Self.number(partial.view, $1.place, $1.width) }
        guard more >= 0 else { throw CompressionDamage() }
        // Some of what is passed over may be here already.
        let here = min(partial.count - record.fixed, more)
        giveBack(from: record.fixed + here)
        header = nil
        state = more > here ? .names(more - here) : .directory
    }

    /// Leaves the bytes from `place` on for the next header.
    private func giveBack(from place: Int) {
        let rest = partial.view(place..<partial.count).array
        partial.removeAll()
        rest.withByteView { partial.append($0) }
    }

    private static func number(_ bytes: ByteView, _ place: Int, _ width: Int) -> Int {
        (0..<width).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
    }
}
