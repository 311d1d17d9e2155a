/// How many bytes the bundle, or the lines, of a block have: at most, and exactly where that matters.
struct BundleSize: ~Copyable, Sendable {
    private let form: BundleForm
    private let limit: Int
    /// Bytes of the first entries as they are written, and how much of the block these are.
    private var measured: Int
    private var through = EntryBlockSize()
    private var index = EntryIndex()
    private var text = ByteWriter(capacity: 1_024)

    /// Bytes that a bundle has besides its entries at most, its line feed included.
    private static let brackets = 64
    /// Most bytes of an entry besides its body and its texts, and of a Reference besides what it names.
    private static let entryFrame = 512
    private static let referenceFrame = 64
    /// Most characters that a byte is written as: in a JSON string, or in a search with its backslash.
    private static let escape = 6

    init(form: BundleForm, limit: Int) {
        (self.form, self.limit) = (form, limit)
        measured = 0
    }

    /// Forgets the entries.
    mutating func reset() { (measured, through) = (0, EntryBlockSize()) }

    /// Whether `block` may have more bytes than the limit.
    @inline(__always)
    func mayExceed(_ block: EntryBlockSize) -> Bool {
        let entries = (block.entries &- through.entries) &* BundleSize.entryFrame
        let texts = (block.texts &- through.texts) &* BundleSize.escape
        let reference = BundleSize.referenceFrame &+ block.longest &* BundleSize.escape
        let references = (block.references &- through.references) &* reference
        let most = measured &+ (block.bytes &- through.bytes) &+ entries &+ texts &+ references
        return most &+ BundleSize.brackets > limit
    }

    /// Whether `block` has more bytes than the limit. Measures what was added since the last time.
    mutating func exceeds(_ block: inout EntryBlockWriter) -> Bool {
        let size = block.size
        guard let entries = index.read(block.finish()) else { preconditionFailure("a block of our own is none") }
        for number in through.entries..<entries.count {
            text.removeAll()
            if form.format == .bundle {
                entries.append(entries[number], as: form, to: &text)
            } else if !entries[number].kind.isBare {
                entries.append(resource: entries[number], as: form, to: &text)
            } else {
                continue
            }
            // With what separates it from the others.
            measured += text.count + 1
        }
        through = size
        if form.format == .ndjson { return measured > limit }
        text.removeAll()
        text.appendBundleHead(form.type)
        return text.count + measured - 1 + 3 > limit
    }
}
