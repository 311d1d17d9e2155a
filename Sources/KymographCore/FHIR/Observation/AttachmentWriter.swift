/// The samples that leave the Observation which is being written, because they are many (`output.attachOver`): their
/// SampledData stays there without `data`, and a DocumentReference has that.
struct AttachmentWriter: ~Copyable, Sendable {
    /// The attachments of all types.
    let programs: RawArray<AttachmentProgram>
    /// Bytes of `data` that stay; nil where all do, because what is written is an Observation alone.
    private var limit: Int?
    /// The texts that have left, one behind the other.
    private var data = ByteWriter()
    private var taken = RawArray<TakenSamples>()
    private let sha1: Digest160?
    /// From R5 on, the size is a number of 64 bits, which FHIR writes as text.
    private let hasTextualSize: Bool

    /// What has left.
    struct TakenSamples: BitwiseCopyable {
        /// Index of its ``AttachmentProgram``.
        var program: Int
        var start: Int
        var end: Int
    }

    init(_ programs: consuming RawArray<AttachmentProgram>, _ options: ObservationOptions) {
        self.programs = programs
        sha1 = options.sha1
        hasTextualSize = options.version == .r5
    }

    /// Begins an Observation, of whose series those with more than `limit` bytes leave it; none without.
    mutating func begin(limit: Int?) {
        self.limit = limit
        taken.removeAll()
        data.removeAll()
    }

    /// How many have left.
    @inline(__always)
    var count: Int { taken.count }

    /// What has left, in the order of the series.
    subscript(index: Int) -> TakenSamples { taken[index] }

    /// Where what has left of `program` is; nil when nothing has.
    func place(of program: Int) -> Int? {
        for index in 0..<taken.count where taken[index].program == program { return index }
        return nil
    }

    /// Takes the `data` of the series that `writer` has from `start` on, if it is long. One that has times of its own
    /// stays whole: they are as long as the samples.
    mutating func take(_ program: Int, from start: Int, _ writer: inout ByteWriter) {
        guard let limit, writer.count - start > limit, let opening = AttachmentWriter.data(in: writer, from: start)
        else { return }
        let text = opening + AttachmentWriter.opening.utf8CodeUnitCount
        let end = writer.count - 1
        guard end - text > limit, !AttachmentWriter.hasQuote(writer, text..<end) else { return }
        let place = data.count
        data.append(writer.view(text..<end))
        taken.append(TakenSamples(program: program, start: place, end: data.count))
        writer.truncate(to: opening)
    }

    private static let opening: StaticString = ",\"data\":\""

    /// Where the member `data` begins.
    private static func data(in writer: borrowing ByteWriter, from start: Int) -> Int? {
        let wanted = ByteView(opening)
        var index = start
        while index + wanted.count < writer.count {
            if writer[index] == wanted[0], writer.view(index..<index + wanted.count).equals(wanted) { return index }
            index += 1
        }
        return nil
    }

    private static func hasQuote(_ writer: borrowing ByteWriter, _ range: Range<Int>) -> Bool {
        for index in range where writer[index] == UInt8(ascii: "\"") { return true }
        return false
    }

    // MARK: The attachment

    /// Writes the Identifier that says the SHA-256 of what has left, as a name of RFC 6920.
    mutating func writeName(_ index: Int, _ digest: Digest256, _ writer: inout ByteWriter) {
        let bytes = digest.of(data.view(taken[index].start..<taken[index].end))
        writer.append(",{\"system\":\"urn:ietf:rfc:3986\",\"value\":\"ni:///sha-256;")
        [UInt8](bytes).withByteView { writer.appendBase64URL($0) }
        writer.append("\"}")
    }

    /// Writes the members of the Attachment with what has left.
    mutating func write(_ index: Int, _ writer: inout ByteWriter) {
        let samples = data.view(taken[index].start..<taken[index].end)
        writer.append("\"contentType\":\"text/plain\",\"data\":\"")
        writer.appendBase64(samples)
        hasTextualSize ? writer.append("\",\"size\":\"") : writer.append("\",\"size\":")
        writer.append(digits: UInt64(samples.count))
        if hasTextualSize { writer.append("\"") }
        if let sha1 {
            writer.append(",\"hash\":\"")
            [UInt8](sha1.of(samples)).withByteView { writer.appendBase64($0) }
            writer.append("\"")
        }
        writer.append(",\"title\":\"SampledData.data\"")
    }
}

extension [UInt8] {
    /// The bytes of a digest.
    fileprivate init(_ digest: Digest256.Bytes) { self = digest.indices.map { digest[$0] } }

    /// The bytes of a digest.
    fileprivate init(_ digest: Digest160.Bytes) { self = digest.indices.map { digest[$0] } }
}
