/// The identity of the prepared content, and the digest that its id is made of.
struct IdentityWriter: ~Copyable, Sendable {
    /// What ids are made with, and what stands for long identifiers.
    let digest: Digest256
    /// `system_value`, whose digest is the id.
    private var text = ByteWriter(capacity: 256)
    /// Where the identifier's value starts in `text`.
    private var start = 0
    /// Where the whole text of a long identity is; empty when the identity is written as it is.
    private var whole = 0..<0
    /// Digests of the content's Patient and Device, where it has the reference's identity.
    private var parties = ResourceDigests()
    /// The digest of the identity.
    private(set) var id = Digest256.Bytes(repeating: 0)

    init(_ digest: Digest256) { self.digest = digest }

    /// Takes the identity of `content` in our form; `isReference` keeps a long one as it is.
    @inline(__always)
    mutating func take(
        _ content: borrowing WindowContent, _ program: TypeProgram, name: ByteView, in system: [UInt8],
        isReference: Bool, times: inout TimeTexts
    ) {
        begin(in: system)
        text.appendIdentity(content, program, name: name, times: &times)
        end(isReference: isReference)
    }

    /// Takes the identity that the reference gives `content` of `subject` and `device`.
    mutating func takeReference(
        _ content: borrowing WindowContent, _ program: TypeProgram, name: ByteView, in system: [UInt8],
        subject: ResourceIdentifier, device: ResourceIdentifier, times: inout TimeTexts
    ) {
        parties.subject = digest.ofIdentifier(subject.system.plain, subject.value, scratch: &text)
        parties.device = digest.ofIdentifier(device.system.plain, device.value, scratch: &text)
        begin(in: system)
        text.appendReferenceIdentity(content, program, name: name, resources: parties, times: &times)
        end(isReference: true)
    }

    /// Takes the identity of a Device.
    mutating func take(device: [UInt8], in system: [UInt8], isReference: Bool) {
        begin(in: system)
        text.append(device)
        end(isReference: isReference)
    }

    @inline(__always)
    private mutating func begin(in system: [UInt8]) {
        text.removeAll()
        text.append(system)
        text.append(UInt8(ascii: "_"))
        start = text.count
        whole = 0..<0
    }

    @inline(__always)
    private mutating func end(isReference: Bool) {
        id = digest.of(text.view)
        if !isReference, LongIdentifier.isLong(value) { shorten() }
    }

    @inline(never)
    private mutating func shorten() {
        let whole = start..<text.count
        var short = ByteWriter(capacity: 80)
        short.appendDigest(of: text.view(whole), digest)
        start = text.count
        text.append(short.view)
        self.whole = whole
    }

    /// The identifier's value; what stands for it when it is long (``LongIdentifier``).
    @inline(__always)
    var value: ByteView { text.view(start..<text.count) }

    /// Whether ``value`` only stands for the whole.
    @inline(__always)
    var isLong: Bool { !whole.isEmpty }

    /// The whole of a long identity; empty when ``value`` is that.
    var wholeValue: ByteView { text.view(whole) }

    /// Writes ``value`` within quotes, and behind what stands for a long one the whole.
    @inline(__always)
    mutating func append(to writer: inout ByteWriter) {
        writer.appendJSON(value)
        if isLong { writer.appendFullIdentifier(wholeValue) }
    }

    /// Writes an Identifier with ``value`` in `system`.
    mutating func append(in system: IdentifierSystem, to writer: inout ByteWriter) {
        writer.append("{\"system\":\"")
        writer.append(system.escaped)
        writer.append("\",\"value\":\"")
        append(to: &writer)
        writer.append("\"}")
    }
}
